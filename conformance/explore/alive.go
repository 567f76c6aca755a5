package explore

import (
	"context"
	"errors"
	"time"

	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// alive asks on new connections whether the server serves, for as long as patience says
// in all.
func (p *play) alive(ctx context.Context) bool {
	limited, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	for p.asks(limited) != nil {
		if !sleep(limited, 100*time.Millisecond) {
			return ctx.Err() != nil // nobody waits for the answer any more
		}
	}
	return true
}

var errNoHi = errors.New("no greeting")

// asks tells whether a new connection is greeted and answered, in whatever way.
func (p *play) asks(ctx context.Context) error {
	c, err := p.call(ctx)
	if err != nil {
		return err
	}
	defer c.leave(scenarios.Closed)
	_, err = c.ask(ctx, `HELLO {"v":2}`, p.patience)
	return err
}

// call opens a connection on which nothing is judged, and reads its greeting. It waits
// until ctx is done, but not longer than patience.
func (p *play) call(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	nc, err := p.target.Dial(ctx)
	if err != nil {
		return nil, err
	}
	c := open(-1, nc)
	reply, err := c.next(ctx)
	if err != nil {
		c.leave(scenarios.Closed)
		return nil, err
	}
	c.hi, _ = fwp.ParseHi(reply) // one that is wrong is judged elsewhere
	return c, nil
}

// greeted opens a connection on which nothing is judged, as the worker that no judged
// conversation knows of.
func (p *play) greeted(ctx context.Context) (*conn, error) {
	c, err := p.call(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := c.ask(ctx, p.fill(fuzzedHello(c.hi.Protected), c.hi), p.patience); err != nil {
		c.leave(scenarios.Closed)
		return nil, err
	}
	return c, nil
}

// ask sends a line and waits for whatever comes.
func (c *conn) ask(ctx context.Context, line string, limit time.Duration) (fwp.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_ = c.write(ctx, [][]byte{[]byte(line + "\r\n")}, 0, limit) // why not shows at the next read
	return c.next(ctx)
}

// next waits for a reply. A breach of the grammar is one too, an empty one.
func (c *conn) next(ctx context.Context) (fwp.Reply, error) {
	select {
	case a := <-c.arrivals:
		if a.err != nil && clauseOfRule(a.err) == "" {
			return fwp.Reply{}, errNoHi
		}
		return a.reply, nil
	case <-ctx.Done():
		return fwp.Reply{}, ctx.Err()
	}
}

// probe makes it a finding if the server does not serve any more.
func (p *play) probe(ctx context.Context, c *conn) {
	if !p.alive(ctx) {
		p.crashed(ctx, c)
	}
}

// greetingClause says that the server speaks first.
const greetingClause = "FWP-HI-01"

// crashed keeps the finding that the server lives no more.
func (p *play) crashed(ctx context.Context, c *conn) {
	if p.dead || ctx.Err() != nil {
		return
	}
	p.dead = true
	clause := c.clause
	if clause == greetingClause && p.last != "" { // nobody dies of being called: it was what came before
		clause = p.last
	}
	v := &oracle.Violation{Clause: clause, Rule: "crash", Expected: "a server that serves", Got: "no new connection is served"}
	about := p.step
	if c.awaited != "" {
		about = c.sent
	}
	p.found = append(p.found, found{Violation: v, crash: true, step: p.step, about: about, conn: c.number})
}
