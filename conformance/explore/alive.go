package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/target/forward"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// alive reports whether the server answers on new connections, and did so all the time. It asks until the timeout.
// If it does not, and the reason is a limit of connections or that the server is slow, those of
// the play have ended.
func (p *playing) alive(ctx context.Context) bool { return p.serves(ctx) && p.outage == nil }

// serves is alive for a server that may have been unreachable: then it notes the outage.
func (p *playing) serves(ctx context.Context) bool {
	down, err := p.awake(ctx, p.timeout)
	if err == nil {
		if !down.IsZero() {
			p.outage = &play.Outage{From: down, To: time.Now()}
			p.inFlight = p.awaited()
		}
		return true
	}
	p.inFlight, p.mute = p.awaited(), p.mute || ctx.Err() == nil
	p.refusing = ctx.Err() != nil && forward.Refused(err)
	unheard := ctx.Err() == nil // within the timeout
	// A server of which one port answers and another does not is not slow.
	if p.limited(ctx) || p.unserved != scenarios.Consumer && p.slow(ctx) {
		return true
	}
	p.refusing = p.refusing || unheard && ctx.Err() != nil
	return ctx.Err() != nil // then the result is not needed
}

// slower is how many times longer than the timeout a server that does not answer is waited for, before it counts as
// dead.
const slower = 3

// slow reports whether a server that does not answer in time does so later. The connections of the play have ended
// then: whether what they await would have come is not known.
func (p *playing) slow(ctx context.Context) bool {
	p.close()
	patient := *p.config
	patient.timeout *= slower
	return newPlay(&patient, freshPrefix()).asks(ctx) == nil
}

// awake asks on new connections until one is answered, and returns why none was. down is when the first could not be
// opened; zero if all could.
func (p *playing) awake(ctx context.Context, limit time.Duration) (down time.Time, err error) {
	p.settle(ctx)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		tried := time.Now()
		if err = p.asks(limited); unreachable(err) && down.IsZero() {
			down = tried
		}
		if err == nil || p.gone() || !machine.Sleep(limited, 100*time.Millisecond) {
			return down, err
		}
	}
}

// Mortal is a target that may know that its server has ended, and is not started again: nothing is awaited of it then.
type Mortal interface {
	play.Target
	Gone() bool // it has ended by itself
}

// gone reports whether it is known that the server has ended.
func (c *config) gone() bool {
	target, is := c.target.(Mortal)
	return is && target.Gone()
}

// unreachable reports whether an error is that no connection could be opened: a server that is connected to, and does
// not answer, is not down but slow.
func unreachable(err error) bool { return err != nil && !errors.Is(err, errNoReply) }

// asks reports why a new connection is not answered, whatever the answer would be.
func (p *playing) asks(ctx context.Context) error {
	roles := []scenarios.Role{scenarios.Producer}
	if _, opens := p.subject.Dialect.(scenarios.Opener); opens { // workers may have a port of their own
		roles = append(roles, scenarios.Consumer)
	}
	for _, role := range roles {
		c, err := p.ask(ctx, role)
		if err != nil {
			p.unserved = role
			return err
		}
		_ = c.End(scenarios.Closed)
	}
	return nil
}

