// Package cli is the command line of the tools: their commands and flags, what
// they print, and with which code they end. The work itself is done elsewhere.
//
// What came out goes to standard output; which server is judged, progress,
// conversations as they happen and messages go to standard error.
package cli
