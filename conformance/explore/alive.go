package explore

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/scenarios"
)

// alive asks on new connections whether the server serves, for as long as patience
// says.
// asks tells whether a new connection is greeted and answered.
// probe is alive, with a finding if it is not.
// crashed keeps the finding that the server lives no more.
// close ends all connections.
func (p *play) alive(ctx context.Context) bool {
	begin := time.Now()
	for ctx.Err() == nil {
		if p.asks(ctx) == nil {
			return true
		}
		if time.Since(begin) > p.patience || !sleep(ctx, 100*time.Millisecond) {
			break
		}
	}
	return ctx.Err() != nil
}

var errNoHi = errors.New("no greeting")

func (p *play) asks(ctx context.Context) error {
	dialing, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	nc, err := p.target.Dial(dialing)
	if err != nil {
		return err
	}
	c := open(-1, nc)
	defer c.leave(scenarios.Closed)
	timer := time.NewTimer(p.patience)
	defer timer.Stop()
	_ = c.write(ctx, [][]byte{[]byte("HELLO {\"v\":2}\r\n")}, 0, p.patience)
	for range 2 { // the greeting, and an answer of whatever kind
		select {
		case a := <-c.arrivals:
			if a.err != nil && clauseOfRule(a.err) == "" {
				return errNoHi
			}
		case <-timer.C:
			return errNoHi
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (p *play) probe(ctx context.Context, c *conn) {
	if !p.alive(ctx) {
		p.crashed(ctx, c)
	}
}

func (p *play) crashed(ctx context.Context, c *conn) {
	if p.dead || ctx.Err() != nil {
		return
	}
	p.dead = true
	p.found = append(p.found, found{Violation: &oracle.Violation{Clause: strings.TrimSpace(c.clause), Rule: "crash", Expected: "a server that serves", Got: "no new connection is served"}, crash: true, step: p.step, conn: c.number})
}
