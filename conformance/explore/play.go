package explore

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// play is one playing of steps on a server, with a law of its own.
type play struct {
	*config
	names
	terms    Terms
	law      Law
	pusher   Pusher // the law, if the server sends messages that answer no command; else nil
	conns    map[int]*conn
	found    []found
	seen     []seen   // what each step was answered with
	events   *[]event // what clients saw on connections; nil: it is not kept
	step     int      // the one that is being played
	cover    *Coverage
	commands int
	most     int  // connections that the server serves at a time; zero if no limit was met
	refused  int  // how often that limit was met
	declines bool // introductions are declined, and not because of the number of clients
	trial    bool // it only looks for a limit
	dead     bool
	outage   *scenarios.Outage // it is dead only in that nothing is known of it: it serves again
	served   bool              // some command was answered
	mute     bool              // a new connection got no reply within the timeout
	cut      bool              // the line that is being played came in segments
	last     string            // the clause of what was sent last
	inFlight []string          // the commands whose answers were owed when the server was seen not to serve
	ends     bool              // the server was sent what it may end for
	fuzzing  bool              // bytes were sent, and whether the server survives them is not known yet
}

// found is a violation where it came up.
type found struct {
	*Violation
	crash bool
	step  int // that was being played
	about int // the step that sent what was answered wrongly; the same in most cases
	conn  int
	owing []string // the texts of commands whose answers were awaited

	outage *scenarios.Outage // of a crash after which the server served again by itself
}

// seen is one reply.
type seen struct {
	Answer
	step, conn int
	round      int // of a repetition
	order      int // among all answers of the play
}

// config is what all plays of an exploration share.
type config struct {
	subject *Subject
	target  scenarios.Target
	terms   Terms         // but for the prefix
	timeout time.Duration // the longest wait for a reply
	budget  *session.Budget
}

// grammar is what the texts of the subject may have.
func (c *config) grammar() *scenarios.Grammar { return c.subject.Dialect.Grammar() }

func newPlay(c *config, prefix string) *play {
	p := &play{config: c, terms: c.terms, conns: map[int]*conn{}}
	p.terms.Prefix = prefix
	p.law = c.subject.Start(p.terms)
	p.pusher, _ = p.law.(Pusher)
	p.names = names{
		dialect: c.subject.Dialect, jobs: c.subject.Jobs, prefix: prefix,
		times: map[string]string{}, value: p.law.Value, now: time.Now(),
	}
	return p
}

// do plays one step. What other connections have brought is taken in before, but not
// between fuzzed bytes and the new connection that shows whether the server has survived
// them: it is there that a crash is to be seen.
func (p *play) do(ctx context.Context, s *Step) {
	if s.Sends() != nil {
		p.fuzzing = s.wild()
	}
	if !p.fuzzing {
		p.poll(ctx)
	}
	p.now = time.Now()
	switch do := s.Do.(type) {
	case *scenarios.Connect:
		p.open(ctx, s.Conn(), do)
		p.fuzzing = false
	case *scenarios.Silence:
		p.wait(ctx, do.For)
	case *scenarios.Operate:
		p.operate(ctx, do)
	default:
		if c := p.conns[s.Conn()]; c != nil { // else it has ended before its time
			p.on(ctx, c, s)
		}
	}
	p.pushed(ctx, s)
}

// on plays a step on an open connection.
func (p *play) on(ctx context.Context, c *conn, s *Step) {
	do, sends := s.Do.(*scenarios.Send)
	switch {
	case !sends:
		p.settle(ctx, c)
	case do.Ending == scenarios.Open:
		p.send(ctx, c, s)
	default:
		p.end(ctx, c, do.Ending)
	}
}

