package fwpspeaker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/session/fwpsession"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/load/protocol"
)

// introduceTimeout limits the introduction, and informTimeout the part of it that the load does not need.
const (
	introduceTimeout = 10 * time.Second
	informTimeout    = 2 * time.Second
)

// Introduce returns the JSON of the server's HI and of its reply to INFO. An error reply to INFO leaves Info empty.
// A server that refuses HELLO is an error with the Greeting. It blocks for 10 s, and for one more until the server has
// closed the connection. (Not Identified State; INFO Command)
func (c *Config) Introduce(ctx context.Context, dial protocol.Dial) (in protocol.Introduction, err error) {
	ctx, cancel := context.WithTimeout(ctx, introduceTimeout)
	defer cancel()
	err = c.introduced(ctx, dial, func(conn *session.Conn) error {
		if err := c.additions(ctx, conn); err != nil {
			return err
		}
		in.Info, in.Breach = inform(ctx, conn)
		return nil
	}, &in.Greeting)
	return in, err
}

// introduced does something on a connection that the server has accepted, and returns the JSON of its HI.
func (c *Config) introduced(
	ctx context.Context, dial protocol.Dial, do func(*session.Conn) error, hello *json.RawMessage,
) error {
	began := time.Now()
	nc, err := dial(ctx)
	if err != nil {
		return err
	}
	conn := session.New(nc, fwpsession.Protocol{}, session.Config{Timeout: introduceTimeout})
	defer conn.Leave(ctx)
	r, err := conn.Answer(ctx)
	if err := unanswered("greeting", began, r, err); err != nil {
		return err
	}
	greeting := fwpsession.Reply(r.Message)
	hi, err := fwp.ParseHi(greeting)
	if greeting.Kind == fwp.ErrorReply {
		return fmt.Errorf("the server greeted with an error: %s", greeting.Text)
	}
	if err != nil {
		return err
	}
	_, *hello, _ = bytes.Cut(greeting.Text, []byte(" "))
	client := fwp.Hello{}
	if hi.Protected {
		if client.PasswordHash, err = fwp.PasswordHash(c.Password, hi.Salt, hi.Iterations); err != nil {
			return err
		}
	}
	if err := carriedOut(ctx, conn, client.Command(), began); err != nil {
		return err
	}
	return do(conn)
}

// carriedOut sends a command, and returns why it was not carried out. An error tells the time since the introduction
// began.
func carriedOut(ctx context.Context, conn *session.Conn, command fwp.Command, since time.Time) error {
	r, err := ask(ctx, conn, command)
	if err := unanswered("answering "+command.Verb, since, r, err); err != nil {
		return err
	}
	if reply := fwpsession.Reply(r.Message); reply.Kind == fwp.ErrorReply {
		return fmt.Errorf("the server refused %s: %s", command.Verb, text.Shorten(string(reply.Text)))
	}
	return nil
}

// inform returns the reply to INFO, or the breach that it is. The load goes on without either.
func inform(ctx context.Context, conn *session.Conn) ([]byte, *protocol.BreachError) {
	ctx, cancel := context.WithTimeout(ctx, informTimeout)
	defer cancel()
	r, err := ask(ctx, conn, fwp.Command{Verb: fwp.INFO})
	switch {
	case malformed(r):
		return nil, invalid(fwp.INFO, r.Broken.Rule, r.Broken)
	case err != nil || !r.Whole() || r.Message.Kind == byte(fwp.ErrorReply):
		return nil, nil
	case r.Message.Kind == byte(fwp.BulkString):
		return r.Message.Text, nil
	}
	return nil, foreign(fwp.INFO, fwpsession.Reply(r.Message))
}

func ask(ctx context.Context, conn *session.Conn, c fwp.Command) (session.Received, error) {
	return conn.Ask(ctx, fwp.AppendCommand(nil, c))
}

// malformed reports whether the server broke the grammar, other than by an end of the connection within a reply.
func malformed(r session.Received) bool {
	return r.Broken != nil && !r.Broken.Limit && r.Broken.Rule != fwp.RuleTruncated.String()
}

// unanswered returns why the server did not do something since a time, nil if it did.
func unanswered(doing string, since time.Time, r session.Received, err error) error {
	switch {
	case r.GaveUp, errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the server kept silent for %v instead of %s", time.Since(since).Round(time.Millisecond), doing)
	case err != nil:
		return fmt.Errorf("%s: %w", doing, err)
	case malformed(r):
		return fmt.Errorf("the server sent invalid RESP instead of %s: %w", doing, r.Broken)
	case r.Broken != nil && r.Broken.Limit:
		return fmt.Errorf("the server sent more than is read instead of %s: %w", doing, r.Broken)
	case !r.Whole():
		return fmt.Errorf("the server closed the connection instead of %s", doing)
	}
	return nil
}
