package play

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// PeerStats is what plays on one server share: how many connections they have open, and
// what the server has done for them so far, and the memory that its replies may take. The zero value is ready. It is
// safe for concurrent use.
type PeerStats struct {
	conns      atomic.Int64
	admissions atomic.Int64 // connections that were let in since the server was started
	services   services
	budget     session.Budget

	mu      sync.Mutex
	outages []Outage
}

// Outage is a time during which the server let no connection in, although none was open; or, if its ends are equal,
// when the server ended all connections at once.
type Outage struct{ From, To time.Time }

// String returns when it was, by the clock.
func (o Outage) String() string {
	const clock = "15:04:05.000"
	if o.To.Equal(o.From) {
		return "the server ended all connections at once, at " + o.From.Format(clock)
	}
	return fmt.Sprintf("the server was unreachable from %s to %s", o.From.Format(clock), o.To.Format(clock))
}

// addOutage records an outage.
func (s *PeerStats) addOutage(o Outage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outages = append(s.outages, o)
}

// outageSince returns the first outage that was not over at the given moment, nil if there was none.
func (s *PeerStats) outageSince(begin time.Time) *Outage {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.outages, func(o Outage) bool { return o.To.After(begin) })
	if i < 0 {
		return nil
	}
	first := s.outages[i]
	return &first
}

// NoteStart notes that the server was started anew.
func (s *PeerStats) NoteStart() { s.admissions.Store(0) }

// NoteService notes that clients which no player of scripts was have been served.
func (s *PeerStats) NoteService() {
	for _, name := range []service{connService, greetingService, welcomeService} {
		s.services.note(name)
	}
}

// OpenConns returns how many connections are open, without those that were refused.
func (s *PeerStats) OpenConns() int { return int(s.conns.Load()) }

// Refusal describes a connection that was not let in: it could not be opened, its first
// message was a refusal, or it ended or stayed silent. A server at its limit of connections
// does that, and so does one that is broken or has ended.
type Refusal struct {
	Got      string // what was received instead
	OwnConns int    // connections of the play that were open when it was opened, and not refused so far
	AllConns int    // those of all plays that share a PeerStats
}

// isCloser reports whether a refusal is closer to the limit of the server than another one
// of the same play. One at which no connection of the play was open is worth less than
// one at which some were: it may be received only after the others were closed.
func (r Refusal) isCloser(other Refusal) bool {
	if (r.OwnConns > 0) != (other.OwnConns > 0) {
		return r.OwnConns > 0
	}
	return r.AllConns < other.AllConns
}

// ConnCounter counts the connections of one play, and keeps the refusal that is closest
// to a limit of the server. It is safe for concurrent use.
type ConnCounter struct {
	peers *PeerStats

	mu      sync.Mutex
	conns   int
	refusal *Refusal
}

// NewConnCounter returns the counter of a play that shares stats with others.
func NewConnCounter(peers *PeerStats) *ConnCounter { return &ConnCounter{peers: peers} }

// Refusal returns the refusal that was kept, nil if there was none.
func (c *ConnCounter) Refusal() *Refusal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refusal
}

// NotOpened records a connection that could not be opened.
func (c *ConnCounter) NotOpened(got string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(Refusal{Got: got, OwnConns: c.conns, AllConns: c.peers.OpenConns()})
}

// keep keeps a refusal if it is closer to the limit than the one before. The lock is
// held.
func (c *ConnCounter) keep(r Refusal) {
	if c.refusal == nil || r.isCloser(*c.refusal) {
		c.refusal = &r
	}
}

// add changes the number of connections. The lock is held.
func (c *ConnCounter) add(n int) {
	c.conns += n
	c.peers.conns.Add(int64(n))
}

// Opened records a connection that was opened.
func (c *ConnCounter) Opened() *Admission {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &Admission{counter: c, ownConns: c.conns, allConns: c.peers.OpenConns()}
	c.add(1)
	return a
}

// Admission is one connection as it is counted: until it is over, or refused. It is safe
// for concurrent use.
type Admission struct {
	counter            *ConnCounter
	ownConns, allConns int  // connections of the play, and of all plays, that were open before it
	decided            bool // whether it was let in is known
	isUncounted        bool // it is not counted any more
}

