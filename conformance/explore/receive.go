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

// readReplies awaits the answers that a connection owes.
func (p *playthrough) readReplies(ctx context.Context, c *conn) {
	if c.dueReplies != 0 || c.isUnbounded {
		p.settle(ctx)
	}
	switch {
	case c.isUnbounded:
		p.readReply(ctx, c)
		return
	case c.dueReplies < 0:
		p.drainUnjudged(ctx, c)
		return
	}
	for c.dueReplies > 0 && p.conns[c.number] == c {
		hurried := p.hurries != nil && p.waitsInVain(c) && p.hurries(p)
		limit := p.timeout
		if hurried {
			limit = min(limit, idleWait)
		}
		switch a, ok := c.takeWithin(ctx, limit); {
		case ok:
			p.takeArrival(ctx, c, a)
		case ctx.Err() != nil:
			c.dueReplies = 0
		case hurried:
			p.isStalled = true
			p.drop(c, scenarios.Closed)
		default:
			p.judgeSilence(ctx, c)
		}
	}
}

// waitsInVain reports whether a connection owes an answer that waits for what cannot come, as far as the law knows.
func (p *playthrough) waitsInVain(c *conn) bool {
	idler, ok := p.law.(law.Idler)
	return ok && c.dueReplies > 0 && idler.IsIdle(c.number, time.Now())
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
func (p *playthrough) drainUnjudged(ctx context.Context, c *conn) {
	limit := min(time.Second, p.timeout)
	if c.isJudged {
		limit = p.timeout
	}
	for ; c.dueReplies < 0; c.dueReplies++ {
		a, ok := c.takeWithin(ctx, limit)
		if !ok {
			if limit != nextReplyWait {
				p.probe(ctx, c)
			}
			break
		}
		if !a.IsComplete() {
			p.noteEnd(ctx, c, a)
			return
		}
		if c.isJudged {
			answer := p.law.Judge(c.number, a.Message, a.At)
			p.recordAnswer(c, answer)
			p.addSighting(c, answer.Violation, p.step)
			c.isJudged = false
		}
		limit = nextReplyWait
	}
	p.drop(c, scenarios.Closed)
}

// readReply takes in what a connection brings that was sent fuzzed bytes, until it is quiet.
func (p *playthrough) readReply(ctx context.Context, c *conn) {
	for limit := firstReplyWait; p.conns[c.number] == c; limit = nextReplyWait {
		a, ok := c.takeWithin(ctx, min(limit, p.timeout))
		if !ok {
			return
		}
		p.takeArrival(ctx, c, a)
	}
}

// poll takes in what has come meanwhile.
func (p *playthrough) poll(ctx context.Context) {
	for _, n := range slices.Sorted(maps.Keys(p.conns)) {
		c := p.conns[n]
		if c == nil {
			continue
		}
		for p.conns[n] == c {
			a, ok := c.Take(ctx, time.Time{})
			if !ok {
				break
			}
			p.takeArrival(ctx, c, a)
		}
		for len(c.lapses) > 0 {
			p.lapse(c, <-c.lapses)
		}
	}
}

// addMisspelling keeps that a message breaks a rule of the grammar.
func (p *playthrough) addMisspelling(c *conn, rule, got string) {
	name := rule
	if !strings.HasPrefix(rule, session.ImpossibleReply) {
		name = RuleGrammar + ":" + rule
	}
	v := p.violation(name, p.grammar().Encoding, got)
	v.Rule = RuleGrammar
	p.addViolation(c, v)
}

// lapse keeps that a message was read although it breaks a rule of the grammar: it is one departure, however often it
// comes. Whether its kind is right is the law's to judge.
func (p *playthrough) lapse(c *conn, lapse *session.SyntaxError) {
	if !strings.HasPrefix(lapse.Rule, session.ImpossibleReply) && !slices.Contains(p.lapsed, lapse.Rule) {
		p.lapsed = append(p.lapsed, lapse.Rule)
		p.addMisspelling(c, lapse.Rule, lapse.Error())
	}
}

// takeArrival takes in one arrival.
func (p *playthrough) takeArrival(ctx context.Context, c *conn, a session.Received) {
	if a.Message.Lapse != nil {
		p.lapse(c, a.Message.Lapse)
	}
	switch {
	case !a.IsComplete():
		p.noteEnd(ctx, c, a)
	case c.isUnbounded:
		p.countReply(c)
	case a.Role == session.Notice:
		p.notice(c, a)
	case c.dueReplies < 0:
		c.dueReplies++
	default:
		p.judge(ctx, c, a)
	}
}

// countReply counts an answer to fuzzed bytes.
func (p *playthrough) countReply(c *conn) {
	if c.replies++; c.replies <= c.maxReplies {
		return
	}
	p.addViolation(c, p.violation(RuleExtra, fmt.Sprintf("%d replies at the most", c.maxReplies), "more of them"))
	p.drop(c, scenarios.Closed)
}

// violation is one that the player sees by itself.
func (p *playthrough) violation(rule, expected, got string) *law.Violation {
	return &law.Violation{Clause: p.law.Clause(rule), Rule: rule, Expected: expected, Got: got}
}

// judge has the law judge a message.
func (p *playthrough) judge(ctx context.Context, c *conn, a session.Received) {
	sent := c.dueReplies > 0
	c.dueReplies = max(0, c.dueReplies-1)
	answer := p.law.Judge(c.number, a.Message, a.At)
	c.isJudged = answer.IsJudged
	if answer.Reply {
		p.hasServed = true
		sent, _ := c.LastWrite()
		p.cover.note(answer)
		summary := answer
		// they are counted, and there are many
		summary.Rules, summary.State, summary.Transition, summary.Outcome = law.Decided{}, "", "", ""
		p.replies = append(p.replies, reply{step: c.sentStep, conn: c.number, Answer: summary, sentAt: sent, at: a.At})
		p.cover.addSituation(c.situation)
	}
	if answer.Limit {
		p.noteLimit()
	}
	if answer.Declined && !p.isTrial && p.disrupted == nil && p.meetsClientLimit(ctx, c) {
		return
	}
	p.recordAnswer(c, answer)
	if !sent {
		p.addSighting(c, answer.Violation, p.step)
		p.drop(c, scenarios.Closed)
		return
	}
	p.addSighting(c, answer.Violation, c.sentStep)
	switch {
	case answer.IsUnusable:
		p.drop(c, scenarios.Closed)
	case a.Trailing > 0 && c.dueReplies == 0:
		p.judgeTrailing(ctx, c, a.Trailing)
	case answer.Closes > 0:
		p.awaitEnding(ctx, c, answer.Closes)
	}
}

// judgeTrailing judges the bytes that were received together with an answer.
func (p *playthrough) judgeTrailing(ctx context.Context, c *conn, bytes int) {
	next, ok := c.takeWithin(ctx, nextReplyWait)
	if !ok || !next.IsComplete() {
		c.pieces = 0 // what is no reply is none to a piece of a line
	}
	if n := len(p.sightings); n > 0 && p.sightings[n-1].conn == c.number && p.sightings[n-1].step == p.step {
		p.drop(c, scenarios.Closed) // they are the rest of a reply that is wrong
		return
	}
	if !ok || !next.IsComplete() || !p.law.Judge(c.number, next.Message, next.At).Limit {
		p.addViolation(c, p.violation(RuleExtra, "one reply", fmt.Sprintf("%d bytes more", bytes)))
	} else {
		p.noteLimit()
	}
	p.drop(c, scenarios.Closed)
}

// noteLimit records that the server serves no more connections than there are beside the last.
func (p *playthrough) noteLimit() {
	p.limit = max(1, len(p.conns)-1)
	p.limitHits++
}

// awaitEnding awaits the close that was announced.
func (p *playthrough) awaitEnding(ctx context.Context, c *conn, limit time.Duration) {
	a, ok := c.takeWithin(ctx, limit+p.terms.Slack)
	switch {
	case ok && a.IsComplete():
		p.addViolation(c, p.law.Judge(c.number, a.Message, a.At).Violation)
	case !ok && ctx.Err() == nil:
		v := p.violation(RuleLingers, "<close>", "an open connection")
		v.Window = [2]time.Duration{0, limit}
		p.addViolation(c, v)
	}
	p.drop(c, scenarios.Closed)
}

// noteEnd records that a connection ended, or can no longer be read.
func (p *playthrough) noteEnd(ctx context.Context, c *conn, a session.Received) {
	if a.Broken != nil {
		p.noteUnreadable(c, a.Broken)
		p.drop(c, scenarios.Closed)
		return
	}
	dueReplies, wroteBefore := c.dueReplies, c.wroteBefore(a.At)
	if dueReplies > 0 && !c.isHalfClosed {
		p.cover.addSituation(c.situation)
	}
	p.forget(c)
	_ = c.End(scenarios.Closed)
	v := p.law.Close(c.number, !c.isHalfClosed, a.At)
	if c.isUnbounded { // the next connection shows whether the server lives
		return
	}
	if (v != nil || dueReplies != 0) && !p.isAlive(ctx) {
		p.noteCrash(ctx, c, dueReplies != 0)
		return
	}
	if ctx.Err() != nil { // it is not known whether the server lives
		return
	}
	switch {
	case v != nil && p.allConnsEnded(ctx, a.At):
		p.outage = &play.Outage{From: a.At, To: a.At}
		p.noteCrash(ctx, c, dueReplies != 0)
	case v != nil:
		p.addViolation(c, v)
	default:
		p.noteClose(c, a.At, wroteBefore)
	}
}

// noteUnreadable records that a reply on a connection cannot be read.
func (p *playthrough) noteUnreadable(c *conn, err *session.SyntaxError) {
	if !err.IsLimit { // else no clause bounds it
		if p.addMisspelling(c, err.Rule, err.Error()); p.events == nil || c.isUnbounded {
			return
		} // it is no difference where the other server does it too
	}
	p.cover.addUnread(p.grammar().VerbOf(c.awaited), err)
}

// noteClose records that the server has closed a connection, as it may; wroteBefore: just behind a command.
func (p *playthrough) noteClose(c *conn, at time.Time, wroteBefore bool) {
	if !wroteBefore {
		p.closes = append(p.closes[max(0, len(p.closes)-8):], at)
	}
	if !c.isHalfClosed && !c.hasOddBytes {
		p.record(c, event{parts: []string{"<close>"}})
	}
}

// wroteBefore reports whether a connection that ended at a time was sent a command just before, and so may have ended
// because of that.
func (c *conn) wroteBefore(at time.Time) bool {
	began, _ := c.LastWrite()
	return c.dueReplies > 0 && at.Sub(began) <= firstReplyWait
}

// allConnsEnded reports whether the other connections, two or more, ended at the same time as one that did at this
// moment, and not all of them at a command of their own: the server was started again before anything was asked of it.
func (p *playthrough) allConnsEnded(ctx context.Context, at time.Time) bool {
	unasked := 0
	for _, ended := range p.closes {
		unasked += b2i(at.Sub(ended).Abs() <= firstReplyWait)
	}
	if len(p.conns)+unasked < 2 || !machine.Sleep(ctx, firstReplyWait) {
		return false
	}
	for _, c := range p.conns {
		a, ok := c.Poll()
		if !ok || a.Ending == scenarios.Open || a.At.Sub(at).Abs() > firstReplyWait {
			return false
		}
		unasked += b2i(!c.wroteBefore(a.At))
	}
	return unasked > 0
}

// judgeSilence judges that no answer came although patience is over.
func (p *playthrough) judgeSilence(ctx context.Context, c *conn) {
	if !p.isAlive(ctx) {
		p.noteCrash(ctx, c, true)
		p.drop(c, scenarios.Closed) // no answer will come any more
		return
	}
	// there was one too many
	if ctx.Err() != nil || p.conns[c.number] != c || c.clause == p.greetingClause() && p.meetsLimit(ctx) {
		return
	}
	r := c.GiveUp(ctx)
	if !r.GaveUp {
		p.takeArrival(ctx, c, r)
		return
	}
	timer, ok := p.law.(law.SelfTimed)
	switch {
	case r.Pending != "" && !r.IsArriving:
		p.addMisspelling(c, r.Rule, r.String())
	case c.isJudged && (!ok || !timer.MayWait(c.number, time.Now())):
		v := p.silence(c)
		if ok {
			v.Clause = cmp.Or(timer.OverdueClause(c.number), v.Clause)
		}
		if r.IsArriving { // for many timeouts
			v.Got = r.String()
		}
		v.Doubtful = true // a job that was lost or held back before may be the reason
		p.record(c, event{parts: []string{"<nothing>"}, violation: v})
		p.addSighting(c, v, c.sentStep)
	}
	p.drop(c, scenarios.Closed)
}

// silence is the violation that a connection brought nothing.
func (p *playthrough) silence(c *conn) *law.Violation {
	v := p.violation(RuleSilent, "<any>", "nothing within "+p.timeout.String())
	if c.clause == p.greetingClause() {
		v.Clause = c.clause
	}
	return v
}
