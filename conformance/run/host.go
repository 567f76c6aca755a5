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
	peers  play.PeerStats
	common *law.Server // of the laws of all plays

	room    int  // connections of checks at a time: half as many when it refuses one
	refuses bool // it refuses a connection also where no other is open: that is no limit

	running []*task // on it
	dying   []*task // that ended since one found it dead

	down    bool   // it served no more when the last play was over
	killer  string // the check that ended it last
	lost    string // why no more checks are played on it, empty if they are
	crash   *crash // whose checks are played again, each alone and before all others
	closed  []*closure
	crashes int
	had     []*task // of a server that hostile checks have one after the other: these, in their order

	end func() // ends it; nil: it is not of this run

	mu   sync.Mutex
	idle []*host // servers like it that hostile checks have survived
}

// mostConnections is how many connections the checks on one server may have open at a
// time, as long as it refuses none.
const mostConnections = 400

func newHost(server Server) *host {
	h := &host{Server: server, common: law.NewServer(), room: mostConnections}
	if server.Fresh != nil && slices.Contains(server.Offers, scenarios.NeedAlone) {
		h.common = law.NewExclusive() // it was started as others can be
	}
	return h
}

// another returns a server like that of h for one check: a new one, or where it may be used already an idle one. Calls
// may be concurrent.
func (h *host) another(used bool) (*host, error) {
	h.mu.Lock()
	if last := len(h.idle) - 1; used && last >= 0 {
		other := h.idle[last]
		h.idle = h.idle[:last]
		h.mu.Unlock()
		return other, nil
	}
	h.mu.Unlock() // virtual time stands still for who waits for a lock
	server, end, err := h.Fresh()
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
	other.had = append(other.had, t)
	h.idle = append(h.idle, other)
}

// takes reports whether a check may begin on the host, in addition to those that run. In a quick run what waits
// long does not hold up the later phases.
func (h *host) takes(t *task, s *runState) bool {
	if len(h.dying) > 0 || h.crash != nil && !t.suspect {
		return false
	}
	for _, other := range h.running {
		if !s.goWith(t, other) {
			return false
		}
	}
	return len(h.running) == 0 || h.conns()+t.about.Connections <= h.room
}

// conns returns how many connections the running checks may have open.
func (h *host) conns() (n int) {
	for _, t := range h.running {
		n += t.about.Connections
	}
	return n
}

// goWith reports whether a check may begin beside another one, which began earlier.
func (s *runState) goWith(t, other *task) bool {
	began := time.Since(other.began)
	switch {
	case s.isolates(t), s.isolates(other), t.suspect, other.suspect, other.revives:
		return false
	case t.about.Sharing == conformance.SharesOneByOne && other.about.Sharing == conformance.SharesOneByOne:
		return false
	}
	quiet := !t.spares() && (t.about.Counts || other.about.Counts)
	return (t.phase() <= other.phase() || s.runner.Quick && began > conformance.QuickWait) && (!quiet || began > quietFor)
}

// enter records that a check begins.
func (h *host) enter(t *task) {
	h.running = append(h.running, t)
	t.together, t.conns = len(h.running) > 1, 0
	for _, other := range h.running {
		other.together, other.conns = t.together, max(other.conns, h.conns())
	}
	t.revives, h.down = h.down, false
}

// leave records that a check is over.
func (h *host) leave(t *task) {
	h.running = slices.DeleteFunc(h.running, func(other *task) bool { return other == t })
	if t.evidence != nil && t.evidence.Dead != "" {
		h.common.Killed()
	}
}

// halve lets the checks on a host have half as many connections at a time as were there beside one that was refused.
func (h *host) halve(t *task) { h.room = min(h.room, max(1, t.conns/2)) }
