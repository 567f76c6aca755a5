package play

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/standstill"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// Target is a server under test. What else it can do shows in the optional
// interfaces [Restarter], [Killer] and [Signaller].
type Target interface {
	// Dial opens a connection, TLS included.
	Dial(ctx context.Context) (net.Conn, error)
}

// BackendTarget is a target where workers connect elsewhere than other clients. DialBackend is Dial for a worker.
type BackendTarget interface {
	DialBackend(ctx context.Context) (net.Conn, error)
}

// Restarter is a target that can be stopped in order and started again. Restart
// returns when that is done; the target need not accept connections yet.
type Restarter interface {
	Restart(ctx context.Context) error
}

// Killer is a target that can be stopped without warning and started again.
type Killer interface {
	Kill(ctx context.Context) error
}

// Signaller is a target whose operator can be asked to quiet or terminate the
// client of the given name; state is "quiet" or "terminate".
type Signaller interface {
	Signal(ctx context.Context, client, state string) error
}

// Meter measures how late this machine is. One serves all plays of a run.
type Meter = machine.Meter

// Player plays scripts. It may play several at once.
type Player struct {
	Target    Target
	Password  string             // of the target, empty if it has none
	Timeout   time.Duration      // the longest wait for a reply that has no window; [DefaultTimeout] if zero
	Patience  time.Duration      // for what the specification calls eventual; [DefaultPatience] if zero
	Quick     bool               // patience ends every wait for what is eventual, and then it is unsure, not missed
	Meter     *Meter             // nil: this machine is never late
	Peers     *PeerStats         // of all plays on the target; nil: of this one alone
	Observer  Observer           // receives everything that happens in a play; may be nil
	WatchLine func(reports.Line) // called with each line of the conversation as it happens, one at a time; may be nil

	// HasEnded reports whether the process of the target has ended, so that it will not serve again by itself; nil if that
	// is not known. Calls may overlap.
	HasEnded func() bool
}

// Observer receives what happens in a play, on connections of the engine's own too, before the play goes on. It is safe
// for concurrent use.
type Observer interface {
	// Dialed returns the observer of a new connection.
	Dialed(conn string) session.Observer
	// Operated is called before an operator acts, and with a kill behind a restart that was not seen to take effect.
	Operated(action target.Action, client string)
	// BrokenClause returns the clause that the message which a connection received at a time breaks whatever a line
	// expects there, and what was received; two empty texts if none is known.
	BrokenClause(conn string, at time.Time) (clause, got string)
}

// DefaultTimeout is how long a reply is waited for where nothing else is said.
const DefaultTimeout = 10 * time.Second

// Play plays one script; namePrefix begins every queue, job and worker id that it makes, of small letters, digits and
// dashes, and no other client may use it. Play blocks until the script is over, and ends early when ctx is done. All
// connections are closed when it returns.
func (p *Player) Play(ctx context.Context, s *scenarios.Script, namePrefix string) *Run {
	pl := &play{
		Player: *p, script: s, scope: scenarios.NewScope(namePrefix), conns: map[string]*conn{},
		rec: &recorder{start: time.Now(), watch: p.WatchLine}, results: map[scenarios.Step]*Result{},
		ledger: s.Dialect.NewLedger(), rounds: newRounds(s, p.Quick), assumptions: map[assumption]int{},
	}
	pl.Timeout = cmp.Or(p.Timeout, DefaultTimeout)
	pl.Patience = cmp.Or(p.Patience, scenarios.DefaultPatience)
	pl.Meter = cmp.Or(pl.Meter, new(machine.Meter))
	pl.Peers = cmp.Or(pl.Peers, new(PeerStats))
	pl.count = NewConnCounter(pl.Peers)
	th := &thread{play: pl, scope: pl.scope}
	err := th.steps(ctx, s.Steps)
	if err != nil && !errors.Is(err, errStop) {
		pl.err = err
	}
	conns := pl.countServed()
	pl.closeAll(ctx)
	pl.recheckServing(ctx, conns)
	leftover := pl.cleanup(ctx)
	return pl.run(leftover)
}

