package fakes

import (
	"slices"
	"sync"

	"github.com/fwpsuite/fwp/fwp"
)

// hand is a job that a connection was given and has not reported.
type hand struct {
	jid    string
	conn   int64
	worker string
}

// hands are the jobs in hand, in the order of their delivery.
type hands struct {
	mu  sync.Mutex
	all []hand
}

// inHand returns hooks that act on every event, after it has changed the jobs in hand.
func inHand(act func(*hands, *Event)) func() func(*Event) {
	return func() func(*Event) {
		h := &hands{}
		return func(e *Event) {
			h.see(e)
			act(h, e)
		}
	}
}

// jobsOfWorker returns hooks that act at some events on the jobs in hand of the event's worker.
func jobsOfWorker(some func(*Event) bool, act func(e *Event, jids []string)) func() func(*Event) {
	return inHand(func(h *hands, e *Event) {
		if some(e) {
			act(e, h.of(func(one hand) bool { return one.worker != "" && one.worker == e.Conn.Worker }))
		}
	})
}

// see adds a job that is delivered, and removes one whose report was accepted.
func (h *hands) see(e *Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case e.Point == Delivered:
		h.all = append(h.all, hand{e.Object.Text("jid"), e.Conn.ID, e.Conn.Worker})
	case e.Point == Ran && (e.Command.Verb == fwp.ACK || e.Command.Verb == fwp.FAIL) && e.Err == nil:
		h.all = slices.DeleteFunc(h.all, func(one hand) bool { return one.jid == e.Object.Text("jid") })
	}
}

// of returns the ids of the jobs in hand that match.
func (h *hands) of(match func(hand) bool) (jids []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.all {
		if match(one) {
			jids = append(jids, one.jid)
		}
	}
	return jids
}

// on returns the ids of the jobs that the connection of an event was given.
func (h *hands) on(e *Event) []string {
	return h.of(func(one hand) bool { return one.conn == e.Conn.ID })
}

// finish ends jobs as their ACK does.
func finish(e *Event, jids []string) {
	for _, jid := range jids {
		_ = e.Conn.server.store.Finish(&Event{Conn: e.Conn}, jid)
	}
}

// fail fails jobs as a FAIL without fields does.
func fail(e *Event, jids []string) {
	s := e.Conn.server
	for _, jid := range jids {
		_ = s.store.Fail(&Event{Conn: e.Conn}, jid, failure{}.fate(&s.cfg))
	}
}

// giveBack returns jobs that are held to their queues.
func giveBack(e *Event, jids []string) {
	jobs := e.Conn.server.store
	for _, jid := range jids {
		if held := jobs.Held(jid); held != nil {
			jobs.GiveBack(&Event{Conn: e.Conn}, held)
		}
	}
}
