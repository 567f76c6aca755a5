package explore

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// alive reports whether the server answers on new connections, and did so all the time. It asks until the timeout.
// If it does not, and the reason is a limit of connections or that the server is slow, those of
// the play have ended.
func (p *play) alive(ctx context.Context) bool { return p.serves(ctx) && p.outage == nil }

// serves is alive for a server that may have been unreachable: then it notes the outage.
func (p *play) serves(ctx context.Context) bool {
	down, err := p.awake(ctx, p.timeout)
	if err == nil {
		if !down.IsZero() {
			p.outage = &scenarios.Outage{From: down, To: time.Now()}
			p.inFlight = p.awaited()
		}
		return true
	}
	p.inFlight, p.mute = p.awaited(), p.mute || ctx.Err() == nil
	return p.limited(ctx) || p.slow(ctx) || ctx.Err() != nil // then the result is not needed
}

// slower is how many times longer than the timeout a server that does not answer is waited for, before it counts as
// dead.
const slower = 3

// slow reports whether a server that does not answer in time does so later. The connections of the play have ended
// then: whether what they await would have come is not known.
func (p *play) slow(ctx context.Context) bool {
	p.close()
	patient := *p.config
	patient.timeout *= slower
	return newPlay(&patient, freshPrefix()).asks(ctx) == nil
}

// awake asks on new connections until one is answered, and returns why none was. down is when the first could not be
// opened; zero if all could.
func (p *play) awake(ctx context.Context, limit time.Duration) (down time.Time, err error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		tried := time.Now()
		if err = p.asks(limited); err != nil && !errors.Is(err, errNoReply) && down.IsZero() {
			down = tried
		}
		if err == nil || !sleep(limited, 100*time.Millisecond) {
			return down, err
		}
	}
}

// asks reports why a new connection is not answered, whatever the answer would be.
func (p *play) asks(ctx context.Context) error {
	c, err := p.ask(ctx)
	if err == nil {
		_ = c.End(scenarios.Closed)
	}
	return err
}

// ask returns a new connection that was answered.
func (p *play) ask(ctx context.Context) (*conn, error) {
	c, err := p.dial(ctx, noConn, asker())
	if err != nil {
		return nil, err
	}
	question := p.subject.Question
	if c.owed > 0 {
		a, err := c.Answer(ctx)
		if err != nil || !said(a) {
			_ = c.End(scenarios.Closed)
			return nil, errNoReply
		}
		if p.terms.Password != "" && a.Whole() {
			question = p.introduction(a.Message)
		}
	}
	if a, err := c.Ask(ctx, p.line(question)); err != nil || !said(a) {
		_ = c.End(scenarios.Closed)
		return nil, errNoReply
	}
	return c, nil
}

// introduction is how a client introduces itself behind a greeting, with the password: a server that closes the
// connection of one that it declines serves all the same.
func (p *play) introduction(greeting session.Message) string {
	const alone = 0 // the only connection of a law of its own
	law := p.subject.Start(p.terms)
	law.Open(alone, time.Now())
	law.Came(alone, greeting, time.Now())
	names := p.names
	names.value = law.Value
	return names.fill(law.Introduce(alone, &scenarios.Connect{Role: scenarios.Producer}), alone)
}

// said reports whether a message came, be it one that breaks the grammar.
func said(r session.Received) bool { return r.Whole() || r.Broken != nil }

var errNoReply = errors.New("no reply")

// unheard returns the clause by which a server sends the first message, "" if it does not.
func (p *play) unheard() string { return p.law.Clause(RuleUnheard) }

// probe makes it a finding if the server does not serve any more.
func (p *play) probe(ctx context.Context, c *conn) {
	if !p.alive(ctx) {
		p.crashed(ctx, c, c.owed != 0)
	}
}

// crashed keeps the finding that the server lives no more. c is the connection that shows it; its command counts as the
// cause if the answer to that was owed, else the last command. A server that has never served has not crashed,
// and one that was asked to end may do so.
func (p *play) crashed(ctx context.Context, c *conn, owed bool) {
	if p.dead || ctx.Err() != nil {
		return
	}
	p.dead = true
	switch {
	case p.ends:
	case !p.served && c.Conn != nil && c.clause == p.unheard():
		v := p.violation(RuleSilent, "<any>", "nothing within "+p.timeout.String())
		v.Clause = c.clause
		p.broken(c, v, c.sent)
	case p.served:
		p.ended(c, owed)
	}
}

// ended keeps the finding of a crash.
func (p *play) ended(c *conn, owed bool) {
	clause, about := p.last, p.step
	if owed && c.clause != p.unheard() || p.last == "" { // a server is not killed by a new connection
		clause = c.clause
	}
	if owed && c.awaited != "" {
		about = c.sent
	}
	v := &Violation{Clause: clause, Rule: RuleCrash, Expected: "a server that serves", Got: "no new connection is served"}
	if p.outage != nil {
		v.Got += " for a while"
	}
	p.record(c, event{parts: []string{v.Got}, violation: v})
	f := found{
		Violation: v, crash: true, step: p.step, about: about, conn: c.number, owing: p.inFlight, outage: p.outage,
	}
	if owed && !slices.Contains(f.owing, c.awaited) {
		f.owing = append(f.owing, c.awaited)
	}
	p.found = append(p.found, f)
}

// awaited returns the commands whose answers are owed.
func (p *play) awaited() []string {
	var all []string
	for _, n := range slices.Sorted(maps.Keys(p.conns)) {
		if o := p.conns[n]; o.owed != 0 {
			all = append(all, o.awaited)
		}
	}
	return all
}
