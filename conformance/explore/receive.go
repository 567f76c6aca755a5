package explore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// readOwed awaits the answers that a connection owes.
func (p *playing) readOwed(ctx context.Context, c *conn) {
	if c.owed != 0 || c.unbounded {
		p.settle(ctx)
	}
	switch {
	case c.unbounded:
		p.readReply(ctx, c)
		return
	case c.owed < 0:
		p.drainUnjudged(ctx, c)
		return
	}
	for c.owed > 0 && p.conns[c.number] == c {
		hurried := p.hurries != nil && p.idle(c) && p.hurries(p)
		limit := p.timeout
		if hurried {
			limit = min(limit, idleWait)
		}
		switch a, came := c.within(ctx, limit); {
		case came:
			p.arrived(ctx, c, a)
		case ctx.Err() != nil:
			c.owed = 0
		case hurried:
			p.stalled = true
			p.drop(c, scenarios.Closed)
		default:
			p.silent(ctx, c)
		}
	}
}

// idle reports whether a connection owes an answer that waits for what cannot come, as far as the law knows.
func (p *playing) idle(c *conn) bool {
	idler, is := p.law.(law.Idler)
	return is && c.owed > 0 && idler.Idle(c.number, time.Now())
}

// idleWait is how long a try that may not wait for jobs waits for one that cannot come.
const idleWait = 250 * time.Millisecond

// How long the player reads from a connection on which any number of answers may come: for
// the first one, and for another one.
const (
	firstReplyWait = 50 * time.Millisecond
	nextReplyWait  = 20 * time.Millisecond
)

// drainUnjudged reads what comes on a connection that was sent something odd, and ends it. Only
// the first answer is judged, if that can be.
func (p *playing) drainUnjudged(ctx context.Context, c *conn) {
	limit := min(time.Second, p.timeout)
	if c.judged {
		limit = p.timeout
	}
	for ; c.owed < 0; c.owed++ {
		a, came := c.within(ctx, limit)
		if !came {
			if limit != nextReplyWait {
				p.probe(ctx, c)
			}
			break
		}
		if !a.Whole() {
			p.over(ctx, c, a)
			return
		}
		if c.judged {
			answer := p.law.Came(c.number, a.Message, a.At)
			p.answered(c, answer)
			p.broken(c, answer.Violation, p.step)
			c.judged = false
		}
		limit = nextReplyWait
	}
	p.drop(c, scenarios.Closed)
}

// readReply takes in what a connection brings that was sent fuzzed bytes, until it is quiet.
func (p *playing) readReply(ctx context.Context, c *conn) {
	for limit := firstReplyWait; p.conns[c.number] == c; limit = nextReplyWait {
		a, came := c.within(ctx, min(limit, p.timeout))
		if !came {
			return
		}
		p.arrived(ctx, c, a)
	}
}

// poll takes in what has come meanwhile.
func (p *playing) poll(ctx context.Context) {
	for _, n := range slices.Sorted(maps.Keys(p.conns)) {
		c := p.conns[n]
		if c == nil {
			continue
		}
		for p.conns[n] == c {
			a, came := c.Take(ctx, time.Time{})
			if !came {
				break
			}
			p.arrived(ctx, c, a)
		}
		for len(c.lapses) > 0 {
			p.lapse(c, <-c.lapses)
		}
	}
}

// misspelt keeps that a message breaks a rule of the grammar.
func (p *playing) misspelt(c *conn, rule, got string) {
	name := rule
	if !strings.HasPrefix(rule, session.ForeignReply) {
		name = RuleGrammar + ":" + rule
	}
	v := p.violation(name, p.grammar().Encoding, got)
	v.Rule = RuleGrammar
	p.violated(c, v)
}

// lapse keeps that a message was read although it breaks a rule of the grammar: it is one departure, however often it
// comes. Whether its kind is right is the law's to judge.
func (p *playing) lapse(c *conn, lapse *session.SyntaxError) {
	if !strings.HasPrefix(lapse.Rule, session.ForeignReply) && !slices.Contains(p.lapsed, lapse.Rule) {
		p.lapsed = append(p.lapsed, lapse.Rule)
		p.misspelt(c, lapse.Rule, lapse.Error())
	}
}