// play is one playing of a script.
type play struct {
	Player
	script *scenarios.Script
	scope  *scenarios.Scope
	rec    *recorder
	ledger scenarios.Ledger
	count  *ConnCounter
	rounds *rounds

	mu          sync.Mutex
	conns       map[string]*conn
	extra       []*conn // replaced and thread-owned connections, for hanging up
	results     map[scenarios.Step]*Result
	breaches    []scenarios.Breach
	slowAnswers []answer
	assumptions map[assumption]int // departures, by the line that showed them
	assuming    bool               // there was one, in this row of a table
	lapses      []scenarios.Breach // messages that were read in spite of their grammar, until they are in breaches
	lapsedRules []string           // the rules that messages broke so
	notServing  string             // why the server no longer serves, empty if it does
	openConns   int                // connections that were open before the server was asked last
	oldLook     standstill.Look    // at connections that were open before that
	isRefusing  bool               // a connection that asked last was accepted and ended, without a greeting
	err         error
}

func (pl *play) dialect() scenarios.Dialect  { return pl.script.Dialect }
func (pl *play) grammar() *scenarios.Grammar { return pl.script.Dialect.Grammar() }

// run collects what was seen, in the order of the script.
func (pl *play) run(leftover []string) *Run {
	r := &Run{Script: pl.script, LeftoverJobs: leftover, Remainder: pl.remainder(), Breaches: pl.breaches, Err: pl.err,
		Conversation: pl.rec.lines, Began: pl.rec.start, Took: time.Since(pl.rec.start), NotServing: pl.notServing,
		Looks:     standstill.Looks{Old: pl.oldLook, Admissions: int(pl.Peers.admissions.Load())},
		OpenConns: pl.openConns, Outage: pl.Peers.outageSince(pl.rec.start), Refusal: pl.count.Refusal()}
	for s := range pl.script.All() {
		if res := pl.results[s]; res != nil {
			r.Results = append(r.Results, *res)
		} else if marks, ok := scenarios.JudgedMarks(s); ok {
			r.Results = append(r.Results, Result{Pos: s.Place(), Marks: marks, Expected: scenarios.Expectation(s)})
		}
	}
	return r
}

// note keeps the result of a step; of repeated ones the worst, and the first
// of equals. One behind which the play did not go on counts for all.
func (pl *play) note(s scenarios.Step, res Result) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	old := pl.results[s]
	if old != nil && severity(res.Outcome) <= severity(old.Outcome) {
		old, res = &res, *old
	}
	res.IsAssumed = res.IsAssumed && (old == nil || old.IsAssumed || old.Outcome == Matched)
	pl.results[s] = &res
}

// breach keeps a departure. It is about what was received, or about what is missing when the time is over that a late
// machine gets as well: no lag is the reason.
func (pl *play) breach(b scenarios.Breach) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	pl.breaches = append(pl.breaches, b)
}

// closeAll closes every connection, all at once.
func (pl *play) closeAll(ctx context.Context) {
	var wg sync.WaitGroup
	for _, c := range append(pl.extra, pl.namedConns()...) {
		wg.Go(func() { c.leave(ctx) })
	}
	wg.Wait()
}

// namedConns lists the connections by name that are in use.
func (pl *play) namedConns() []*conn {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	return slices.SortedFunc(maps.Values(pl.conns), func(a, b *conn) int { return strings.Compare(a.name, b.name) })
}

// conn returns the named connection; it is opened raw at its first use.
func (th *thread) conn(ctx context.Context, name string) (*conn, error) {
	if th.ownConn != nil && (name == "" || th.block.By > 1) {
		if name != "" {
			return nil, fmt.Errorf("%d workers cannot share the connection %s", th.block.By, name)
		}
		return th.ownConn.c, nil
	}
	th.mu.Lock()
	c := th.conns[name]
	th.mu.Unlock()
	if c != nil {
		return c, nil
	}
	return th.dial(ctx, name, scenarios.Raw, nil)
}

