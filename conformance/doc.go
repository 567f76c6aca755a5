// Package conformance is the suite: the catalogue of clauses, the checks that
// decide them, the runner, and the verdicts that follow from the evidence of a check.
//
// A [Runner] takes servers and checks and returns a report. It prints nothing and
// reads no flags. Every check uses connections, queues, jobs and worker ids of its
// own, so that checks run concurrently; those that touch what all clients share run
// alone, and only where that is allowed. One goroutine, the loop of a run, starts the
// checks and evaluates what they return; each check is played in a goroutine of its own.
//
// To read: check.go is the seam, with scripts (check_script.go) and properties
// (property.go) behind it; runner.go and schedule.go are a run, verdict.go its
// verdicts; clauses.go is the catalogue, and select.go picks checks.
package conformance
