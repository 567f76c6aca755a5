package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/load/wire"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpsession "github.com/fwpsuite/fwp/protocols/fwp/session"
)

// introduceTimeout limits the introduction, and informTimeout the part of it that the load does not need.
const (
	introduceTimeout = 10 * time.Second
	informTimeout    = 2 * time.Second
)

// Introduce returns the JSON of the server's HI and of its reply to INFO. An error reply to INFO leaves Info empty.
// A server that refuses HELLO is an error with the Greeting. It blocks for 10 s, and for one more until the server has
// closed the connection. (Not Identified State; INFO Command)
func (c *Config) Introduce(ctx context.Context, dial wire.Dial) (in wire.Introduction, err error) {
	ctx, cancel := context.WithTimeout(ctx, introduceTimeout)
	defer cancel()
	began := time.Now()
	nc, err := dial(ctx)
	if err != nil {
		return in, err
	}
	conn := session.New(nc, fwpsession.Codec{}, session.Config{Timeout: introduceTimeout})
	defer conn.Leave(ctx)
	if in.Greeting, err = c.greet(ctx, conn, began); err != nil {
		return in, err
	}
	if c.Batches { // an empty batch changes nothing
		if err := runCommand(ctx, conn, fwp.Command{Verb: pushAll, Args: []byte("[]")}, time.Now()); err != nil {
			return in, fmt.Errorf("the run needs %s, which the server does not seem to have: %w", pushAll, err)
		}
	}
	in.Info, in.Breach = askInfo(ctx, conn)
	return in, nil
}

// greet has the server accept the client, and returns the JSON of its HI.
func (c *Config) greet(ctx context.Context, conn *session.Conn, began time.Time) (hello json.RawMessage, err error) {
	r, err := conn.Answer(ctx)
	if err := answerError("greeting", began, r, err); err != nil {
		return nil, err
	}
	greeting := fwpsession.Reply(r.Message)
	hi, err := fwp.ParseHi(greeting)
	if greeting.Kind == fwp.ErrorReply {
		return nil, fmt.Errorf("the server greeted with an error: %s", greeting.Text)
	}
	if err != nil {
		return nil, err
	}
	_, hello, _ = bytes.Cut(greeting.Text, []byte(" "))
	client := fwp.Hello{}
	if hi.Protected {
		if client.PasswordHash, err = fwp.PasswordHash(c.Password, hi.Salt, hi.Iterations); err != nil {
			return hello, err
		}
	}
	return hello, runCommand(ctx, conn, client.Command(), began)
}

// runCommand sends a command, and returns why it was not carried out. An error tells the time since the introduction
// began.
func runCommand(ctx context.Context, conn *session.Conn, command fwp.Command, since time.Time) error {
	r, err := ask(ctx, conn, command)
	if err := answerError("answering "+command.Verb, since, r, err); err != nil {
		return err
	}
	if reply := fwpsession.Reply(r.Message); reply.Kind == fwp.ErrorReply {
		return fmt.Errorf("the server refused %s: %s", command.Verb, text.Shorten(string(reply.Text)))
	}
	return nil
}

// askInfo returns the reply to INFO, or the breach that it is. The load goes on without either.
func askInfo(ctx context.Context, conn *session.Conn) ([]byte, *wire.BreachError) {
	ctx, cancel := context.WithTimeout(ctx, informTimeout)
	defer cancel()
	r, err := ask(ctx, conn, fwp.Command{Verb: fwp.INFO})
	switch {
	case isMalformed(r):
		return nil, invalidReply(fwp.INFO, r.Broken.Rule, r.Broken)
	case err != nil || !r.IsComplete() || r.Message.Kind == byte(fwp.ErrorReply):
		return nil, nil
	case r.Message.Kind == byte(fwp.BulkString):
		return r.Message.Text, nil
	}
	return nil, foreignReply(fwp.INFO, format(fwpsession.Reply(r.Message)))
}

func ask(ctx context.Context, conn *session.Conn, c fwp.Command) (session.Received, error) {
	return conn.Ask(ctx, fwp.AppendCommand(nil, c))
}

// isMalformed reports whether the server broke the grammar, other than by an end of the connection within a reply.
func isMalformed(r session.Received) bool {
	return r.Broken != nil && !r.Broken.IsLimit && r.Broken.Rule != fwp.RuleTruncated.String()
}

// answerError returns why the server did not do something since a time, nil if it did.
func answerError(doing string, since time.Time, r session.Received, err error) error {
	switch {
	case r.GaveUp, errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the server sent nothing for %v instead of %s", time.Since(since).Round(time.Millisecond), doing)
	case err != nil:
		return fmt.Errorf("%s: %w", doing, err)
	case isMalformed(r):
		return fmt.Errorf("the server sent invalid RESP instead of %s: %w", doing, r.Broken)
	case r.Broken != nil && r.Broken.IsLimit:
		return fmt.Errorf("the server sent more than is read instead of %s: %w", doing, r.Broken)
	case !r.IsComplete():
		return fmt.Errorf("the server closed the connection instead of %s", doing)
	}
	return nil
}
