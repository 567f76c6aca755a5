// Package program is what the command lines of fwpcheck and fwpbench share.
//
// Files:
//
//   - the process: process.go (streams and environment), execute.go (how a command runs and ends), interrupt.go, bar.go
//     (progress), supervise.go (a process above started servers), version.go
//   - words: help.go, usage.go and usage_flag.go (messages about arguments and flags), print.go
//   - the target: target.go, protocol.go, operator.go
//   - results: output.go, report_flags.go, report_format.go, read_report.go (saved ones), file.go, github.go (a step of
//     GitHub Actions), web.go (a server for them)
package program
