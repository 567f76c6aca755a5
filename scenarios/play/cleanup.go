package play

import (
	"context"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// cleanup removes the jobs that the script has left on the server, on a connection of
// its own, and returns those that it could not remove.
func (pl *play) cleanup(ctx context.Context) []string {
	if !pl.ledger.Removable() || pl.notServing != "" {
		return pl.ledger.Leftover()
	}
	limit := pl.Timeout
	if ctx.Err() != nil { // the user waits for the end
		limit = min(limit, time.Second)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	pl.rec.cleanup()
	th := &thread{play: pl, scope: pl.scope.Child()}
	th.scope.RenewClient(pl.grammar())
	if c := th.cleanupConn(ctx, "cleanup"); c != nil {
		pl.ledger.Cleanup(func(line string) (session.Message, bool) { return th.command(ctx, c, line) })
		c.leave(ctx)
	}
	return pl.ledger.Leftover()
}

// cleanupConn returns a consumer's connection with a name, or nil. It tries again and again, because
// the server may be at its limit of connections for a moment.
func (th *thread) cleanupConn(ctx context.Context, name string) *conn {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		c, err := th.play.dial(ctx, name, scenarios.Consumer, nil)
		if err == nil {
			if err = th.greet(ctx, c); err == nil {
				return c
			}
			c.leave(ctx)
		}
		if !machine.Sleep(ctx, pause) {
			return nil
		}
	}
}

// command sends a line that is not in the script, returns its answer, and updates the
// ledger.
func (th *thread) command(ctx context.Context, c *conn, line string) (session.Message, bool) {
	c.recordSent(line)
	command, err := th.grammar().Encode(line)
	if err != nil || c.Ending() != scenarios.Open || c.Write(ctx, [][]byte{command}, 0) != nil {
		return session.Message{}, false
	}
	_, sent := c.LastWrite()
	a, ok := c.Take(ctx, sent.Add(th.Timeout))
	if !ok || !a.IsComplete() {
		return session.Message{}, false
	}
	th.ledger.Answered(command, a.Message)
	return a.Message, true
}
