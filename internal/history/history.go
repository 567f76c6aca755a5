package history

import (
	"cmp"
	"slices"
	"time"
)

// History is the record of a run. The zero value is an empty one.
type History struct {
	// Events are sorted by their calls, as [Recorder.History] and [Load] return them.
	// Another order is allowed.
	Events []Event

	// Drained means that every queue was fetched from until it was empty and the patience
	// was over. Only then can a job be lost, and only if a FETCH found its queue empty late
	// enough.
	Drained bool

	// Strangers means that others may have pushed to the same queues, so that a job
	// without a PUSH in the history is not a finding.
	Strangers bool

	// CutAt is when the record ends early, 0 if it does not: events that were called then
	// or later may be missing. [Load] sets it for a damaged file.
	CutAt time.Duration

	Limits Limits
}

// Limits are the times that the protocol leaves open.
type Limits struct {
	// MaxLead is by how much at and the end of a reservation may be off between the clocks
	// of the server and of the history.
	MaxLead time.Duration `json:"early,omitempty"`
	// MaxDelay is how long after its at a job may be enqueued; 0 stands for 10 s. (AMB-28)
	MaxDelay time.Duration `json:"late,omitempty"`
	// Patience is how long a job that failed, or was held for too long, may take to be
	// delivered again; 0 stands for 150 s. (AMB-38)
	Patience time.Duration `json:"patience,omitempty"`
	// Backoff is how long a job that failed waits at least. The specification names no time,
	// so 0 allows any. (FWP-STATE-06)
	Backoff time.Duration `json:"backoff,omitempty"`
}

func (l Limits) withDefaults() Limits {
	l.MaxDelay = cmp.Or(l.MaxDelay, 10*time.Second)
	l.Patience = cmp.Or(l.Patience, 150*time.Second)
	return l
}

// Finding is a breach by the server.
type Finding struct {
	// Breach is the name of what is wrong.
	Breach Breach
	// Or are other breaches: in some orders of the overlapping calls it is one of them
	// instead of Breach. It is certain that it is one of them all.
	Or []Breach
	// JID is the job, empty if it is not known which of several.
	JID string
	// Description describes what is wrong and how the events prove it. An event is named by its
	// index in the history, such as #3.
	Description string
	// Events are the indices of the events that prove it, in the order of their calls.
	Events []int
}

// Report is the result of an evaluation.
type Report struct {
	Findings []Finding
	// Jobs is how many different jids were pushed.
	Jobs int
	// Settled is how many of them were refused, came to their end, or have a finding.
	Settled int
	// Undecided are the others.
	Undecided []Undecided
}

// Undecided is a job whose end is not in the history.
type Undecided struct {
	JID    string
	Reason string
	// Unsent means that its PUSH has no reply and that it was never delivered: the server
	// may never have received it.
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
