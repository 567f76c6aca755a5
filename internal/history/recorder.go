package history

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Recorder collects the events of a run. Its zero value is not ready: see
// [NewRecorder]. Its methods may be called by many goroutines at once.
type Recorder struct {
	begin time.Time
	mu    sync.Mutex
	lanes []*Lane
}

// NewRecorder returns a recorder whose history begins now.
func NewRecorder() *Recorder { return &Recorder{begin: time.Now()} }

// Begin is the instant from which all times of the history count, for example to
// turn an at into Event.At.
func (r *Recorder) Begin() time.Time { return r.begin }

// Lane is where one connection, or whoever has one call under way at a time, records
// its events. Lanes share nothing, so that many of them do not wait for each other.
type Lane struct {
	begin  time.Time
	client int
	worker string

	mu     sync.Mutex // History may come at any time; else nobody competes for it
	events []Event
}

// Lane opens a lane for a connection. Events that are called on it have the client
// and the worker, unless they bring a worker of their own.
func (r *Recorder) Lane(client int, worker string) *Lane {
	lane := &Lane{begin: r.begin, client: client, worker: worker}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lanes = append(r.lanes, lane)
	return lane
}

// Pending is a call without its reply. Unless one of its methods is called it stays
// open for ever.
type Pending struct {
	lane  *Lane
	index int
}

// Call records that a command is about to be sent: it stamps the call of e, and
// leaves it open.
func (l *Lane) Call(e Event) Pending {
	e.Client, e.Worker = l.client, cmp.Or(e.Worker, l.worker)
	e.Outcome, e.Return = Open, -1
	l.mu.Lock()
	defer l.mu.Unlock()
	e.Call = time.Since(l.begin)
	l.events = append(l.events, e)
	return Pending{lane: l, index: len(l.events) - 1}
}

// Return records the reply, which came now.
func (p Pending) Return(o Outcome) { p.ReturnAt(time.Now(), o) }

// Delivered records that a FETCH brought a job. Queue and body are those of the work
// unit, see [Event].
func (p Pending) Delivered(jid, queue, body string) {
	p.DeliveredAt(time.Now(), jid, queue, body)
}

// ReturnAt is Return for a reply that came at the given time, which must have the
// monotonic reading that time.Now gives.
func (p Pending) ReturnAt(at time.Time, o Outcome) {
	p.set(at, func(e *Event) { e.Outcome = o })
}

// DeliveredAt is Delivered for a reply that came at the given time.
func (p Pending) DeliveredAt(at time.Time, jid, queue, body string) {
	p.set(at, func(e *Event) { e.Outcome, e.JID, e.Queue, e.Body = OK, jid, queue, body })
}

func (p Pending) set(at time.Time, change func(*Event)) {
	p.lane.mu.Lock()
	defer p.lane.mu.Unlock()
	e := &p.lane.events[p.index]
	change(e)
	if e.Outcome != Open {
		e.Return = max(at.Sub(p.lane.begin), e.Call)
	}
}

// Add records an event whose times the caller has taken; they count from
// [Recorder.Begin].
func (l *Lane) Add(e Event) {
	e.Client, e.Worker = l.client, cmp.Or(e.Worker, l.worker)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// History returns what was recorded until now, sorted by the calls. Calls that are
// under way are open in it. Recording may go on; what is returned does not change.
func (r *Recorder) History() *History {
	r.mu.Lock()
	lanes := slices.Clone(r.lanes)
	r.mu.Unlock()
	now := time.Since(r.begin)
	var events []Event
	for _, lane := range lanes {
		events = lane.until(events, now)
	}
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.Call, b.Call) })
	return &History{Events: events}
}

// until appends what was called by then, as it was known then. Lanes are read one
// after the other, and a job must not be seen to come before its PUSH is seen.
func (l *Lane) until(events []Event, now time.Duration) []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if e.Call > now {
			continue
		}
		if e.Return > now {
			e = e.opened()
		}
		events = append(events, e)
	}
	return events
}
