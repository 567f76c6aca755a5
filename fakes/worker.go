package fakes

import (
	"fmt"
	"slices"
	"sync"
)

// state is how far a worker has been asked to wind down. It never goes back.
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

// worker is what the server knows of a wid. It is remembered for good: BEAT takes
// every wid that ever said HELLO.
type worker struct {
	id     identity
	open   int   // connections
	signal state // what an operator wants
	knows  state // what the worker was told, or has said of itself
}

// identity is what has to be the same in all connections of a worker. (Required
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

// conflict tells whether the wid is in use by a worker that says something else of
// itself.
func (ws *workers) conflict(wid string, id identity) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byWID[wid]
	return w != nil && w.open > 0 && !w.id.equal(id)
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

func (ws *workers) exit(wid string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w := ws.byWID[wid]; w != nil {
		w.open--
	}
}

// beat takes down what a worker says of itself, and gives what it is to be told.
func (ws *workers) beat(wid, says string) (signal state, known bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byWID[wid]
	if w == nil {
		return running, false
	}
	w.knows = max(w.knows, asState(says))
	return w.signal, true
}

func (ws *workers) told(wid, state string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w := ws.byWID[wid]; w != nil {
		w.knows = max(w.knows, asState(state))
	}
}

// isQuiet tells whether the worker knows that it should not fetch any more.
func (ws *workers) isQuiet(wid string) bool {
	if wid == "" {
		return false
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byWID[wid]
	return w != nil && w.knows > running
}

// Signal does what an operator does who quiets or terminates a worker: from now on
// every BEAT of the worker is answered with the state, "quiet" or "terminate". The
// empty wid means every worker. A state never goes back: quiet after terminate
// changes nothing. It is an error if no HELLO ever had the wid. (BEAT; Client
// Lifecycle)
func (s *Server) Signal(wid, state string) error {
	to := asState(state)
	if to == running {
		return fmt.Errorf("signal worker %q: state %q is neither quiet nor terminate", wid, state)
	}
	s.workers.mu.Lock()
	defer s.workers.mu.Unlock()
	w := s.workers.byWID[wid]
	if w == nil && wid != "" {
		return fmt.Errorf("signal worker %q: no such worker has said HELLO", wid)
	}
	for id, w := range s.workers.byWID {
		if wid == "" || id == wid {
			w.signal = max(w.signal, to)
		}
	}
	return nil
}
