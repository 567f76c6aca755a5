// Package check is the command line of fwpcheck: its commands and flags. The work itself is done elsewhere, and results
// are written by the packages of reports. Results go to standard output; the target, progress, conversations as they
// happen and messages go to standard error. What differs between protocols is asked of internal/registry. A command
// begins in the file of its name, and its parts are in files that begin with that.
package check
