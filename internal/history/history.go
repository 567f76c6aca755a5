package history

import (
	"cmp"
	"slices"
	"time"
)

// History is what happened in a run. The zero value is an empty one.
type History struct {
	// Events are sorted by their calls, as [Recorder.History] and [Load] leave them; in
	// another order they are judged all the same.
	Events []Event

	// Drained says that the run was taken to its end: every queue was fetched from until
	// it was empty and for as long as the patience goes. Only then can a job be lost.
	// Even then there must be a FETCH that found its queue empty, late enough.
	Drained bool

	// Strangers says that others may have pushed to the same queues, so that a job that
	// nobody here pushed is not judged.
	Strangers bool

	// Cut is where the record breaks off, 0 if it does not: events that were called then
	// or later may be missing. [Load] sets it for a damaged file.
	Cut time.Duration

	Limits Limits
}

// Limits are the times that the protocol leaves open.
type Limits struct {
	// Early is by how much at and the end of a reservation may be off between the clocks
	// of the server and of the history.
	Early time.Duration `json:"early,omitempty"`
	// Late is how long after its at a job may be enqueued; 0 stands for 10 s. (AMB-28)
	Late time.Duration `json:"late,omitempty"`
	// Patience is how long a job that failed, or was held for too long, may take to come
	// back; 0 stands for 150 s. (AMB-38)
	Patience time.Duration `json:"patience,omitempty"`
	// Backoff is how long a job that failed waits at least. The text names no time, so 0
	// is any. (FWP-STATE-06)
	Backoff time.Duration `json:"backoff,omitempty"`
}

func (l Limits) filled() Limits {
	l.Late = cmp.Or(l.Late, 10*time.Second)
	l.Patience = cmp.Or(l.Patience, 150*time.Second)
	return l
}

// Finding is something that no right server does.
type Finding struct {
	// Breach is what is wrong.
	Breach Breach
	// Or are other breaches: with some orders of what overlaps it is one of them, and
	// not Breach. One of them all is for certain.
	Or []Breach
	// JID is the job, empty where it cannot be said which of several.
	JID string
	// What says in words what is wrong and how the events prove it. An event is named as
	// #3, by its index in the history.
	What string
	// Events are the indices of the events that prove it, in the order of their calls.
	Events []int
}

// Report is all that a history says.
type Report struct {
	Findings []Finding
	// Jobs is how many different jids were pushed.
	Jobs int
	// Settled is how many of them were refused, seen to their end, or have a finding.
	Settled int
	// Undecided are the others.
	Undecided []Undecided
}

// Undecided is a job of which the history does not tell what became of it.
type Undecided struct {
	JID string
	Why string
	// Unsent says that its PUSH has no reply and that it was never seen: it may never have
	// come as far as the server.
	Unsent bool
}

// sorted returns h if its events are in the order of their calls, and a sorted copy
// if they are not.
func (h *History) sorted() []Event {
	byCall := func(a, b Event) int { return cmp.Compare(a.Call, b.Call) }
	if slices.IsSortedFunc(h.Events, byCall) {
		return h.Events
	}
	events := slices.Clone(h.Events)
	slices.SortStableFunc(events, byCall)
	return events
}