// ask returns a new connection that was answered.
func (p *playing) ask(ctx context.Context, role scenarios.Role) (*conn, error) {
	c, err := p.dial(ctx, noConn, &scenarios.Connect{Role: role})
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
func (p *playing) introduction(greeting session.Message) string {
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

var (
	errNoReply    = errors.New("no reply")
	errNotOffered = errors.New("the target does not support it")
)

// unheard returns the clause by which a server sends the first message, "" if it does not.
func (p *playing) unheard() string { return p.law.Clause(RuleUnheard) }

// probe makes it a finding if the server does not serve any more.
func (p *playing) probe(ctx context.Context, c *conn) {
	if !p.alive(ctx) {
		p.crashed(ctx, c, c.owed != 0)
	}
}

// crashed keeps the finding that the server lives no more. c is the connection that shows it; its command counts as the
// cause if the answer to that was owed, else the last command. A server that has never served has not crashed,
// and one that was asked to end may do so.
func (p *playing) crashed(ctx context.Context, c *conn, owed bool) {
	if p.dead || ctx.Err() != nil {
		return
	}
	p.dead, p.lost = true, p.deeds.Lost(ctx)
	switch {
	case p.lost != "":
	case p.ends:
	case !p.served && c.Conn != nil && c.clause == p.unheard():
		p.broken(c, p.silence(c), c.sent)
	case p.served:
		p.ended(c, owed)
	}
}

// ended keeps the finding of a crash.
func (p *playing) ended(c *conn, owed bool) {
	clause, about := p.last, p.step
	if owed && c.clause != p.unheard() || p.last == "" { // a server is not killed by a new connection
		clause = c.clause
	}
	if owed && c.awaited != "" {
		about = c.sent
	}
	v := &law.Violation{
		Clause: clause, Rule: RuleCrash, Expected: "a server that serves", Got: "no new connection is served",
	}
	if p.unserved == scenarios.Consumer {
		v.Got += " at the port for workers"
	}
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
func (p *playing) awaited() []string {
	var all []string
	for _, n := range slices.Sorted(maps.Keys(p.conns)) {
		if o := p.conns[n]; o.owed != 0 {
			all = append(all, o.awaited)
		}
	}
	return all
}

// How long a server may take to notice that connections have ended, and how many may not be
// noticed yet when another is opened.
const (
	recovers  = time.Second
	lingering = 3
)

// limited reports whether a server serves no new connection because of how many there are,
// however it shows that: it serves when those of the play have ended, and stops again at as
// many that do nothing. The connections of the play have ended then.
func (p *playing) limited(ctx context.Context) bool {
	open := len(p.conns)
	if open == 0 {
		return false
	}
	p.close()
	if _, err := p.awake(ctx, recovers); err != nil {
		return false
	}
	var idle []*conn
	defer func() {
		for _, c := range idle {
			_ = c.End(scenarios.Closed)
		}
	}()
	for n := range open + 1 + lingering {
		c, err := p.askAgain(ctx)
		if err != nil {
			p.most = n
			p.refused++
			return true
		}
		idle = append(idle, c)
	}
	return false
}

// askAgain is ask, again until the server has had time to notice the connections that have ended.
func (p *playing) askAgain(ctx context.Context) (c *conn, err error) {
	limited, cancel := context.WithTimeout(ctx, recovers)
	defer cancel()
	for {
		if c, err = p.ask(ctx, scenarios.Producer); err == nil || !machine.Sleep(limited, 100*time.Millisecond) {
			return c, err
		}
	}
}

// crowded reports whether a server declines the introduction of a client because of how many clients there are: it
// accepts the same line when the connections of the play have ended, and declines it again with as many that do
// nothing. They are of other clients first, and then of the same one, which may have two. Where it was not the number
// once, it is not looked for again.
func (p *playing) crowded(ctx context.Context, c *conn) bool {
	open, line := len(p.conns), c.introduction
	if open < 2 || line == "" || p.declines {
		return false
	}
	p.close()
	limited, cancel := context.WithTimeout(ctx, recovers)
	defer cancel()
	for p.admits(limited, line, 1, false) == 0 {
		if !machine.Sleep(limited, 100*time.Millisecond) {
			p.declines = ctx.Err() == nil
			return false
		}
	}
	for _, same := range []bool{false, true} {
		most := open + 1 + lingering
		if n := p.admits(ctx, line, most, same); n > b2i(same) && n < most {
			p.most = n
			p.refused++
			return true
		}
	}
	p.declines = true
	return false
}

// admits returns how many connections a server accepts an introduction on, at most as many as that. They are of one
// client or of as many; it is none that the play has met.
func (p *playing) admits(ctx context.Context, line string, most int, same bool) int {
	trial := newPlay(p.config, p.prefix)
	trial.trial = true
	defer trial.close()
	client := regexp.MustCompile(`\$` + p.grammar().Names.Client + `\d+`)
	for n := range most {
		number := trialNames + n
		if same {
			number = trialNames - 1
		}
		text := client.ReplaceAllLiteralString(line, fmt.Sprintf("$%s%d", p.grammar().Names.Client, number))
		c, err := trial.dial(ctx, n, asker())
		if err != nil {
			return n
		}
		trial.conns[n] = c
		trial.law.Open(n, time.Now())
		c.clause, c.judged = trial.unheard(), true
		if trial.readOwed(ctx, c); trial.conns[n] == c {
			trial.transmit(ctx, c, [][]byte{trial.line(trial.fill(text, n))}, 0, false)
			trial.readOwed(ctx, c)
		}
		if trial.conns[n] != c { // it is over
			return n
		}
	}
	return most
}

// trialNames is the number of the first client that only looks for a limit.
const trialNames = 2000000
