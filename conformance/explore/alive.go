package explore

import (
	"context"
	"errors"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// alive reports whether the server answers on new connections. It asks until the timeout.
func (p *play) alive(ctx context.Context) bool {
	limited, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	for p.asks(limited) != nil {
		if !sleep(limited, 100*time.Millisecond) {
			return ctx.Err() != nil // the result is not needed any more
		}
	}
	return true
}

// asks reports why a new connection is not answered, whatever the answer would be.
func (p *play) asks(ctx context.Context) error {
	c, err := p.dial(ctx, noConn)
	if err != nil {
		return err
	}
	defer func() { _ = c.End(scenarios.Closed) }()
	if c.owed > 0 {
		if a, err := c.Answer(ctx); err != nil || !said(a) {
			return errNoReply
		}
	}
	if a, err := c.Ask(ctx, []byte(p.subject.Question+"\r\n")); err != nil || !said(a) {
		return errNoReply
	}
	return nil
}

// said reports whether a message came, be it one that breaks the grammar.
func said(r session.Received) bool { return r.Whole() || r.Broken != nil }

var errNoReply = errors.New("no reply")

// unheard returns the clause by which a server sends the first message, "" if it does not.
func (p *play) unheard() string { return p.law.Clause(RuleUnheard) }

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
	if clause == p.unheard() && p.last != "" { // a server is not killed by a new connection, but by an earlier command
		clause = p.last
	}
	about := p.step
	if c.awaited != "" {
		about = c.sent
	}
	v := &Violation{Clause: clause, Rule: RuleCrash, Expected: "a server that serves", Got: "no new connection is served"}
	p.found = append(p.found, found{Violation: v, crash: true, step: p.step, about: about, conn: c.number})
}
