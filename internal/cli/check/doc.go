// Package check is the command line of fwpcheck: its commands and flags. The work
// itself is done elsewhere, and results are written by package reports.
//
// Results go to standard output; the target, progress, conversations as they happen and
// messages go to standard error.
//
// check.go has the commands, each of which begins in a file of its name.
package check
