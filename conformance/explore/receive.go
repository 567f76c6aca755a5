package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// settle awaits the answers that a connection owes.
func (p *play) settle(ctx context.Context, c *conn) {
	switch {
	case c.fuzzed:
		p.hear(ctx, c, attention)
		return
	case c.owed < 0:
		p.loose(ctx, c)
		return
	}
	for c.owed > 0 && p.conns[c.number] == c {
		timer := time.NewTimer(p.patience)
		select {
		case a := <-c.arrivals:
			p.arrived(ctx, c, a)
		case <-timer.C:
			p.silent(ctx, c)
		case <-ctx.Done():
			c.owed = 0
		}
		timer.Stop()
	}
}

// How long is listened to a connection from which nobody knows how much will come: for
// the first answer, and for another one.
const (
	attention = 50 * time.Millisecond
	moment    = 20 * time.Millisecond
)

// loose reads what comes on a connection that was sent something odd, and ends it.
func (p *play) loose(ctx context.Context, c *conn) {
	judged := !p.world.Conns[c.number].Loose
	if judged {
		if !p.first(ctx, c) {
			return
		}
		c.owed++
	}
	limit := min(time.Second, p.patience)
	if judged {
		limit = moment
	}
	for ; c.owed < 0; c.owed++ {
		a, came := c.within(ctx, limit)
		if !came {
			if !judged {
				p.probe(ctx, c)
			}
			break
		}
		if a.err != nil {
			p.over(ctx, c, a)
			return
		}
		judged, limit = true, moment
	}
	p.drop(c, scenarios.Closed)
}

// first judges the first answer to something odd. It tells whether there is more to read.
func (p *play) first(ctx context.Context, c *conn) bool {
	a, came := c.within(ctx, p.patience)
	switch {
	case !came:
		p.probe(ctx, c)
		p.drop(c, scenarios.Closed)
	case a.err != nil:
		p.over(ctx, c, a)
	default:
		_, v := p.world.Replied(c.number, a.reply, a.at)
		if v != nil { // it may be the answer to what follows
			v.Doubtful = true
		}
		p.violated(c, v)
		p.world.Loosen(c.number)
		return true
	}
	return false
}

// hear takes in what a connection brings that was sent fuzzed bytes, until it is quiet.
func (p *play) hear(ctx context.Context, c *conn, limit time.Duration) {
	for p.conns[c.number] == c {
		a, came := c.within(ctx, min(limit, p.patience))
		if !came {
			return
		}
		p.arrived(ctx, c, a)
		limit = moment
	}
}

// poll takes in what has come meanwhile.
func (p *play) poll(ctx context.Context) {
	for _, n := range slices.Sorted(maps.Keys(p.conns)) {
		c := p.conns[n]
		for c != nil && p.conns[n] == c && len(c.arrivals) > 0 {
			p.arrived(ctx, c, <-c.arrivals)
		}
	}
}

// arrived takes in one arrival.
func (p *play) arrived(ctx context.Context, c *conn, a arrival) {
	switch {
	case a.err != nil:
		p.over(ctx, c, a)
	case c.fuzzed:
		p.heard(c)
	case c.owed < 0:
		c.owed++
	case c.owed == 0:
		clause, rule := "FWP-RESP-05", "unasked"
		if a.at.Sub(c.replied) < time.Second {
			clause, rule = "FWP-RESP-06", "extra"
		}
		p.violated(c, &oracle.Violation{Clause: clause, Rule: rule, Expected: "silence", Got: oracle.Text(a.reply)})
		p.drop(c, scenarios.Closed)
	default:
		p.replied(ctx, c, a)
	}
}

// heard counts an answer to fuzzed bytes.
func (p *play) heard(c *conn) {
	if c.heard++; c.heard <= c.most {
		return
	}
	most := fmt.Sprintf("%d replies at the most", c.most)
	p.violated(c, &oracle.Violation{Clause: "FWP-RESP-06", Rule: "extra", Expected: most, Got: "more of them"})
	p.drop(c, scenarios.Closed)
}

