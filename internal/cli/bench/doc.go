// Package bench is the command line of fwpbench: its commands and flags. Package load does the work, and results are
// written by the packages of reports. What differs between protocols is asked of internal/registry. A command begins in
// the file of its name, and its parts are in files that begin with that.
package bench
