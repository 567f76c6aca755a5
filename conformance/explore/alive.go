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
	"github.com/fwpsuite/fwp/internal/standstill"
	"github.com/fwpsuite/fwp/internal/target/forward"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// isAlive reports whether the server answers on new connections, and did so all the time. It asks until the timeout.
// If it does not, and the reason is a limit of connections or that the server is slow, those of
// the play have ended.
func (p *playthrough) isAlive(ctx context.Context) bool { return p.serves(ctx) && p.outage == nil }

// serves is alive for a server that may have been unreachable: then it notes the outage.
func (p *playthrough) serves(ctx context.Context) bool {
	downSince, err := p.awaitServing(ctx, p.timeout)
	if err == nil {
		if !downSince.IsZero() {
			p.outage = &play.Outage{From: downSince, To: time.Now()}
			p.inFlight = p.awaited()
		}
		return true
	}
	p.inFlight, p.isMute = p.awaited(), p.isMute || ctx.Err() == nil
	p.isRefusing = ctx.Err() != nil && forward.IsConnRefused(err)
	unheard := ctx.Err() == nil // within the timeout
	p.looks = standstill.Looks{Old: p.lookAtOld(ctx)}
	// A server of which one port answers and another does not is not slow.
	if p.meetsLimit(ctx) || p.unserved != scenarios.Consumer && p.isSlow(ctx) {
		return true
	}
	p.isRefusing = p.isRefusing || unheard && ctx.Err() != nil
	return ctx.Err() != nil // then the result is not needed
}

// slowFactor is how many times longer than the timeout a server that does not answer is waited for, before it counts as
// dead.
const slowFactor = 3

// isSlow reports whether a server that does not answer in time does so later. The connections of the play have ended
// then: whether what they await would have come is not known.
func (p *playthrough) isSlow(ctx context.Context) bool {
	p.close()
	patient := *p.config
	patient.timeout *= slowFactor
	return newPlay(&patient, newPrefix()).askRoles(ctx) == nil
}

// awaitServing asks on new connections until one is answered, and returns why none was. down is when the first could
// not be opened; zero if all could.
func (p *playthrough) awaitServing(ctx context.Context, limit time.Duration) (downSince time.Time, err error) {
	p.settle(ctx)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		start := time.Now()
		if err = p.askRoles(limited); isUnreachable(err) && downSince.IsZero() {
			downSince = start
		}
		if err == nil || p.hasEnded() || !machine.Sleep(limited, 100*time.Millisecond) {
			return downSince, err
		}
	}
}

// Mortal is a target that may know that its server has ended, and is not started again: nothing is awaited of it then.
type Mortal interface {
	play.Target
	HasDied() bool // it has ended by itself
}

// hasEnded reports whether it is known that the server has ended.
func (c *config) hasEnded() bool {
	target, ok := c.target.(Mortal)
	return ok && target.HasDied()
}

// isUnreachable reports whether an error is that no connection could be opened: a server that is connected to, and does
// not answer, is not down but slow.
func isUnreachable(err error) bool { return err != nil && !errors.Is(err, errNoReply) }

