// Package law judges what a server answers. A [World] follows what clients send and receive, looks up in package model
// what may be answered, and reports a reply that no reading of the specification allows, with the clause that it
// breaks. What cannot be known, such as the effect of a command without a reply, is allowed in every way. The package
// uses no connection and no clock: every call has the time. What is expected is in the notation of scripts, as in `+OK
// | -`.
package law
