package run

import (
	"context"
	"slices"
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
	peers   play.PeerStats
	common  *law.Server // of the laws of all plays
	limiter connLimiter

	running []*task // on it
	ended   []*task // the latest ones
	dying   []*task // that ended since one found it dead
	first   int     // pending checks that are played before others, and alone, to find out why it died

	down    bool   // it served no more when the last play was over
	killer  string // the check that ended it last
	lost    string // why no more checks are played on it, empty if they are
	crash   *crash // of which the reason is looked for
	closed  []*closure
	crashes int

	open   func() error // starts it at the first call, and waits for that; nil: it has been started
	end    func()       // ends what open started
	hazard *host        // where hostile checks are played in its place; nil if there is none
}

func newHost(server Server) *host {
	h := &host{Server: server, common: law.NewServer(), limiter: connLimiter{limit: mostConnections}}
	if server.Fresh != nil && slices.Contains(server.Offers, scenarios.NeedAlone) {
		h.common = law.NewExclusive() // it was started as others can be
	}
	return h
}

// forHostile returns the host for hostile checks. Where servers can be started that is another one, so that its end
// affects no other check: those that wait for minutes would be played again from their beginning.
func (h *host) forHostile(d scenarios.Dialect) *host {
	switch {
	case h.Fresh == nil:
		return h
	case h.hazard == nil:
		h.hazard = h.another(d)
	}
	return h.hazard
}

// another returns a host for a server like that of h, which its first play starts.
func (h *host) another(d scenarios.Dialect) *host {
	other := newHost(h.Server)
	other.Ended, other.Printed, other.Failed = nil, nil, nil
	var end func()
	other.open = once(func() (err error) {
		var started Server
		started, end, err = h.Fresh()
		other.Target, other.Ended, other.Failed = started.Target, started.Ended, started.Failed
		other.Printed = started.Printed
		if err == nil { // what it did once it is known to do: the first check may end it
			player := &play.Player{Target: other.Target, Password: other.Password, Peers: &other.peers}
			_ = player.Serves(context.Background(), d) // if not, that is for the checks
		}
		return err
	})
	other.end = func() {
		if end != nil {
			end()
		}
	}
	return other
}

// once returns a function that calls open when it is called first, and whose other calls wait for that. They wait on a
// channel and not on the lock of sync.OnceValue, since virtual time stands still for who waits for a lock.
func once(open func() error) func() error {
	var err error
	first, done := make(chan struct{}, 1), make(chan struct{})
	first <- struct{}{}
	return func() error {
		select {
		case <-first:
			defer close(done)
			err = open()
		case <-done:
		}
		return err
	}
}

// takes reports whether a check may begin on the host, in addition to those that run. In a quick run what waits
// long does not hold up the later phases.
func (h *host) takes(t *task, quick bool) bool {
	if len(h.dying) > 0 || h.first > 0 && !t.isFirst() {
		return false
	}
	conns := t.about.Connections
	for _, other := range h.running {
		if !t.goesWith(other, quick) {
			return false
		}
		conns += other.about.Connections
	}
	return len(h.running) == 0 || conns <= h.limiter.limit
}

// goesWith reports whether a check may begin beside another one, which began earlier.
func (t *task) goesWith(other *task, quick bool) bool {
	began := time.Since(other.began)
	switch {
	case t.apart, other.apart, t.isFirst(), other.isFirst(), other.revives:
		return false
	case t.about.Sharing == conformance.SharesOneByOne && other.about.Sharing == conformance.SharesOneByOne:
		return false
	}
	quiet := !t.spares() && (t.about.Counts || other.about.Counts)
	return (t.phase() <= other.phase() || quick && began > conformance.QuickWait) && (!quiet || began > quietFor)
}

// isFirst reports whether the check is played alone to find out why its server died.
func (t *task) isFirst() bool { return t.death != nil || t.suspect }

// enter records that a check begins.
func (h *host) enter(t *task) {
	t.limits, t.together = h.limiter.lowered, len(h.running) > 0
	for _, other := range h.running {
		other.together = true
	}
	h.running = append(h.running, t)
	if t.isFirst() {
		h.first--
	}
	t.revives, h.down = h.down, false
	if t.pause = 0; h.limiter.lone > 0 {
		t.pause = lonePause << min(h.limiter.lone, lonely)
	}
	if t.death != nil || t.refused >= maxTriesShared {
		t.pause = max(t.pause, play.CloseLatency)
	}
}

// leave records that a check is over.
func (h *host) leave(t *task) {
	h.running = slices.DeleteFunc(h.running, func(other *task) bool { return other == t })
	if t.evidence != nil {
		if t.evidence.Dead != "" {
			h.common.Killed()
		}
		h.ended = append(h.ended[max(0, len(h.ended)-keptEnded+1):], t)
	}
}

// mostConnections is how many connections the checks on one server may have open at a
// time, as long as it refuses none.
const mostConnections = 400

// connLimiter finds out how many connections a server accepts.
type connLimiter struct {
	limit      int  // lowered when the server refuses a connection
	lowered    int  // how often
	lone       int  // connections in a row that it refused although no other was open
	refusesAll bool // it refuses a connection even where none is open: that is not a limit
}

// lower lowers the limit after the refusal of a connection of a check that began when the
// limit had been lowered begun times. The connections that were open at the refusal are
// the new limit, or fewer if the check began under the present one.
func (l *connLimiter) lower(begun int, r *play.Refusal) {
	if begun == l.lowered {
		l.lowered++
		l.limit = l.limit * 3 / 4
	}
	l.limit = max(1, min(l.limit, r.All))
}

// forget takes back what was found out about a server that has ended since: its end may have been taken for a limit.
func (l *connLimiter) forget() { *l = connLimiter{limit: mostConnections, lowered: l.lowered} }

// lonely is how many connections in a row a server refuses where no other is open before it counts as refusing all:
// it may not have noticed yet that others were closed.
const lonely = 3

// refusedLone records that a server refused the only connection there was.
func (l *connLimiter) refusedLone() {
	if l.lone++; l.lone >= lonely {
		l.refusesAll, l.limit = true, mostConnections
	}
}
