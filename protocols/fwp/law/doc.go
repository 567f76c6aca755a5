// Package law judges what a server answers. A [World] follows what clients send and
// receive, looks up in package model what may be answered, and reports a reply that no
// reading of the specification allows, with the clause that it breaks.
//
// What cannot be known, such as the effect of a command without a reply or whether a
// consumer that left was given a job, is allowed in every way. The package uses no
// connection and no clock: every call has the time.
//
// What is expected is written in the notation of the suite's scripts, as in
// `+OK | -`.
//
// To read: world.go (what is known, and how a reply is judged), line.go (what a client line means by itself),
// limits.go (what a server may refuse as too large for it),
// connection.go and worker.go (what may be answered), fetch.go, delivery.go and fields*.go (jobs that are delivered),
// decided.go (which rules a reply decides),
// report.go and job.go (what happens to a job), stopped.go (a server that was restarted, killed or stood still),
// reason.go (what is not judged, and why), answer.go (replies as the model names them), password.go (the pwdhash of a
// HELLO), stall.go (a FETCH that delays the replies of others), stray.go (texts of failures), overlap.go (commands that
// are under way side by side), additions.go and mutate.go (commands of a profile).
package law
