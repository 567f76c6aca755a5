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
	begin   time.Time
	mu      sync.Mutex
	clients []*Client
}

// NewRecorder returns a recorder whose history begins now.
func NewRecorder() *Recorder { return &Recorder{begin: time.Now()} }

// Begin is the instant from which all times of the history count, for example to
// turn an at into Event.At.
func (r *Recorder) Begin() time.Time { return r.begin }

// Client records the events of one connection, or of anything else that has one open call
// at a time. Clients share nothing, so that they do not wait for each other.
type Client struct {
	begin  time.Time
	number int
	worker string

	mu     sync.Mutex // History may be called at any time; otherwise there is no contention
	events []Event
}

// Client adds a client. Its events have the number, and the worker unless they name
// another one.
func (r *Recorder) Client(number int, worker string) *Client {
	client := &Client{begin: r.begin, number: number, worker: worker}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients = append(r.clients, client)
	return client
}

// PendingCall is a call without its reply. Unless one of its methods is called it stays
// open for ever.
type PendingCall struct {
	client *Client
	index  int
}

// Call records that a command is about to be sent: it sets the time of the call of e,
// and leaves it open.
func (c *Client) Call(e Event) PendingCall {
	e.Client, e.Worker = c.number, cmp.Or(e.Worker, c.worker)
	e.Outcome, e.Return = NoReply, -1
	c.mu.Lock()
	defer c.mu.Unlock()
	e.Call = time.Since(c.begin)
	c.events = append(c.events, e)
	return PendingCall{client: c, index: len(c.events) - 1}
}

// Return records a reply that is received now.
func (p PendingCall) Return(o Outcome) { p.set(func(e *Event) { e.Outcome = o }) }

// Delivered records that a FETCH delivered a job. Queue and body are those of the work
// unit, see [Event].
func (p PendingCall) Delivered(jid, queue, body string) {
	p.set(func(e *Event) { e.Outcome, e.JID, e.Queue, e.Body = OK, jid, queue, body })
}

func (p PendingCall) set(change func(*Event)) {
	at := time.Since(p.client.begin)
	p.client.mu.Lock()
	defer p.client.mu.Unlock()
	e := &p.client.events[p.index]
	change(e)
	if e.Outcome != NoReply {
		e.Return = max(at, e.Call)
	}
}

// Add records an event whose times the caller has set; they count from
// [Recorder.Begin].
func (c *Client) Add(e Event) {
	e.Client, e.Worker = c.number, cmp.Or(e.Worker, c.worker)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, e)
}

// History returns the events until now, sorted by their calls. Calls without a reply
// are open in it. Recording may continue; the returned history does not change.
func (r *Recorder) History() *History {
	r.mu.Lock()
	clients := slices.Clone(r.clients)
	r.mu.Unlock()
	now := time.Since(r.begin)
	var events []Event
	for _, client := range clients {
		events = client.eventsUntil(events, now)
	}
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.Call, b.Call) })
	return &History{Events: events}
}

// eventsUntil appends the events that were called before now, with the replies until now.
// Clients are read one after the other, and a delivery must not be in the history without
// its PUSH.
func (c *Client) eventsUntil(events []Event, now time.Duration) []Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.events {
		if e.Call > now {
			continue
		}
		if e.Return > now {
			e = e.withoutReply()
		}
		events = append(events, e)
	}
	return events
}
