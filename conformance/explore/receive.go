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
// loose reads what comes on a connection that was sent something odd, and ends it.
// poll takes in what has come meanwhile.
// arrived takes in one arrival.
// replied judges a reply that was awaited.
// ending awaits the close that follows END. (FWP-END-02)
// over takes in that a connection ended, or can no longer be read.
// silent judges that no answer came although patience is over.
// violated keeps a violation.
func (p *play) settle(ctx context.Context, c *conn) {
	if c.owed < 0 {
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

func (p *play) loose(ctx context.Context, c *conn) {
	judged := !p.world.Conns[c.number].Loose
	limit := p.patience
	for n := -c.owed; n > 0 || judged; n-- {
		timer := time.NewTimer(limit)
		select {
		case a := <-c.arrivals:
			timer.Stop()
			if cl := clauseOfRule(a.err); cl != "" {
				p.violated(c, &oracle.Violation{Clause: cl, Rule: "grammar", Expected: "RESP", Got: a.err.Error()})
			}
			if a.err != nil {
				p.over(ctx, c, a)
				return
			}
			if judged {
				_, v := p.world.Replied(c.number, a.reply, a.at)
				p.violated(c, v)
				p.world.Loosen(c.number)
			}
			judged, limit = false, 20*time.Millisecond
		case <-timer.C:
			n = 0
			judged = false
			if limit == p.patience {
				p.probe(ctx, c)
			}
		case <-ctx.Done():
			return
		}
	}
	p.drop(c, scenarios.Closed)
}

func (p *play) poll(ctx context.Context) {
	for _, n := range slices.Sorted(maps.Keys(p.conns)) {
		c := p.conns[n]
		for c != nil && p.conns[n] == c && len(c.arrivals) > 0 {
			p.arrived(ctx, c, <-c.arrivals)
		}
	}
}

func (p *play) arrived(ctx context.Context, c *conn, a arrival) {
	switch {
	case a.err != nil:
		p.over(ctx, c, a)
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

func (p *play) replied(ctx context.Context, c *conn, a arrival) {
	c.owed, c.replied = 0, a.at
	wc := p.world.Conns[c.number]
	if !wc.Greeted {
		p.violated(c, p.world.Greet(c.number, a.reply))
		c.hi = wc.Hi
		if a.reply.Kind == fwp.ErrorReply {
			p.drop(c, scenarios.Closed)
			return
		}
	} else {
		expected := p.world.Expects(c.number)
		before := wc.State
		answer, v := p.world.Replied(c.number, a.reply, a.at)
		p.seen = append(p.seen, seen{step: p.step, conn: c.number, expected: expected, answer: answer, jid: jidOf(answer, a.reply)})
		p.cover.note(before, wc, c.awaited, answer)
		if c.wid = wc.WID; c.beat.IsZero() {
			c.beat = a.at
		}
		p.violated(c, v)
		if v != nil && (v.Rule == "refused" || v.Rule == "foreign") {
			p.drop(c, scenarios.Closed)
			return
		}
	}
	if a.more > 0 {
		p.violated(c, &oracle.Violation{Clause: "FWP-RESP-06", Rule: "extra", Expected: "one reply", Got: fmt.Sprintf("%d bytes more", a.more)})
		p.drop(c, scenarios.Closed)
		return
	}
	if wc.State == fwp.Ended {
		p.ending(ctx, c)
	}
}

func (p *play) ending(ctx context.Context, c *conn) {
	timer := time.NewTimer(time.Second + p.slack)
	defer timer.Stop()
	select {
	case a := <-c.arrivals:
		if a.err == nil {
			p.violated(c, &oracle.Violation{Clause: "FWP-RESP-06", Rule: "extra", Expected: "<close>", Got: oracle.Text(a.reply)})
		}
	case <-timer.C:
		p.violated(c, &oracle.Violation{Clause: "FWP-STATE-16", Rule: "lingers", Expected: "<close>", Got: "an open connection", Window: [2]time.Duration{0, time.Second}})
	case <-ctx.Done():
	}
	p.drop(c, scenarios.Closed)
}

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
	if (v != nil || owed != 0) && !p.alive(ctx) {
		p.crashed(ctx, c)
		return
	}
	p.violated(c, v)
}

func (p *play) silent(ctx context.Context, c *conn) {
	if !p.alive(ctx) {
		p.crashed(ctx, c)
		p.drop(c, scenarios.Closed) // nobody will ever answer
		return
	}
	clause := "FWP-RESP-06"
	if !p.world.Conns[c.number].Greeted {
		clause = "FWP-HI-01"
	}
	if !p.world.Conns[c.number].Loose {
		p.violated(c, &oracle.Violation{Clause: clause, Rule: "silent", Doubtful: true, Expected: "<any>", Got: "nothing within " + p.patience.String()})
	}
	p.drop(c, scenarios.Closed)
}

// halfway reads what still comes after a half-close: the answer, or the end.
// wait lets time pass; workers beat, and nothing may come unasked. (FWP-RESP-05)
func (p *play) halfway(ctx context.Context, c *conn) {
	timer := time.NewTimer(p.patience)
	defer timer.Stop()
	select {
	case a := <-c.arrivals:
		p.arrived(ctx, c, a)
	case <-timer.C:
	case <-ctx.Done():
	}
}

// jidOf is the jid of a job that came.
func jidOf(a model.Answer, r fwp.Reply) string {
	var job struct{ JID string }
	if a == model.Delivered {
		_ = json.Unmarshal(r.Text, &job) // it is a JSON object
	}
	return job.JID
}
