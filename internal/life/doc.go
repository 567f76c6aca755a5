// Package life tells what became of one job: a [Record] is what a file says of many, and [Record.Life] the life of one.
// A record is read from a history (internal/history), from the conversation of a check in a report, or from a script
// such as a recording; all become the calls of a history first. Commands are read as those of FWP.
package life
