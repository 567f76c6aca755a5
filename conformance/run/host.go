package run

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/standstill"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// host is a server that checks share, and its state. Except for peers, only the
// loop of the run uses it.
type host struct {
	Server
	peers      play.PeerStats
	lawHistory *law.History // of the laws of all plays

	connLimit     int  // connections of checks at a time: half as many when it refuses one
	refusesAlways bool // it refuses a connection also where no other is open: that is no limit

	running         []*task // on it
	endedSinceDeath []*task // that ended since one found it dead

	isDown       bool   // it served no more when the last play was over
	killer       string // the check that ended it last
	lostReason   string // why no more checks are played on it, empty if they are
	crash        *crash // whose checks are played again, each alone and before all others
	closedTries  []*closedTry
	crashes      int
	remainders   []remainder // of the plays since the server was started
	hostileTasks []*task     // of a server that hostile checks have one after the other: these, in their order

	lifetimes []time.Duration // of its processes that have ended by themselves
	suspects  []string        // the checks that ran at each of these ends
	blamed    []*task         // that were filed as the reason of one

	end func() // ends it; nil: it is not of this run

	mu        sync.Mutex
	idleHosts []*host // servers like it that hostile checks have survived
}

// maxConns is how many connections the checks on one server may have open at a
// time, as long as it refuses none.
const maxConns = 400

