package run

import (
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// host is a server that checks share, and its state. Except for peers, only the
// loop of the run uses it.
type host struct {
	Server
	peers play.PeerStats
	law   *law.Server // of the laws of all plays

	room          int  // connections of checks at a time: half as many when it refuses one
	refusesAlways bool // it refuses a connection also where no other is open: that is no limit

	running []*task // on it
	dying   []*task // that ended since one found it dead

	isDown     bool   // it served no more when the last play was over
	killer     string // the check that ended it last
	lostReason string // why no more checks are played on it, empty if they are
	crash      *crash // whose checks are played again, each alone and before all others
	closures   []*closure
	crashes    int
	history    []*task // of a server that hostile checks have one after the other: these, in their order

	end func() // ends it; nil: it is not of this run

	mu        sync.Mutex
	idleHosts []*host // servers like it that hostile checks have survived
}

// maxConns is how many connections the checks on one server may have open at a
// time, as long as it refuses none.
const maxConns = 400

func newHost(server Server) *host {
	h := &host{Server: server, law: law.NewServer(), room: maxConns}
	if server.StartServer != nil && slices.Contains(server.Offers, scenarios.NeedAlone) {
		h.law = law.NewExclusive() // it was started as others can be
	}
	return h
}

// borrow returns a server like that of h for one check: a new one, or where it may be used already an idle one. Calls
// may be concurrent.
func (h *host) borrow(mayReuse bool) (*host, error) {
	h.mu.Lock()
	if last := len(h.idleHosts) - 1; mayReuse && last >= 0 {
		other := h.idleHosts[last]
		h.idleHosts = h.idleHosts[:last]
		h.mu.Unlock()
		return other, nil
	}
	h.mu.Unlock() // virtual time stands still for who waits for a lock
	server, end, err := h.StartServer()
	if err != nil {
		return nil, err
	}
	other := newHost(server)
	other.end = end
	return other, nil
}

// release ends a server that another has returned for a check, or keeps it for the next. Calls may be concurrent.
func (h *host) release(other *host, t *task, keep bool) {
	if !keep {
		other.end()
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	other.history = append(other.history, t)
	h.idleHosts = append(h.idleHosts, other)
}

// hasRoomFor reports whether a check may begin on the host, in addition to those that run. In a quick run what waits
// long does not hold up the later phases.
func (h *host) hasRoomFor(t *task, s *runState) bool {
	if len(h.dying) > 0 || h.crash != nil && !t.isSuspect {
		return false
	}
	for _, other := range h.running {
		if !s.fitsWith(t, other) {
			return false
		}
	}
	return len(h.running) == 0 || h.conns()+t.description.Connections <= h.room
}

// conns returns how many connections the running checks may have open.
func (h *host) conns() (n int) {
	for _, t := range h.running {
		n += t.description.Connections
	}
	return n
}

// fitsWith reports whether a check may begin beside another one, which began earlier.
func (s *runState) fitsWith(t, other *task) bool {
	began := time.Since(other.began)
	switch {
	case s.isolates(t), s.isolates(other), t.isSuspect, other.isSuspect, other.revives:
		return false
	case t.description.Sharing == conformance.SharesOneByOne && other.description.Sharing == conformance.SharesOneByOne:
		return false
	}
	needsPause := !t.spares() && (t.description.Counts || other.description.Counts)
	return (t.phase() <= other.phase() || s.runner.Quick && began > conformance.QuickWait) &&
		(!needsPause || began > infoPause)
}

// enter records that a check begins.
func (h *host) enter(t *task) {
	h.running = append(h.running, t)
	t.isShared, t.conns = len(h.running) > 1, 0
	for _, other := range h.running {
		other.isShared, other.conns = t.isShared, max(other.conns, h.conns())
	}
	t.revives, h.isDown = h.isDown, false
}

// leave records that a check is over.
func (h *host) leave(t *task) {
	h.running = slices.DeleteFunc(h.running, func(other *task) bool { return other == t })
	if t.evidence != nil && t.evidence.DeadReason != "" {
		h.law.Killed()
	}
}

// halve lets the checks on a host have half as many connections at a time as were there beside one that was refused.
func (h *host) halve(t *task) { h.room = min(h.room, max(1, t.conns/2)) }
