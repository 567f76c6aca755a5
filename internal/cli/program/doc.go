// Package program is what the command lines of fwpcheck and fwpbench share: the process
// with its streams and environment (process.go), how a command runs and ends
// (execute.go), messages about arguments and flags (usage.go), the flags that name a
// target (target.go), and files for results (output.go, file.go).
package program
