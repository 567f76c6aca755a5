// Package shared is what the command lines of fwpcheck and fwpbench share.
//
// Files:
//
//   - the process: process.go (streams and environment), execute.go (how a command runs and ends), bar.go (progress),
//     health.go (of a container), version.go
//   - words: help.go, help_flags.go, usage.go (messages about arguments and flags, and their completion)
//   - what a folder has for fwpcheck: config.go (fwpcheck.yaml), init.go (writes the files)
//   - the target: target.go (flags), endpoint.go (starting it, asking it what it is), subject.go (its name),
//     protocol.go, operator.go, disrupted.go (what is done to it on purpose)
//   - results: output.go, report_flags.go (formats and places), read_report.go (saved ones), file.go
//     (what a file is that is not what was wanted), web.go (a server for them); version.go has the version, and the
//     outputs of a step of GitHub Actions
package shared