// arrived takes in one arrival.
func (p *playing) arrived(ctx context.Context, c *conn, a session.Received) {
	if a.Message.Lapse != nil {
		p.lapse(c, a.Message.Lapse)
	}
	switch {
	case !a.Whole():
		p.over(ctx, c, a)
	case c.unbounded:
		p.heard(c)
	case a.Turn == session.Notice:
		p.notice(c, a)
	case c.owed < 0:
		c.owed++
	default:
		p.judge(ctx, c, a)
	}
}

// heard counts an answer to fuzzed bytes.
func (p *playing) heard(c *conn) {
	if c.heard++; c.heard <= c.most {
		return
	}
	p.violated(c, p.violation(RuleExtra, fmt.Sprintf("%d replies at the most", c.most), "more of them"))
	p.drop(c, scenarios.Closed)
}

// violation is one that the player sees by itself.
func (p *playing) violation(rule, expected, got string) *law.Violation {
	return &law.Violation{Clause: p.law.Clause(rule), Rule: rule, Expected: expected, Got: got}
}

// judge has the law judge a message.
func (p *playing) judge(ctx context.Context, c *conn, a session.Received) {
	asked := c.owed > 0
	c.owed = max(0, c.owed-1)
	answer := p.law.Came(c.number, a.Message, a.At)
	c.judged = answer.Judged
	if answer.Reply {
		p.served = true
		asked, _ := c.LastWrite()
		p.cover.note(answer)
		kept := answer
		kept.Rules, kept.State, kept.Moved, kept.Outcome = law.Decided{}, "", "", "" // they are counted, and there are many
		p.seen = append(p.seen, seen{step: c.sent, conn: c.number, Answer: kept, asked: asked, at: a.At})
		p.cover.met(c.situation)
	}
	if answer.Limit {
		p.full()
	}
	if answer.Declined && !p.trial && p.disrupted == nil && p.crowded(ctx, c) {
		return
	}
	p.answered(c, answer)
	if !asked {
		p.broken(c, answer.Violation, p.step)
		p.drop(c, scenarios.Closed)
		return
	}
	p.broken(c, answer.Violation, c.sent)
	switch {
	case answer.Over:
		p.drop(c, scenarios.Closed)
	case a.Trailing > 0 && c.owed == 0:
		p.trailing(ctx, c, a.Trailing)
	case answer.Closes > 0:
		p.ending(ctx, c, answer.Closes)
	}
}

// trailing judges the bytes that were received together with an answer.
func (p *playing) trailing(ctx context.Context, c *conn, bytes int) {
	next, came := c.within(ctx, nextReplyWait)
	if !came || !next.Whole() {
		c.pieces = 0 // what is no reply is none to a piece of a line
	}
	if n := len(p.found); n > 0 && p.found[n-1].conn == c.number && p.found[n-1].step == p.step {
		p.drop(c, scenarios.Closed) // they are the rest of a reply that is wrong
		return
	}
	if !came || !next.Whole() || !p.law.Came(c.number, next.Message, next.At).Limit {
		p.violated(c, p.violation(RuleExtra, "one reply", fmt.Sprintf("%d bytes more", bytes)))
	} else {
		p.full()
	}
	p.drop(c, scenarios.Closed)
}

// full records that the server serves no more connections than there are beside the last.
func (p *playing) full() {
	p.most = max(1, len(p.conns)-1)
	p.refused++
}

// ending awaits the close that was announced.
func (p *playing) ending(ctx context.Context, c *conn, limit time.Duration) {
	a, came := c.within(ctx, limit+p.terms.Slack)
	switch {
	case came && a.Whole():
		p.violated(c, p.law.Came(c.number, a.Message, a.At).Violation)
	case !came && ctx.Err() == nil:
		v := p.violation(RuleLingers, "<close>", "an open connection")
		v.Window = [2]time.Duration{0, limit}
		p.violated(c, v)
	}
	p.drop(c, scenarios.Closed)
}

