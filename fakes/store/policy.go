package store

import "time"

// Set is where a job is that is in no queue and held by nobody.
type Set string

// The sets.
const (
	Scheduled Set = "scheduled" // until its time has come
	Retries   Set = "retries"   // failed, until its next try
	Dead      Set = "dead"      // failed for the last time
	Nowhere   Set = ""          // thrown away
)

// Point is a step of a job's life. A [Policy] is asked before it happens.
type Point uint8

// The points.
const (
	Postponing Point = iota // a job enters Set until Until
	Ripening                // it is due there; a later Until puts it back
	Enqueuing               // it enters its queue, at the end or in Front; if left out it is lost
	Reserving               // a consumer takes it and holds it until Until; if left out it is not held
	Returning               // it goes back to the head of its queue; if left out it stays held
	Finishing               // a worker is done with it; with Again it goes back to its queue
	Failing                 // a worker failed it: it goes to Set until Until
	Expiring                // a reservation ran out, the rest as with Failing
	Clearing                // everything is removed
	Restarting              // the server was restarted; if left out everything is lost
)

// Step is what is about to happen. A policy may change the fields that are named at the point.
type Step[J Job, E any] struct {
	By    E // of the command that causes it, or of Run
	Job   J // with Postponing, Ripening, Enqueuing, Failing and Expiring it may be replaced; none with the last two
	Set   Set
	Until time.Time
	Front bool
	Again bool
}

// Policy sees and may change what happens. It is asked under the lock of the store and must not call it.
type Policy[J Job, E any] interface {
	// Ask reports whether the step is left out.
	Ask(p Point, s *Step[J, E]) (skip bool)
}

// ask returns the step as the policy wants it, if there is one.
func (st *Store[J, E]) ask(p Point, s Step[J, E]) (changed Step[J, E], skip bool) {
	if st.config.Policy == nil {
		return s, false
	}
	return st.askPolicy(p, s)
}

// askPolicy is apart, so that a step is allocated only if there is a policy.
func (st *Store[J, E]) askPolicy(p Point, s Step[J, E]) (changed Step[J, E], skip bool) {
	skip = st.config.Policy.Ask(p, &s)
	return s, skip
}
