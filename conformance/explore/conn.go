package explore

import (
	"context"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// conn is one connection of a play.
type conn struct {
	*session.Conn
	number       int
	opened       int    // the step that opened it
	owed         int    // messages; below zero: so many at the most
	judged       bool   // the next message is judged
	sent         int    // the step that sent the last command
	pieces       int    // commands until nothing comes any more of one that was sent in segments
	awaited      string // the step's text of the command whose answer is owed
	clause       string // that rules it
	introduction string // the text of the line by which the client has introduced itself last
	shut         bool   // half-closed by us
	odd          bool   // it was sent what is no single line
	wild         bool   // it was sent bytes that may be any number of commands
	most         int    // answers that this may bring
	heard        int    // of them
}

// dial opens a connection on which no step has sent anything yet, as do says.
func (p *play) dial(ctx context.Context, number int, do *scenarios.Connect) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	fields := ""
	if do.Hello != nil {
		fields = p.fill(do.Hello.String(), number)
	}
	nc, protocol, err := scenarios.Dial(ctx, p.target, p.subject.Dialect, do.Role, fields)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: session.New(nc, protocol, session.Config{Timeout: p.timeout, Budget: p.budget}), number: number}
	c.owed = c.Status().Owed
	if _, opens := p.subject.Dialect.(scenarios.Opener); opens && do.Role == scenarios.Raw {
		c.owed = 0 // the server waits for what the step does not send
	}
	return c, nil
}

// asker returns the opening of a client that only asks.
func asker() *scenarios.Connect { return &scenarios.Connect{Role: scenarios.Producer} }

// within takes what a connection brings next.
func (c *conn) within(ctx context.Context, limit time.Duration) (session.Received, bool) {
	return c.Take(ctx, time.Now().Add(limit))
}

// grammar is the rule that is broken by bytes that are no message, "" if that is not what
// came.
func grammar(r session.Received) string {
	if r.Broken == nil {
		return ""
	}
	return RuleGrammar + ":" + r.Broken.Rule
}

// sleep waits, and reports whether the time has passed; it has not if ctx is done.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
