package script

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpsession "github.com/fwpsuite/fwp/protocols/fwp/session"
)

// Client is a worker that sends one command after the other. It is not safe for concurrent use.
type Client struct {
	ctx  context.Context //nolint:containedctx // of the one task that the client is for
	conn *session.Conn
	wid  string
	beat time.Time // when the latest BEAT was sent, or HELLO
}

// Greet introduces a worker on a fresh connection, with timeout for each reply. The client is never nil, and must be
// left, after an error too.
func Greet(ctx context.Context, nc net.Conn, wid, password string, timeout time.Duration) (*Client, error) {
	c := &Client{
		ctx: ctx, wid: wid, conn: session.New(nc, fwpsession.Codec{},
			session.Config{Timeout: timeout, ToleratesLapses: true}),
	}
	r, err := c.conn.Answer(ctx)
	if err := replyError(r, err); err != nil {
		return c, fmt.Errorf("greeting: %w", err)
	}
	hi := c.conn.State().(*fwpsession.State).Hi()
	hello := fwp.Hello{Hostname: "fwpcheck", WorkerID: wid, PID: os.Getpid()}
	if hi.Protected {
		if hello.PasswordHash, err = fwp.PasswordHash(password, hi.Salt, hi.Iterations); err != nil {
			return c, err
		}
	}
	c.beat = time.Now()
	_, err = c.send(hello.Command())
	return c, err
}

// Leave ends the connection.
func (c *Client) Leave() { c.conn.Leave(c.ctx) }

// RefusedError is an error reply.
type RefusedError struct{ Verb, Text string }

// Error implements error.
func (e *RefusedError) Error() string { return fmt.Sprintf("%s was refused: %q", e.Verb, e.Text) }

// isRefused reports whether an error is an error reply, behind which the client can go on.
func isRefused(err error) bool {
	_, ok := errors.AsType[*RefusedError](err)
	return ok
}

// Ask sends a command line and returns the reply. The error is a *RefusedError for an error reply, with the message,
// a *session.SyntaxError for one that cannot be read, and another one where there is no whole reply: behind these two
// the client is of no more use.
func (c *Client) Ask(line string) (session.Message, error) {
	return c.send(fwp.SplitCommand([]byte(line)))
}

func (c *Client) send(command fwp.Command) (session.Message, error) {
	r, err := c.conn.Ask(c.ctx, fwp.AppendCommand(nil, command))
	if err := replyError(r, err); err != nil {
		return session.Message{}, fmt.Errorf("%s: %w", command.Verb, err)
	}
	if kind := fwp.Kind(r.Message.Kind); !kind.Answers(command.Verb) {
		return session.Message{}, fmt.Errorf("%s: %w", command.Verb, &session.SyntaxError{
			Rule: session.ImpossibleReply + command.Verb, Expected: "a reply that " + command.Verb + " has", Got: r.String(),
		})
	} else if kind == fwp.ErrorReply {
		return r.Message, &RefusedError{command.Verb, string(r.Message.Text)}
	}
	return r.Message, nil
}

// beatEvery is how often a client sends BEAT: servers close the connections of workers that do not. (Client Lifecycle)
const beatEvery = 15 * time.Second

// KeepAlive sends a BEAT if it is time for one. That the server tells the client to stop changes nothing.
func (c *Client) KeepAlive() error {
	if time.Since(c.beat) < beatEvery {
		return nil
	}
	c.beat = time.Now()
	_, err := c.Ask(`BEAT {"wid":"` + c.wid + `"}`)
	return err
}

// replyError returns why there is no whole message, nil if there is one.
func replyError(r session.Received, err error) error {
	switch {
	case err != nil:
		return err
	case r.Broken != nil:
		return r.Broken
	case !r.IsComplete():
		return errors.New(r.String())
	}
	return nil
}
