// Package check is the command line of fwpcheck: its commands and flags. The work itself is done elsewhere, and results
// are written by package reports.
//
// Results go to standard output; the target, progress, conversations as they happen and messages go to standard error.
//
// A command begins in the file of its name, and its parts are in files that begin with that. Files:
//
//   - check.go: the commands
//   - what plays checks: run.go, run_findings.go (scripts of findings, commands that show them again), worker.go
//     (client too)
//   - what makes up commands: explore.go, explore_disrupt.go, explore_findings.go, compare.go (of saved reports, too)
//   - jobs over an upgrade: upgrade.go, upgrade_stages.go (the servers, and the two halves)
//   - scripts: lint.go, fmt.go, shrink.go, record.go, record_trace.go
//   - what is known: list.go, explain.go
//   - saved results: recheck.go, recheck_life.go (one job), site.go
//   - servers: serve.go, serve_script.go, wait.go, clean.go
//   - what several commands share: options.go (the flags of tests), expect.go (known findings), progress.go, scripts.go
//     (the scripts and the checks that arguments and flags name), testbed.go (servers to test)
package check