// TurnedAway records that the connection was refused after it was let in. It returns false, and records nothing, if no
// other connection was open: then there is no limit that explains it.
func (a *Admission) TurnedAway(got string) bool {
	c := a.counter
	c.mu.Lock()
	defer c.mu.Unlock()
	r := Refusal{Got: got, OwnConns: c.conns, AllConns: c.peers.OpenConns()}
	if !a.isUncounted {
		r.OwnConns, r.AllConns = r.OwnConns-1, r.AllConns-1
	}
	if r.AllConns > 0 {
		c.keep(r)
	}
	return r.AllConns > 0
}

// Declined records that the server declined the client of the connection, if that is the only one of its play while
// other plays have some: it may be one client too many. Beside others of the same play another reason is as likely.
func (a *Admission) Declined(got string) {
	c := a.counter
	c.mu.Lock()
	defer c.mu.Unlock()
	if all := c.peers.OpenConns(); !a.isUncounted && c.conns == 1 && all > 1 {
		c.keep(Refusal{Got: got, AllConns: all - 1})
	}
}

// Decide records whether the connection was let in, by the first message, which is got. What was open when it was
// opened is the limit: until a silence counts as a refusal, others may have been closed. Only the first call counts.
func (a *Admission) Decide(admitted bool, got string) {
	c := a.counter
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.decided || a.isUncounted {
		return
	}
	if a.decided = true; admitted {
		c.peers.admissions.Add(1)
	} else {
		a.isUncounted = true
		c.add(-1)
		c.keep(Refusal{Got: got, OwnConns: a.ownConns, AllConns: a.allConns})
	}
}

// End records the end of the connection.
func (a *Admission) End() {
	a.counter.mu.Lock()
	defer a.counter.mu.Unlock()
	if !a.isUncounted {
		a.isUncounted = true
		a.counter.add(-1)
	}
}

// decide records by the first message of a connection whether it was let in.
func (pl *play) decide(admission *Admission, a session.Received) {
	if a.HasBytes() {
		pl.Peers.services.note(greetingService)
	}
	admission.Decide(a.HasBytes() && (a.Broken != nil || !pl.grammar().IsRefusal(a.Message)), a.String())
}

// CloseLatency is how long a server may take to notice that connections were closed. If it is at its limit of
// connections until then, it may stay silent on a new one.
const CloseLatency = time.Second

// recheckServing checks again whether a server serves that seemed not to, after the play
// has closed its connections: with them open it may have been at its limit.
func (pl *play) recheckServing(ctx context.Context, conns int) {
	const patience = 2 * time.Second
	if pl.notServing == "" || conns == 0 || ctx.Err() != nil {
		return
	}
	th := &thread{play: pl, scope: pl.scope.Child()}
	machine.Sleep(ctx, CloseLatency)
	if _, err := th.awaitServing(ctx, min(pl.Timeout, patience), nil); err != nil {
		return
	}
	const remark = "the server serves again after the connections of the script were closed"
	pl.rec.remark("", remark)
	pl.count.mu.Lock()
	defer pl.count.mu.Unlock()
	pl.count.keep(Refusal{Got: pl.notServing, OwnConns: conns, AllConns: pl.Peers.OpenConns() + conns}) // as it was
	pl.notServing = ""
}

// countServed counts the connections of the play that the server has let in and not ended, with those that it has
// refused if it may be at its limit: it turns new ones away, or several are open. One alone may have stopped it. It is
// for after the script.
func (pl *play) countServed() int {
	admitted, refused := 0, 0
	for _, c := range pl.namedConns() {
		a, ok := c.Poll()
		switch isOpen := c.Ending() == scenarios.Open && (!ok || a.Ending == scenarios.Open); {
		case isOpen && (c.Status().Phase == session.Serving || pl.isRefusing):
			admitted++
		case isOpen && c.HasAnswered():
			refused++
		}
	}
	if admitted == 0 && refused == 1 {
		return 0
	}
	return admitted + refused
}
