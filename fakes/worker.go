package fakes

import (
	"fmt"
	"slices"
	"sync"
)

// state is a worker's state. It never goes back to a lower one.
// (Quiet State, Terminating State)
type state uint8

const (
	running state = iota
	quiet
	terminating
)

func (s state) String() string {
	return [...]string{"", "quiet", "terminate"}[s]
}

func asState(s string) state {
	switch s {
	case "quiet":
		return quiet
	case "terminate":
		return terminating
	}
	return running
}

// worker is what the server knows about a wid. It is never removed: a BEAT may have any
// wid that a HELLO had.
type worker struct {
	id     identity
	open   int   // connections
	signal state // what an operator wants
	knows  state // what the worker was sent, or has reported itself
}

// identity holds the fields that must be equal in all connections of a worker. (Required
// Fields for Consumers)
type identity struct {
	hostname string
	pid      int64
	labels   []string
}

func (i identity) equal(other identity) bool {
	return i.hostname == other.hostname && i.pid == other.pid && slices.Equal(i.labels, other.labels)
}

type workers struct {
	mu    sync.Mutex
	byWID map[string]*worker
}

// conflict reports whether the wid is in use by a worker with another identity.
func (ws *workers) conflict(wid string, id identity) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byWID[wid]
	return w != nil && w.open > 0 && !w.id.equal(id)
}

// connections returns how many connections are of workers.
func (ws *workers) connections() (n int) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.byWID {
		n += w.open
	}
	return n
}

// open returns how many connections a worker has.
func (ws *workers) open(wid string) int {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w := ws.byWID[wid]; w != nil {
		return w.open
	}
	return 0
}

func (ws *workers) enter(wid string, id identity) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byWID[wid]
	if w == nil {
		w = &worker{}
		ws.byWID[wid] = w
	}
	w.id = id
	w.open++
}

// revive forgets the state of a worker without connections.
func (ws *workers) revive(wid string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w := ws.byWID[wid]; w != nil && w.open == 0 {
		w.signal, w.knows = running, running
	}
}

func (ws *workers) exit(wid string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w := ws.byWID[wid]; w != nil {
		w.open--
	}
}

// beat records the state that a worker reports, and returns the one that an operator
// wants.
func (ws *workers) beat(wid, reported string) (signal state, known bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byWID[wid]
	if w == nil {
		return running, false
	}
	w.knows = max(w.knows, asState(reported))
	return w.signal, true
}

func (ws *workers) notified(wid, state string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w := ws.byWID[wid]; w != nil {
		w.knows = max(w.knows, asState(state))
	}
}

// reset takes back all signals.
func (ws *workers) reset() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.byWID {
		w.signal, w.knows = running, running
	}
}

// isQuiet reports whether the worker knows that it must not fetch any more.
func (ws *workers) isQuiet(wid string) bool {
	if wid == "" {
		return false
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byWID[wid]
	return w != nil && w.knows > running
}

// Signal quiets or terminates a worker, as an operator can: from now on every BEAT of the
// worker is answered with the state, "quiet" or "terminate". The empty wid means every
// worker. A state never goes back: quiet after terminate changes nothing. It is an error
// if no HELLO had the wid. (BEAT; Client Lifecycle)
func (s *Server) Signal(wid, state string) error {
	to := asState(state)
	if to == running {
		return fmt.Errorf("signal worker %q: state %q is neither quiet nor terminate", wid, state)
	}
	s.workers.mu.Lock()
	defer s.workers.mu.Unlock()
	w := s.workers.byWID[wid]
	if w == nil && wid != "" {
		return fmt.Errorf("signal worker %q: no such worker", wid)
	}
	for id, w := range s.workers.byWID {
		if wid == "" || id == wid {
			w.signal = max(w.signal, to)
		}
	}
	return nil
}

// isTerminating reports whether the worker knows that it has to terminate.
func (ws *workers) isTerminating(wid string) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byWID[wid]
	return w != nil && w.knows == terminating
}
