// Package play plays scripts on servers: a [Player] plays a script of package scenarios on a [Target] and returns a
// [Run], the outcome of each line. A Run has no verdicts about clauses; package conformance derives them. [Shorten]
// leaves out of a list what is not needed for something to show.
package play