func newHost(server Server) *host {
	h := &host{Server: server, lawHistory: law.NewHistory(), connLimit: maxConns}
	if server.StartServer != nil && slices.Contains(server.Offers, scenarios.NeedAlone) {
		h.lawHistory = law.NewExclusiveHistory() // it was started as others can be
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

// release ends a server that borrow has returned for a check, or keeps it for the next. Calls may be concurrent.
func (h *host) release(other *host, t *task, keep bool) {
	if !keep {
		other.end()
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	other.hostileTasks = append(other.hostileTasks, t)
	h.idleHosts = append(h.idleHosts, other)
}

// hasRoomFor reports whether a check may begin on the host, in addition to those that run. In a quick run what waits
// long does not hold up the later phases.
func (h *host) hasRoomFor(t *task, s *runState) bool {
	if len(h.endedSinceDeath) > 0 || h.crash != nil && !t.isSuspect {
		return false
	}
	for _, other := range h.running {
		if !s.fitsWith(t, other) {
			return false
		}
	}
	return len(h.running) == 0 || h.conns()+t.description.Connections <= h.connLimit
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
	needsPause := !t.spares() && (t.description.SendsCount || other.description.SendsCount)
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
		h.lawHistory.Killed()
	}
}

// halve lets the checks on a host have half as many connections at a time as were there beside one that was refused.
func (h *host) halve(t *task) { h.connLimit = min(h.connLimit, max(1, t.conns/2)) }

// look adds to what was seen of a host that does not serve what its process and new connections show. No play may run
// on it.
func (s *runState) look(ctx context.Context, h *host, looks standstill.Looks) standstill.Looks {
	if h.Ended != nil {
		if _, _, hasEnded := h.Ended(); hasEnded {
			looks.Process = standstill.Gone
			return looks
		}
	}
	if h.PID != nil {
		if looks.PID = h.PID(); looks.PID > 0 {
			looks.Process = standstill.Live
		}
	}
	return s.asker(h, nil).Look(ctx, s.runner.Suite.Dialect, looks)
}

// lookAtDead takes the looks at a host that some of these plays have found dead, when none runs there any more.
func (s *runState) lookAtDead(ctx context.Context, h *host, plays ...*task) {
	var looks standstill.Looks
	isDead := false
	for _, t := range plays {
		if t.evidence.HasRecovered {
			return
		}
		looks, isDead = looks.Merge(t.evidence.Looks), isDead || t.evidence.DeadReason != ""
	}
	if !isDead {
		return
	}
	looks = s.look(ctx, h, looks)
	h.noteEnd(&looks, idsOf(plays))
	for _, t := range plays {
		t.evidence.Looks = looks
	}
}

// noteEnd notes how long a process lived that has ended while some checks ran. Where one of them ran at each end it may
// be the reason.
func (h *host) noteEnd(looks *standstill.Looks, checks []string) {
	if looks.Process != standstill.Gone || h.Lifetime == nil {
		return
	}
	if span := h.Lifetime(); span > 0 && !slices.Contains(h.lifetimes, span) {
		if h.lifetimes = append(h.lifetimes, span); len(h.lifetimes) == 1 {
			h.suspects = checks
		}
		h.suspects = slices.DeleteFunc(h.suspects, func(id string) bool { return !slices.Contains(checks, id) })
	}
	if len(h.suspects) == 0 {
		looks.Lifetimes = slices.Clone(h.lifetimes)
	}
}

// withdrawBlame takes back what was filed against checks of a host whose process ends by itself, whatever is sent.
func (s *runState) withdrawBlame(h *host) {
	looks := standstill.Looks{Process: standstill.Gone, Lifetimes: h.lifetimes}
	if len(h.suspects) > 0 || looks.Way() != standstill.ShortLived {
		return
	}
	for _, t := range h.blamed {
		s.results[t.place][t.round] = s.withoutResult(t.description, reports.Inconclusive,
			cause{reason: reports.ReasonNotServing, words: looks.String()}, "")
	}
	// The other hosts run the same program.
	s.crashes = slices.DeleteFunc(s.crashes, func(c crash) bool { return c.Looks.Process == standstill.Gone })
	s.addCrash(crash{Evidence: conformance.Evidence{DeadReason: looks.String(), Looks: looks}})
}

// lookAtRefusal takes the looks at a host behind a check that was alone there and was refused a connection beside its
// own: the host has a limit, lets connections wait, or serves no more.
func (s *runState) lookAtRefusal(ctx context.Context, h *host, t *task) {
	e := t.evidence
	r := e.Refusal
	if r == nil || r.OwnConns == 0 || e.DeadReason != "" || e.Passed() || t.isShared {
		return
	}
	machine.Sleep(ctx, play.CloseLatency)
	e.Looks.Room = r.AllConns
	if e.Looks = s.look(ctx, h, e.Looks); e.Looks.Way() == standstill.Closed || e.Looks.Way() == standstill.Hanging {
		e.DeadReason = "no new connection is served: " + r.Got
	}
}

// askLast asks each host at the end of a run: one that accepts no connection then is a crash, whatever passed there.
func (s *runState) askLast(ctx context.Context, h *host) {
	if h.lostReason != "" || h.isDown || ctx.Err() != nil {
		return
	}
	reason := s.asker(h, nil).DeadReason(ctx, s.runner.Suite.Dialect)
	if reason == "" {
		return
	}
	if reason := lostBefore(ctx, h); reason != "" {
		s.noteInternalError(&UnservedError{Cause: errors.New(reason)})
		return
	}
	e := conformance.Evidence{DeadReason: reason, Looks: s.look(ctx, h, standstill.Looks{})}
	e.Ending, e.ShortEnding = h.ending()
	if h.Printed != nil && e.Ending == "" {
		e.Printed = h.Printed(s.start, time.Now())
	}
	s.addCrash(crash{Evidence: e})
}

// A script ends with the last job that it waits for. What a server does with a job later shows when all its queues
// are asked once more: those of a server for one check when that is over, and all others at the end of the run.

// copyTime is how long after the end of a script a job may come a second time: servers look for what is due every few
// seconds. A quick run does not wait for it.
const copyTime = 5 * time.Second

// remainder is a play whose queues are to be asked.
type remainder struct {
	description conformance.Description
	evidence    *conformance.Evidence
	ended       time.Time
}

// sweepOwn asks the queues of a play once more on a server that ends with it.
func (s *runState) sweepOwn(ctx context.Context, t *task, e *conformance.Evidence) {
	if s.runner.Quick || t.host != nil || t.lends() || e.Remainder == nil || e.DeadReason != "" ||
		!machine.Sleep(ctx, copyTime) {
		return
	}
	conformance.Sweep(ctx, []*conformance.Remainder{e.Remainder})
	e.Follow()
}

// keepRemainder has the queues of a play asked at the end of the run. Nothing is promised of the end of a job that was
// there before the server was stopped.
func (s *runState) keepRemainder(t *task) {
	h, e := t.server, t.evidence
	isStop := func(n scenarios.Need) bool { return n == scenarios.NeedRestart || n == scenarios.NeedKill }
	if e.DeadReason != "" || e.HasRecovered || slices.ContainsFunc(t.description.Needs, isStop) {
		h.remainders = nil
	}
	if (t.host != nil || t.lends()) && e.Remainder != nil && e.DeadReason == "" && !e.HasRecovered {
		h.remainders = append(h.remainders, remainder{t.description, e, time.Now()})
	}
}

// sweepAll asks the queues of all plays once more, on the servers that are there still.
func (s *runState) sweepAll(ctx context.Context) {
	for _, h := range s.hosts {
		for _, other := range append(slices.Clone(h.idleHosts), h) {
			if ctx.Err() == nil && s.stopReason == "" && !other.isDown && other.lostReason == "" && other.crash == nil {
				s.sweep(ctx, other)
			}
		}
	}
}

// sweep asks the queues of the plays on a server.
func (s *runState) sweep(ctx context.Context, h *host) {
	if len(h.remainders) == 0 {
		return
	}
	if last := h.remainders[len(h.remainders)-1].ended; !s.runner.Quick {
		machine.Sleep(ctx, time.Until(last.Add(copyTime)))
	}
	all := make([]*conformance.Remainder, len(h.remainders))
	for i, r := range h.remainders {
		all[i] = r.evidence.Remainder
	}
	conformance.Sweep(ctx, all)
	for _, r := range h.remainders {
		s.law.takeFurther(r.description, r.evidence, r.evidence.Follow())
	}
}

// takeFurther keeps what the law has found when a play was over.
func (l *lawResults) takeFurther(description conformance.Description, e *conformance.Evidence, all []law.Occurrence) {
	for _, v := range all {
		l.tally.Add(law.Tally{Rules: map[string]law.Rate{v.Rule: {Breaches: 1, Clauses: map[string]int{v.Clause: 1}}}})
		key := lawKey{v.Rule, v.Clause}
		switch f := l.findings[key]; {
		case l.isReported(e, v):
		case f == nil:
			l.findings[key] = &lawFinding{Occurrence: v, description: description, first: e, shownPlays: 1, isFurther: true}
		case f.isConfirmedBy(description, v):
			f.shownPlays++
		}
	}
}
