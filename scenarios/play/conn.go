package play

import (
	"cmp"
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// conn is one connection of a play: the conversation, and the engine's own state. It
// belongs to the thread that uses it, but for isExcused.
type conn struct {
	*session.Conn
	name    string
	role    scenarios.Role
	grammar *scenarios.Grammar
	hello   *scenarios.Object // fields that replace or add to those of the engine's introduction, or nil

	state      session.State
	admission  *Admission
	recordSent func(text string) // records what the engine sends by itself
	hasSent    bool              // the script has sent something
	lastAlive  time.Time         // when it was opened, or the last Probe was sent
	replyTime  time.Time         // when a line of the script received a message last
	isExcused  atomic.Bool       // the script or its operator caused the end
	isUnserved bool              // a line of the script was the Probe, and was refused
	unjudged   *doubt            // why no later message can be matched with a line, nil if it can
}

// leave ends the connection as the protocol asks, unless the script has ended it.
func (c *conn) leave(ctx context.Context) {
	if c.isExcused.Load() {
		_ = c.End(scenarios.Closed) // how the peer takes it does not matter any more
		return
	}
	if line := c.Farewell(); line != nil {
		c.recordSent(c.grammar.TranscriptText(line))
	}
	c.Leave(ctx)
}

// surplus returns the breach that an unasked message is. A message after the engine's
// own greeting is not a second answer to it.
func (c *conn) surplus(a session.Received) scenarios.BreachKind {
	if a.Role == session.Extra && c.hasSent {
		return scenarios.ExtraReply
	}
	return scenarios.Unasked
}

// openConn opens a connection for a role, and prepares it as the dialect asks.
func (pl *play) openConn(
	ctx context.Context, role scenarios.Role, hello *scenarios.Object,
) (net.Conn, session.Codec, error) {
	fields := ""
	if _, opens := pl.dialect().(scenarios.Opener); opens && hello != nil {
		th := &thread{play: pl, scope: pl.scope}
		var err error
		if fields, err = th.renderer().Object(hello); err != nil {
			return nil, nil, err
		}
	}
	return Dial(ctx, pl.Target, pl.dialect(), role, fields)
}

// Dial opens a connection of a client in a role, and prepares it as the dialect asks. fields are those of its connect
// line as JSON, "" for none.
func Dial(
	ctx context.Context, t Target, d scenarios.Dialect, role scenarios.Role, fields string,
) (net.Conn, session.Codec, error) {
	opener, opens := d.(scenarios.Opener)
	hello := []byte(cmp.Or(fields, "{}"))
	dial := t.Dial
	if target, ok := t.(BackendTarget); ok && opens && opener.Backend(role, hello) {
		dial = target.DialBackend
	}
	nc, err := dial(ctx)
	if err != nil || !opens {
		return nc, d, err
	}
	opened, protocol, err := opener.Open(nc, role, hello)
	if err != nil {
		_ = nc.Close()
	}
	return opened, protocol, err
}