// dial opens a connection under a name and greets unless it is raw.
func (th *thread) dial(ctx context.Context, name string, role scenarios.Role, hello *scenarios.Object) (*conn, error) {
	c, err := th.play.dial(ctx, name, role, hello)
	if err != nil {
		return nil, err
	}
	th.keep(c)
	if role == scenarios.Raw {
		return c, nil
	}
	return c, th.greet(ctx, c)
}

// keep files a connection under its name.
func (th *thread) keep(c *conn) {
	th.mu.Lock()
	defer th.mu.Unlock()
	if old := th.conns[c.name]; old != nil {
		th.extra = append(th.extra, old)
	}
	th.conns[c.name] = c
}

// reopen opens a connection anew, in its role, in the place of one that is over.
func (th *thread) reopen(ctx context.Context, old *conn) (*conn, error) {
	if th.ownConn == nil || th.ownConn.c != old {
		return th.dial(ctx, old.name, old.role, old.hello)
	}
	c, err := th.play.dial(ctx, old.name, old.role, old.hello)
	if err != nil {
		return nil, err
	}
	th.ownConn.c = c
	_ = old.End(scenarios.Closed) // it is over
	return c, th.greet(ctx, c)
}

// dial opens a connection and begins to record what it brings.
func (pl *play) dial(ctx context.Context, name string, role scenarios.Role, hello *scenarios.Object) (*conn, error) {
	dialing, cancel := context.WithTimeout(ctx, pl.Timeout)
	defer cancel()
	nc, protocol, err := pl.openConn(dialing, role, hello)
	if err != nil {
		if ctx.Err() == nil {
			pl.count.NotOpened(text.OfError(err))
		}
		return nil, &unservedError{service: connService, words: "connect: " + text.OfError(err)}
	}
	pl.Peers.services.note(connService)
	admission := pl.count.Opened()
	watch := func(a session.Received) {
		pl.decide(admission, a)
		pl.noteLapse(name, a)
		if !a.GaveUp {
			pl.rec.received(name, a)
		}
	}
	c := &conn{
		name: name, role: role, hello: hello, grammar: pl.grammar(), lastAlive: time.Now(), admission: admission,
	}
	c.recordSent = func(line string) { pl.rec.sending(name, line) }
	config := session.Config{
		Grace:   func(since time.Time) time.Duration { return machine.Grace(pl.Meter.Lag(since), pl.Timeout) },
		Timeout: pl.Timeout, OnReceived: watch, OnReadEnd: admission.End, Budget: &pl.Peers.budget, ToleratesLapses: true,
	}
	if pl.Observer != nil {
		config.Observer = pl.Observer.Dialed(name)
	}
	c.Conn = session.New(nc, protocol, config)
	c.state = c.State()
	return c, nil
}

// noConnection records that a connection could not be opened. The reason may be
// transient, a limit of the server, unless the server has never welcomed a client. If nothing
// listens any more, or no greeting comes although no other connection is open, the server may have ended.
func (th *thread) noConnection(ctx context.Context, s scenarios.Step, role scenarios.Role, err error) error {
	unserved, ok := errors.AsType[*unservedError](err)
	switch isNew := ok && (unserved.service == connService || unserved.service == greetingService); {
	case isNew && ctx.Err() == nil && th.Peers.OpenConns() == 0:
		th.serving(ctx, &conn{role: role}) // at the same port
	case isNew:
		th.noteOld(ctx)
	}
	if ctx.Err() != nil {
		return interruptError(ctx, s)
	}
	expected := "a " + role.String() + "'s connection"
	if _, unable := errors.AsType[*unableError](err); unable {
		return th.stopUnsure(s, s.Place(), nil, expected, doubt{"", false, err.Error()})
	}
	th.note(s, Result{Pos: s.Place(), Outcome: Mismatched, Setup: true, LacksConn: true,
		IsTransient: th.Peers.services.hasServed(welcomeService), Expected: expected, Got: err.Error()})
	return errStop
}

