package store

import "time"

// Set is where a job is that is neither in a queue nor held.
type Set string

// The sets.
const (
	Scheduled Set = "scheduled" // until its time has come
	Retries   Set = "retries"   // failed, until its next try
	Dead      Set = "dead"      // failed for the last time
	Nowhere   Set = ""          // discarded
	Queued    Set = "queue"     // back in its queue; only a job that is moved goes there
)

// Point is a step of a job's life. A [Policy] is called before it happens.
type Point uint8

// The points.
const (
	Postponing Point = iota // a job enters Set until Until
	ComingDue               // it is due there; a later Until puts it back
	Enqueuing               // it enters its queue, at the end or in Front; if skipped it is lost
	Reserving               // a consumer takes it and holds it until Until; if skipped it is not held
	Returning               // it goes back to the head of its queue; if skipped it stays held
	Finishing               // a worker is done with it; with Requeue it goes back to its queue
	Failing                 // a worker failed it: it goes to Set until Until
	Expiring                // a reservation ran out, the rest as with Failing
	Clearing                // everything is removed
	Restarting              // the server was restarted; if skipped everything is lost
)

// Step describes what is about to happen. A policy may change the fields that are named at the point.
type Step[J Job, E any] struct {
	Cause   E // of the command that causes it, or of Run
	Job     J // with Postponing, ComingDue, Enqueuing, Failing and Expiring it may be replaced; none with the last two
	Set     Set
	Until   time.Time
	Front   bool
	Requeue bool
}

// Policy may change the steps. It is called under the lock of the store and must not call the store.
type Policy[J Job, E any] interface {
	// Ask changes a step before it happens, and reports whether it is skipped.
	Ask(p Point, s *Step[J, E]) (skip bool)
}

// ask returns the step as the policy, if there is one, has changed it.
func (st *Store[J, E]) ask(p Point, s Step[J, E]) (result Step[J, E], skip bool) {
	if st.config.Policy == nil {
		return s, false
	}
	return st.askPolicy(p, s)
}

// askPolicy is separate, so that a step is allocated only if there is a policy.
func (st *Store[J, E]) askPolicy(p Point, s Step[J, E]) (result Step[J, E], skip bool) {
	skip = st.config.Policy.Ask(p, &s)
	return s, skip
}