// askRoles reports why a new connection is not answered, whatever the answer would be.
func (p *playthrough) askRoles(ctx context.Context) error {
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
func (p *playthrough) ask(ctx context.Context, role scenarios.Role) (*conn, error) {
	c, err := p.dial(ctx, noConn, &scenarios.Connect{Role: role})
	if err != nil {
		return nil, err
	}
	question := p.subject.ProbeCommand
	if c.dueReplies > 0 {
		a, err := c.Answer(ctx)
		if err != nil || !hasMessage(a) {
			_ = c.End(scenarios.Closed)
			return nil, errNoReply
		}
		if p.terms.Password != "" && a.IsComplete() {
			question = p.introduction(a.Message)
		}
	}
	if a, err := c.Ask(ctx, p.line(question)); err != nil || !hasMessage(a) {
		_ = c.End(scenarios.Closed)
		return nil, errNoReply
	}
	return c, nil
}

// introduction is how a client introduces itself behind a greeting, with the password: a server that closes the
// connection of one that it declines serves all the same.
func (p *playthrough) introduction(greeting session.Message) string {
	const number = 0 // the only connection of a law of its own
	law := p.subject.Start(p.terms)
	law.Open(number, time.Now())
	law.Judge(number, greeting, time.Now())
	names := p.names
	names.value = law.Value
	return names.fill(law.Introduce(number, &scenarios.Connect{Role: scenarios.Producer}), number)
}

// hasMessage reports whether a message came, be it one that breaks the grammar.
func hasMessage(r session.Received) bool { return r.IsComplete() || r.Broken != nil }

var (
	errNoReply    = errors.New("no reply")
	errNotOffered = errors.New("the target does not support it")
)

// greetingClause returns the clause by which a server sends the first message, "" if it does not.
func (p *playthrough) greetingClause() string { return p.law.Clause(RuleNoGreeting) }

// probe makes it a finding if the server does not serve any more.
func (p *playthrough) probe(ctx context.Context, c *conn) {
	if !p.isAlive(ctx) {
		p.noteCrash(ctx, c, c.dueReplies != 0)
	}
}

// noteCrash keeps the finding that the server lives no more. c is the connection that shows it; its command counts as
// the cause if the answer to that was owed, else the last command. A server that has never served has not crashed,
// and one that was asked to end may do so.
func (p *playthrough) noteCrash(ctx context.Context, c *conn, owesReply bool) {
	if p.isDead || ctx.Err() != nil {
		return
	}
	p.isDead, p.lostReason = true, p.forwarded.LossReason(ctx)
	switch {
	case p.lostReason != "":
	case p.mayEnd:
	case !p.hasServed && c.Conn != nil && c.clause == p.greetingClause():
		p.addSighting(c, p.silence(c), c.sentStep)
	case p.hasServed:
		p.lookAtNew(ctx)
		p.addCrash(c, owesReply)
	}
}

// addCrash keeps the finding of a crash.
func (p *playthrough) addCrash(c *conn, owesReply bool) {
	clause, wrongStep := p.last, p.step
	if owesReply && c.clause != p.greetingClause() || p.last == "" { // a server is not killed by a new connection
		clause = c.clause
	}
	if owesReply && c.awaited != "" {
		wrongStep = c.sentStep
	}
	if p.looks.Way().Lives() { // no command is known to be the reason
		clause = ""
	}
	v := &law.Violation{Clause: clause, Rule: RuleCrash, Expected: "a server that serves", Got: p.unservedWords()}
	if p.outage != nil {
		v.Got += " for a while"
	}
	p.record(c, event{parts: []string{v.Got}, violation: v})
	f := sighting{
		Violation: v, crash: true, step: p.step, wrongStep: wrongStep, conn: c.number, owing: p.inFlight, outage: p.outage,
		looks: p.looks,
	}
	if owesReply && !slices.Contains(f.owing, c.awaited) {
		f.owing = append(f.owing, c.awaited)
	}
	p.sightings = append(p.sightings, f)
}

// awaited returns the commands whose answers are owed.
func (p *playthrough) awaited() []string {
	var all []string
	for _, n := range slices.Sorted(maps.Keys(p.conns)) {
		if o := p.conns[n]; o.dueReplies != 0 {
			all = append(all, o.awaited)
		}
	}
	return all
}

// How long a server may take to notice that connections have ended, and how many may not be
// noticed yet when another is opened.
const (
	recoveryTime = time.Second
	maxLingering = 3
)

// meetsLimit reports whether a server serves no new connection because of how many there are,
// however it shows that: it serves when those of the play have ended, and stops again at as
// many that do nothing. The connections of the play have ended then.
func (p *playthrough) meetsLimit(ctx context.Context) bool {
	conns := len(p.conns)
	if conns == 0 {
		return false
	}
	p.close()
	if _, err := p.awaitServing(ctx, recoveryTime); err != nil {
		return false
	}
	var clients []*conn
	defer func() {
		for _, c := range clients {
			_ = c.End(scenarios.Closed)
		}
	}()
	for n := range conns + 1 + maxLingering {
		c, err := p.askAgain(ctx)
		if err != nil {
			p.limit = n
			p.limitHits++
			return true
		}
		clients = append(clients, c)
	}
	return false
}

// askAgain asks as ask does, and again until the server has had time to notice the connections that have ended.
func (p *playthrough) askAgain(ctx context.Context) (c *conn, err error) {
	limited, cancel := context.WithTimeout(ctx, recoveryTime)
	defer cancel()
	for {
		if c, err = p.ask(ctx, scenarios.Producer); err == nil || !machine.Sleep(limited, 100*time.Millisecond) {
			return c, err
		}
	}
}

// meetsClientLimit reports whether a server declines the introduction of a client because of how many clients there
// are: it accepts the same line when the connections of the play have ended, and declines it again with as many that do
// nothing. They are of other clients first, and then of the same one, which may have two. Where it was not the number
// once, it is not looked for again.
func (p *playthrough) meetsClientLimit(ctx context.Context, c *conn) bool {
	conns, line := len(p.conns), c.introduction
	if conns < 2 || line == "" || p.declines {
		return false
	}
	p.close()
	limited, cancel := context.WithTimeout(ctx, recoveryTime)
	defer cancel()
	for p.countAdmitted(limited, line, 1, false) == 0 {
		if !machine.Sleep(limited, 100*time.Millisecond) {
			p.declines = ctx.Err() == nil
			return false
		}
	}
	for _, isSameClient := range []bool{false, true} {
		limit := conns + 1 + maxLingering
		if n := p.countAdmitted(ctx, line, limit, isSameClient); n > b2i(isSameClient) && n < limit {
			p.limit = n
			p.limitHits++
			return true
		}
	}
	p.declines = true
	return false
}

// countAdmitted returns how many connections a server accepts an introduction on, at most as many as that. They are of
// one client or of as many; it is none that the play has met.
func (p *playthrough) countAdmitted(ctx context.Context, line string, limit int, isSameClient bool) int {
	trial := newPlay(p.config, p.prefix)
	trial.isTrial = true
	defer trial.close()
	client := regexp.MustCompile(`\$` + p.grammar().Names.Client + `\d+`)
	for n := range limit {
		number := trialNames + n
		if isSameClient {
			number = trialNames - 1
		}
		text := client.ReplaceAllLiteralString(line, fmt.Sprintf("$%s%d", p.grammar().Names.Client, number))
		c, err := trial.dial(ctx, n, asker())
		if err != nil {
			return n
		}
		trial.conns[n] = c
		trial.law.Open(n, time.Now())
		c.clause, c.isJudged = trial.greetingClause(), true
		if trial.readReplies(ctx, c); trial.conns[n] == c {
			trial.transmit(ctx, c, [][]byte{trial.line(trial.fill(text, n))}, 0, false)
			trial.readReplies(ctx, c)
		}
		if trial.conns[n] != c { // it is over
			return n
		}
	}
	return limit
}

// trialNames is the number of the first client that only looks for a limit.
const trialNames = 2000000
