// Package bench is the command line of fwpbench: its commands and flags. The work
// itself is done by package load, and results are written by package reports.
//
// bench.go has the commands, each of which begins in a file of its name.
package bench