func (th *thread) connect(ctx context.Context, s *scenarios.Connect) error {
	if s.Conn == "" && th.block != nil && th.ownConn != nil {
		return th.fail(s, "a named connection", "in this block the connection without a name is the worker's")
	}
	if _, err := th.dial(ctx, s.Conn, s.Role, s.Hello); err != nil {
		return th.noConnection(ctx, s, s.Role, err)
	}
	return nil
}

// send writes a client line, or ends the connection.
func (th *thread) send(ctx context.Context, s *scenarios.Send) error {
	c, err := th.conn(ctx, s.Conn)
	if err != nil {
		return th.noConnection(ctx, s, scenarios.Raw, err)
	}
	if s.Ending != scenarios.Open {
		th.rec.keep(reports.Line{
			At: time.Since(th.rec.start), Conn: c.name, From: reports.FromClient, Text: s.Ending.String(), IsEnd: true,
		})
		c.isExcused.Store(true)
		if err := c.End(s.Ending); err != nil {
			return th.fail(s, s.Ending.String(), err.Error())
		}
		return nil
	}
	if c, err = th.readyConn(ctx, c, s); err != nil {
		return err
	}
	segments, err := th.renderer().Line(c.state, s)
	if err != nil {
		return th.fail(s, "a line to send", err.Error())
	}
	th.rec.sending(c.name, th.grammar().SentText(segments, s))
	if err := c.Write(ctx, segments, pauseBetween(s)); err != nil {
		th.rec.remark(c.name, err.Error())
	} // the next S: line reports why
	c.hasSent = true
	if stops := th.grammar().Verbs.Stop; stops != "" && th.grammar().VerbSent(bytes.Join(segments, nil)) == stops {
		th.excuse()
	}
	if c.role == scenarios.Consumer && c.Status().Verb == th.grammar().VerbOf(th.dialect().Probe(c.role, c.state)) {
		c.lastAlive = time.Now()
	}
	return nil
}

// readyConn checks a connection before the next line is sent on it: no unasked message may
// be there. A producer's connection that the server closed while it was idle is opened
// again, which the specification allows.
func (th *thread) readyConn(ctx context.Context, c *conn, s *scenarios.Send) (*conn, error) {
	if c.unjudged != nil {
		return nil, th.stopUnsure(s, s.Pos, nil, "", *c.unjudged)
	}
	a, ok := c.Poll()
	switch {
	case !ok || c.Status().OwedMessages > 0 || a.Role == session.Notice:
		return c, nil
	case a.Ending != scenarios.Open && c.role == scenarios.Producer && !c.isExcused.Load():
		th.rec.remark(c.name, "the server closed the idle connection of a producer, which is allowed: reconnecting")
		next, err := th.reopen(ctx, c)
		if err != nil {
			return nil, th.noConnection(ctx, s, c.role, err)
		}
		return next, nil
	case a.Ending != scenarios.Open && c.Ending() == scenarios.Open: // the next S: line reports the end
		return c, nil
	case a.Ending != scenarios.Open:
		return nil, th.stopUnsure(s, s.Pos, nil, "", doubt{SetUp, false, "the connection has ended"})
	case a.Broken != nil:
		th.noteBroken(c, s.Pos, a)
	case th.isTurnedAway(c, a):
		return nil, th.stopUnsure(s, s.Pos, nil, "", *c.unjudged)
	default:
		th.breachOn(c, s.Pos, a, scenarios.Breach{Kind: c.surplus(a), Expected: "no data before the next command"})
	}
	return nil, th.stopUnsure(s, s.Pos, nil, "", doubt{SetUp, true, "the server sent data without a command"})
}

// stopUnsure stops at a step that cannot be evaluated because of something else.
func (th *thread) stopUnsure(s scenarios.Step, at scenarios.Pos, marks []scenarios.ClauseMark, expected string,
	reason doubt) error {
	r := Result{Pos: at, Marks: marks, Expected: expected}
	r.makeUnsure(reason)
	th.note(s, r)
	return errStop
}