// open begins a connection and introduces the client on it.
func (p *play) open(ctx context.Context, number int, do *scenarios.Connect) {
	if old := p.conns[number]; old != nil {
		p.end(ctx, old, scenarios.Closed)
	}
	c, err := p.dial(ctx, number, do)
	if err != nil {
		p.probe(ctx, &conn{number: number, clause: p.unheard()})
		return
	}
	p.conns[number] = c
	p.law.Open(number, time.Now())
	c.sent, c.opened, c.clause, c.judged = p.step, p.step, p.unheard(), true
	if p.settle(ctx, c); p.conns[number] != c {
		return
	}
	if line := p.law.Introduce(number, do); line != "" {
		c.introduction = line
		p.transmit(ctx, c, [][]byte{p.line(p.fill(line, number))}, 0, false)
		p.settle(ctx, c)
	}
}

// violated keeps a violation that shows while a step is played.
func (p *play) violated(c *conn, v *Violation) {
	if v != nil {
		p.record(c, event{parts: []string{v.Got}, violation: v})
	}
	p.broken(c, v, p.step)
}

// broken keeps a violation that is about what a step has sent, and stops judging its job:
// one fault is reported once.
func (p *play) broken(c *conn, v *Violation, step int) {
	if v == nil {
		return
	}
	switch {
	case p.cut && (v.Rule == "refused" || v.Rule == "reply"): // or it is refused in one piece too
		v.Clause, v.Doubtful = p.law.Clause(RuleCut), true
	case c.pieces > 0 && v.Rule == RuleExtra:
		v.Clause = p.law.Clause(RuleCut)
	}
	owing := append([]string{c.awaited}, p.awaited()...)
	p.found = append(p.found, found{Violation: v, step: p.step, about: step, conn: c.number, owing: owing})
	if v.JID != "" && v.Rule != "order" { // a job that was passed over may be lost, which shows later
		p.law.Unjudge(v.JID)
	}
}

// drop ends a connection from our side.
func (p *play) drop(c *conn, how scenarios.Ending) {
	if p.conns[c.number] != c {
		return
	}
	p.forget(c)
	_ = p.law.Close(c.number, false, time.Now()) // what clients end themselves is no violation
	_ = c.End(how)                               // how the server takes it does not matter any more
}

// forget removes a connection that has ended, from whichever side.
func (p *play) forget(c *conn) {
	delete(p.conns, c.number)
	c.owed = 0
}

// end plays an End.
func (p *play) end(ctx context.Context, c *conn, how scenarios.Ending) {
	if how == scenarios.HalfShut && c.End(how) != nil { // this kind of connection has no half-close
		how = scenarios.Closed
	}
	if how != scenarios.HalfShut {
		p.drop(c, how)
		return
	}
	c.shut = true
	p.law.Shut(c.number)
	switch {
	case c.wild:
		p.hear(ctx, c, attention)
	case c.owed > 0:
		p.halfway(ctx, c)
	}
	p.drop(c, scenarios.Closed)
}

// wait lets time pass; workers beat, and nothing may come unasked.
func (p *play) wait(ctx context.Context, d time.Duration) {
	const every = 15 * time.Second
	for d > 0 && ctx.Err() == nil {
		part := min(d, every)
		if !sleep(ctx, part) {
			return
		}
		d -= part
		if p.fuzzing {
			continue
		}
		p.poll(ctx)
		for _, n := range slices.Sorted(maps.Keys(p.conns)) {
			c := p.conns[n]
			if c == nil || c.owed != 0 || c.odd {
				continue
			}
			if line := p.law.Heartbeat(n, time.Now()); line != "" {
				c.awaited = line
				p.transmit(ctx, c, [][]byte{p.line(line)}, 0, false)
				p.settle(ctx, c)
			}
		}
	}
}

// close ends all connections.
func (p *play) close() {
	for _, n := range slices.Sorted(maps.Keys(p.conns)) {
		c := p.conns[n]
		if line := c.Farewell(); line != nil && p.pushes() { // else the server would send messages to a client that is gone
			_ = c.Write(context.Background(), [][]byte{line}, 0) // within the timeout
		}
		p.drop(c, scenarios.Closed)
	}
}
