package explore

import (
	"context"
	"errors"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

// alive asks on new connections whether the server serves, for as long as patience says
// in all.
func (p *play) alive(ctx context.Context) bool {
	limited, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	for p.asks(limited) != nil {
		if !sleep(limited, 100*time.Millisecond) {
			return ctx.Err() != nil // nobody waits for the answer any more
		}
	}
	return true
}

var errNoHi = errors.New("no greeting")

// asks reports why a new connection is not answered, whatever the answer would be.
func (p *play) asks(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	nc, err := p.target.Dial(ctx)
	if err != nil {
		return err
	}
	c := open(-1, nc)
	defer c.leave(scenarios.Closed)
	if p.subject.Greets {
		if err := p.next(ctx, c); err != nil {
			return err
		}
	}
	_ = c.write(ctx, [][]byte{[]byte(p.subject.Question + "\r\n")}, 0, p.timeout) // why not shows at the next read
	return p.next(ctx, c)
}

// next waits for a message, be it one that breaks the grammar.
func (p *play) next(ctx context.Context, c *conn) error {
	select {
	case a := <-c.arrivals:
		if a.err != nil && p.law.Clause(RuleGrammar, a.err) == "" {
			return errNoReply
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errNoReply = errors.New("no reply")

// unheard is the clause by which a server speaks first, "" if it does not.
func (p *play) unheard() string {
	if !p.subject.Greets {
		return ""
	}
	return p.law.Clause(RuleUnheard, nil)
}

// probe makes it a finding if the server does not serve any more.
func (p *play) probe(ctx context.Context, c *conn) {
	if !p.alive(ctx) {
		p.crashed(ctx, c)
	}
}

// crashed keeps the finding that the server lives no more.
func (p *play) crashed(ctx context.Context, c *conn) {
	if p.dead || ctx.Err() != nil {
		return
	}
	p.dead = true
	clause := c.clause
	if clause == p.unheard() && p.last != "" { // a server is not killed by a new connection, but by what came before
		clause = p.last
	}
	about := p.step
	if c.awaited != "" {
		about = c.sent
	}
	v := &Violation{Clause: clause, Rule: RuleCrash, Expected: "a server that serves", Got: "no new connection is served"}
	p.found = append(p.found, found{Violation: v, crash: true, step: p.step, about: about, conn: c.number})
}
