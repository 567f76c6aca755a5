package fakes

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// state is a worker's state. It never goes back to a lower one.
// (Quiet State, Terminating State)
type state int

const (
	stateRunning state = iota
	stateQuiet
	stateTerminating
)

var stateNames = [...]string{"", "quiet", "terminate"}

func (s state) String() string { return stateNames[s] }

func asState(s string) state { return state(max(slices.Index(stateNames[:], s), int(stateRunning))) }

// worker is what the server knows about a wid. It is never removed: a BEAT may have any
// wid that a HELLO had.
type worker struct {
	id          identity
	connections int   // connections
	signal      state // what an operator wants
	knownState  state // what the worker was sent, or has reported itself
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
	return w != nil && w.connections > 0 && !w.id.equal(id)
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
	w.connections++
}

func (ws *workers) exit(wid string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w := ws.byWID[wid]; w != nil {
		w.connections--
	}
}

// beat records the state that a worker reports, and returns the one that an operator
// wants.
func (ws *workers) beat(wid, reportedState string) (signal state, ok bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byWID[wid]
	if w == nil {
		return stateRunning, false
	}
	w.knownState = max(w.knownState, asState(reportedState))
	return w.signal, true
}

func (ws *workers) recordState(wid, state string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w := ws.byWID[wid]; w != nil {
		w.knownState = max(w.knownState, asState(state))
	}
}

// count counts the workers with a connection.
func (ws *workers) count() (n int) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.byWID {
		if w.connections > 0 {
			n++
		}
	}
	return n
}

// reset takes back all signals.
func (ws *workers) reset() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.byWID {
		w.signal, w.knownState = stateRunning, stateRunning
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
	return w != nil && w.knownState > stateRunning
}

// Signal quiets or terminates a worker, as an operator does: each later BEAT of the worker gets the state, "quiet" or
// "terminate". An empty wid means every worker. A state never goes back: quiet after terminate changes nothing. It
// returns an error if no HELLO had the wid. (BEAT; Client Lifecycle)
func (s *Server) Signal(wid, state string) error {
	to := asState(state)
	if to == stateRunning {
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

// Worker is the server's state of a worker.
type Worker struct {
	Connections int    // open connections
	Signal      string // the state that an operator has set: "", "quiet" or "terminate"
	KnownState  string // the state that a BEAT's reply, or the worker itself, has named
}

// IsQuiet reports whether the worker knows that it has to be quiet or to terminate: a reply to its BEAT said so, or its
// BEAT had that state.
func (w Worker) IsQuiet() bool { return w.KnownState != "" }

// Worker returns the state of the worker with a wid; the zero value if there is none. For an empty wid, Connections
// counts those of all workers.
func (s *Server) Worker(wid string) (all Worker) {
	s.workers.mu.Lock()
	defer s.workers.mu.Unlock()
	if w := s.workers.byWID[wid]; w != nil {
		return Worker{w.connections, w.signal.String(), w.knownState.String()}
	}
	for _, w := range s.workers.byWID {
		if wid == "" {
			all.Connections += w.connections
		}
	}
	return all
}

// SetWorker sets the Signal and the KnownState of the worker with a wid, and adds the worker if there is none. It
// ignores Connections.
func (s *Server) SetWorker(wid string, to Worker) {
	s.workers.mu.Lock()
	defer s.workers.mu.Unlock()
	w := s.workers.byWID[wid]
	if w == nil {
		w = &worker{}
		s.workers.byWID[wid] = w
	}
	w.signal, w.knownState = asState(to.Signal), asState(to.KnownState)
}

// beat records a worker's state, and answers with the state that an operator wants. (BEAT)
func (c *conn) beat(e *Event) (fwp.Reply, error) {
	wid := e.Object.Text("wid")
	signal, ok := c.s.workers.beat(wid, e.Object.Text("current_state"))
	if !ok {
		return fwp.Reply{}, refuse(AboutWorker, "no HELLO had this wid")
	}
	e.State, e.Skip = signal.String(), false
	c.s.runHooks(Notified, e)
	if e.State == "" || e.Skip {
		return OK(), nil
	}
	c.s.workers.recordState(wid, e.State)
	o := &Object{}
	o.SetText("state", e.State)
	if c.s.cfg.StateAsSimple {
		return Simple(string(o.Append(nil))), nil
	}
	return Bulk(o.Append(nil)), nil
}

// checkBeat checks a BEAT; unknown fields are allowed. (BEAT)
func checkBeat(o *Object) *Refusal {
	return cmp.Or(check(o, isAny, text, "wid"), check(o, isNonNull, text, "current_state"),
		check(o, isNonNull, integer, "rss_kb"))
}