// over records that a connection ended, or can no longer be read.
func (p *playing) over(ctx context.Context, c *conn, a session.Received) {
	if a.Broken != nil {
		p.unreadable(c, a.Broken)
		p.drop(c, scenarios.Closed)
		return
	}
	owed, asked := c.owed, c.asked(a.At)
	if owed > 0 && !c.shut {
		p.cover.met(c.situation)
	}
	p.forget(c)
	_ = c.End(scenarios.Closed)
	v := p.law.Close(c.number, !c.shut, a.At)
	if c.unbounded { // the next connection shows whether the server lives
		return
	}
	if (v != nil || owed != 0) && !p.alive(ctx) {
		p.crashed(ctx, c, owed != 0)
		return
	}
	if ctx.Err() != nil { // it is not known whether the server lives
		return
	}
	switch {
	case v != nil && p.allEnded(ctx, a.At):
		p.outage = &play.Outage{From: a.At, To: a.At}
		p.crashed(ctx, c, owed != 0)
	case v != nil:
		p.violated(c, v)
	default:
		p.mayClose(c, a.At, asked)
	}
}

// unreadable records that a reply on a connection cannot be read.
func (p *playing) unreadable(c *conn, broken *session.SyntaxError) {
	if !broken.Limit { // else no clause bounds it
		if p.misspelt(c, broken.Rule, broken.Error()); p.events == nil || c.unbounded {
			return
		} // it is no difference where the other server does it too
	}
	p.cover.unread(p.grammar().VerbOf(c.awaited), broken)
}

// mayClose records that the server has closed a connection, as it may; asked: at a command.
func (p *playing) mayClose(c *conn, at time.Time, asked bool) {
	if !asked {
		p.closes = append(p.closes[max(0, len(p.closes)-8):], at)
	}
	if !c.shut && !c.notALine {
		p.record(c, event{parts: []string{"<close>"}})
	}
}

// asked reports whether a connection that ended at a time was sent a command just before, and so may have ended because
// of that.
func (c *conn) asked(at time.Time) bool {
	began, _ := c.LastWrite()
	return c.owed > 0 && at.Sub(began) <= firstReplyWait
}

// allEnded reports whether the other connections, two or more, ended at the same time as one that did at this moment,
// and not all of them at a command of their own: the server was started again before anything was asked of it.
func (p *playing) allEnded(ctx context.Context, at time.Time) bool {
	unasked := 0
	for _, ended := range p.closes {
		unasked += b2i(at.Sub(ended).Abs() <= firstReplyWait)
	}
	if len(p.conns)+unasked < 2 || !machine.Sleep(ctx, firstReplyWait) {
		return false
	}
	for _, c := range p.conns {
		a, came := c.Waiting()
		if !came || a.Ending == scenarios.Open || a.At.Sub(at).Abs() > firstReplyWait {
			return false
		}
		unasked += b2i(!c.asked(a.At))
	}
	return unasked > 0
}

// silent judges that no answer came although patience is over.
func (p *playing) silent(ctx context.Context, c *conn) {
	if !p.alive(ctx) {
		p.crashed(ctx, c, true)
		p.drop(c, scenarios.Closed) // no answer will come any more
		return
	}
	if ctx.Err() != nil || p.conns[c.number] != c || c.clause == p.unheard() && p.limited(ctx) { // there was one too many
		return
	}
	r := c.GiveUp(ctx)
	if !r.GaveUp {
		p.arrived(ctx, c, r)
		return
	}
	timer, is := p.law.(law.Timer)
	switch {
	case r.Pending != "" && !r.Coming:
		p.misspelt(c, r.Rule, r.String())
	case c.judged && (!is || !timer.MayWait(c.number, time.Now())):
		v := p.silence(c)
		if is {
			v.Clause = cmp.Or(timer.Awaited(c.number), v.Clause)
		}
		if r.Coming { // for many timeouts
			v.Got = r.String()
		}
		v.Doubtful = true // a job that was lost or held back before may be the reason
		p.record(c, event{parts: []string{"<nothing>"}, violation: v})
		p.broken(c, v, c.sent)
	}
	p.drop(c, scenarios.Closed)
}

// silence is the violation that a connection brought nothing.
func (p *playing) silence(c *conn) *law.Violation {
	v := p.violation(RuleSilent, "<any>", "nothing within "+p.timeout.String())
	if c.clause == p.unheard() {
		v.Clause = c.clause
	}
	return v
}
