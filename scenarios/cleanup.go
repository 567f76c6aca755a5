package scenarios

import (
	"context"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
)

// cleanup removes what the script has left on the server, with a consumer of its own,
// and returns what it could not remove.
func (pl *play) cleanup(ctx context.Context) []string {
	if !pl.ledger.Removable() || pl.dead != "" {
		return pl.ledger.Leftover()
	}
	limit := pl.Timeout
	if ctx.Err() != nil { // the user waits for the end
		limit = min(limit, time.Second)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	pl.rec.add(time.Now(), "sweep", "--", "removing the jobs that the script has left", Pos{})
	l := &lane{play: pl, scope: pl.scope.child()}
	l.scope.ownFresh(pl.dialect().Grammar().client())
	if c := l.sweeper(ctx); c != nil {
		pl.ledger.Cleanup(func(line string) (session.Message, bool) { return l.command(ctx, c, line) })
		c.leave(ctx)
	}
	return pl.ledger.Leftover()
}

// sweeper is a consumer's connection, or nil. It is asked for again and again,
// because the server may be at its limit of connections for a moment.
func (l *lane) sweeper(ctx context.Context) *conn {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		c, err := l.play.dial(ctx, "sweep")
		if err == nil {
			if c.role, err = Consumer, l.greet(ctx, c); err == nil {
				return c
			}
			c.leave(ctx)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// command sends a line that no script has, and keeps the ledger.
func (l *lane) command(ctx context.Context, c *conn, line string) (session.Message, bool) {
	c.says(line)
	command := []byte(line + "\r\n")
	if c.Ended() != Open || c.Write(ctx, [][]byte{command}, 0) != nil {
		return session.Message{}, false
	}
	_, sent := c.LastWrite()
	a, ok := c.Take(ctx, sent.Add(l.Timeout))
	if !ok || !a.Whole() {
		return session.Message{}, false
	}
	l.ledger.Answered(command, a.Message)
	return a.Message, true
}