// replied judges a reply that was awaited.
func (p *play) replied(ctx context.Context, c *conn, a arrival) {
	c.owed, c.replied = 0, a.at
	wc := p.world.Conns[c.number]
	var goesOn bool
	if wc.Greeted {
		goesOn = p.answered(c, a)
	} else {
		p.violated(c, p.world.Greet(c.number, a.reply))
		c.hi = wc.Hi
		goesOn = a.reply.Kind != fwp.ErrorReply
	}
	switch {
	case !goesOn:
		p.drop(c, scenarios.Closed)
	case a.more > 0:
		p.violated(c, &oracle.Violation{Clause: "FWP-RESP-06", Rule: "extra", Expected: "one reply", Got: fmt.Sprintf("%d bytes more", a.more)})
		p.drop(c, scenarios.Closed)
	case wc.State == fwp.Ended:
		p.ending(ctx, c)
	}
}

// answered judges a reply to a command. It tells whether the connection can be used any
// more.
func (p *play) answered(c *conn, a arrival) bool {
	wc := p.world.Conns[c.number]
	expected, before := p.world.Expects(c.number), wc.State
	answer, v := p.world.Replied(c.number, a.reply, a.at)
	p.seen = append(p.seen, seen{step: c.sent, conn: c.number, expected: expected, answer: answer, jid: jidOf(answer, a.reply)})
	p.cover.note(before, wc, c.awaited, answer)
	if c.wid = wc.WID; c.beat.IsZero() {
		c.beat = a.at
	}
	p.broken(c, v, c.sent)
	return v == nil || v.Rule != "refused" && v.Rule != "foreign"
}

// ending awaits the close that follows END. (FWP-END-02)
func (p *play) ending(ctx context.Context, c *conn) {
	a, came := c.within(ctx, model.EndLingers+p.slack)
	switch {
	case came && a.err == nil:
		p.violated(c, &oracle.Violation{Clause: "FWP-RESP-06", Rule: "extra", Expected: "<close>", Got: oracle.Text(a.reply)})
	case !came && ctx.Err() == nil:
		p.violated(c, &oracle.Violation{
			Clause: "FWP-STATE-16", Rule: "lingers", Expected: "<close>", Got: "an open connection", Window: [2]time.Duration{0, model.EndLingers},
		})
	}
	p.drop(c, scenarios.Closed)
}

// over takes in that a connection ended, or can no longer be read.
func (p *play) over(ctx context.Context, c *conn, a arrival) {
	if clause := clauseOfRule(a.err); clause != "" {
		p.violated(c, &oracle.Violation{Clause: clause, Rule: "grammar", Expected: "RESP", Got: a.err.Error()})
		p.drop(c, scenarios.Closed)
		return
	}
	owed := c.owed
	p.forget(c)
	_ = c.nc.Close()
	v := p.world.Close(c.number, !c.shut, a.at)
	if c.fuzzed { // the next connection shows whether the server lives
		return
	}
	if (v != nil || owed != 0) && !p.alive(ctx) {
		p.crashed(ctx, c)
		return
	}
	p.violated(c, v)
}

// silent judges that no answer came although patience is over.
func (p *play) silent(ctx context.Context, c *conn) {
	if !p.alive(ctx) {
		p.crashed(ctx, c)
		p.drop(c, scenarios.Closed) // nobody will ever answer
		return
	}
	clause := "FWP-RESP-06"
	if !p.world.Conns[c.number].Greeted {
		clause = greetingClause
	}
	if !p.world.Conns[c.number].Loose {
		got := "nothing within " + p.patience.String()
		step := p.step
		if clause != greetingClause {
			step = c.sent
		}
		p.broken(c, &oracle.Violation{Clause: clause, Rule: "silent", Doubtful: true, Expected: "<any>", Got: got}, step)
	}
	p.drop(c, scenarios.Closed)
}

// halfway reads what still comes after a half-close: the answer, or the end.
func (p *play) halfway(ctx context.Context, c *conn) {
	if a, came := c.within(ctx, p.patience); came {
		p.arrived(ctx, c, a)
	}
}

// within waits for what a connection brings next.
func (c *conn) within(ctx context.Context, limit time.Duration) (a arrival, came bool) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a = <-c.arrivals:
		return a, true
	case <-timer.C:
	case <-ctx.Done():
	}
	return a, false
}

// jidOf is the jid of a job that came.
func jidOf(a model.Answer, r fwp.Reply) string {
	var job struct{ JID string }
	if a == model.Delivered {
		_ = json.Unmarshal(r.Text, &job) // it is a JSON object
	}
	return job.JID
}
