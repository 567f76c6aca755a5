// Package bench is the command line of fwpbench: its commands and flags. The work itself is done by package load, and
// results are written by package reports.
//
// A command begins in the file of its name, and its parts are in files that begin with that. Files:
//
//   - bench.go: the commands, and two that only print
//   - run.go, run_disrupt.go, run_files.go (beside the report), run_law.go (judges a sample of the connections),
//     run_metrics.go and run_exposition.go (the figures, served meanwhile), run_segment.go
//   - compare.go, compare_run.go, compare_saved.go, capacity.go, merge.go
//   - worker.go: a worker under load
//   - what several commands share: embedded.go (the embedded server as a process), engine.go, live.go (progress),
//     options.go (the flags of a load), process_unix.go and process_other.go (processes that are started), protocol.go
package bench
