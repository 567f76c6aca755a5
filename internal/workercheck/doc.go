// Package workercheck tests worker libraries and other clients: it plays the server in situations that are written as
// tables, starts the program under test for each of them, and has the rules of internal/monitor look at every byte.
//
// A situation is a conformance.Check, so that selection, verdicts and reports are those of a run against a server.
//
// Read situation.go for what a situation is and tables_*.go for all of them; bed.go for the servers of one play, tap.go
// for how their bytes are recorded, steer.go for what a server does on purpose; decide.go for the step from what was
// seen to decisions; launch.go for processes and harness.go for what a run needs.
package workercheck
