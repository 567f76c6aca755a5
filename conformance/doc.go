// Package conformance is the suite: the catalogue of clauses, the checks that
// decide them, the runner, and the step from what a check saw to a verdict.
//
// A [Runner] is given servers and scripts and returns a report. It prints
// nothing and reads no flags. Every check works on connections, queues, jobs
// and worker ids of its own, so checks run side by side; those that touch what
// all clients share run alone, and only where that was allowed. One goroutine, the
// loop of a session, decides what runs when and what it means; plays run beside it
// and report to it.
package conformance
