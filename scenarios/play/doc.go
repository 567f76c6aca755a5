// Package play plays scripts on servers: a [Player] plays a script of package scenarios on a [Target] and returns a
// [Run], the outcome of each line. A Run has no verdicts about clauses; package conformance derives them.
//
// The files, in an order in which they can be read:
//
//   - run.go: the result; what happened, line by line
//   - player.go and thread.go: the steps; judge.go and breach.go (what is received), blocks.go, unordered.go, rounds.go
//     and operate.go (the other statements)
//   - assume.go: departures behind which a play goes on
//   - doubt.go: why a line decides nothing, and which results have a span of time as their premise
//   - conn.go, greet.go, serving.go and service.go: connections, and whether the server serves
//   - peers.go and cleanup.go: the server's limit of connections, and what a play leaves behind
package play
