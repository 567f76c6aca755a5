package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/load/fwpspeaker"
	"github.com/fwpsuite/fwp/load/protocol"
)

// introduceTimeout bounds the conversation before the load, and informTimeout the part
// of it that the load does not need.
const (
	introduceTimeout = 10 * time.Second
	informTimeout    = 2 * time.Second
)

// introduction is what the server says of itself before the load.
type introduction struct {
	hi, info json.RawMessage
	breach   *protocol.BreachError // of the reply to INFO; nil if there was none
}

// introduce asks the server what it is: the JSON of its HI, and what it answers to
// INFO. An error reply to INFO leaves info empty; the load does not need it. It blocks
// for 10 s at most. (Not Identified State; INFO Command)
func introduce(ctx context.Context, dial func(context.Context) (net.Conn, error), password string) (in introduction, err error) {
	ctx, cancel := context.WithTimeout(ctx, introduceTimeout)
	defer cancel()
	nc, err := dial(ctx)
	if err != nil {
		return in, err
	}
	defer nc.Close()
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	r := fwp.NewReader(nc, 0)
	greeting, err := r.Read()
	if err != nil {
		return in, unanswered("greeting", err)
	}
	hi, err := fwp.ParseHi(greeting)
	if refused, ok := errors.AsType[*fwp.ReplyError](err); ok {
		return in, fmt.Errorf("the server greeted with an error: %s", refused.Text)
	}
	if err != nil {
		return in, err
	}
	_, hash, _ := bytes.Cut(greeting.Text, []byte(" "))
	in.hi = bytes.Clone(hash)
	hello := fwp.Hello{}
	if hi.Protected {
		if hello.PasswordHash, err = fwp.PasswordHash(password, hi.Salt, hi.Iterations); err != nil {
			return in, err
		}
	}
	if _, err := ask(nc, r, hello.Command()); err != nil {
		return in, err
	}
	in.inform(nc, r)
	return in, nil
}

// inform asks for INFO, and ends the connection.
func (in *introduction) inform(nc net.Conn, r *fwp.Reader) {
	_ = nc.SetDeadline(time.Now().Add(informTimeout)) // without it there is another one
	answer, err := ask(nc, r, fwp.Command{Verb: fwp.INFO})
	syntax, broken := errors.AsType[*fwp.SyntaxError](err)
	switch {
	case broken && syntax.Rule != fwp.RuleTruncated:
		in.breach = fwpspeaker.NoRESP(fwp.INFO, syntax)
	case err != nil:
		return
	case answer.Kind == fwp.BulkString:
		in.info = bytes.Clone(answer.Text)
	default:
		in.breach = fwpspeaker.WrongReply(fwp.INFO, answer)
	}
	_, _ = ask(nc, r, fwp.Command{Verb: fwp.END}) // it may close without a word
}

// ask sends a command and reads its reply. An error reply is an error.
func ask(nc net.Conn, r *fwp.Reader, c fwp.Command) (fwp.Reply, error) {
	if _, err := nc.Write(fwp.AppendCommand(nil, c)); err != nil {
		return fwp.Reply{}, unanswered("answering "+c.Verb, err)
	}
	reply, err := r.Read()
	if err != nil {
		return fwp.Reply{}, unanswered("answering "+c.Verb, err)
	}
	if refused, ok := errors.AsType[*fwp.ReplyError](reply.Err()); ok {
		return reply, fmt.Errorf("the server refused %s: %s", c.Verb, refused.Text)
	}
	return reply, nil
}

// unanswered says in words why the server did not do something.
func unanswered(doing string, err error) error {
	syntax, broken := errors.AsType[*fwp.SyntaxError](err)
	switch {
	case broken && syntax.Rule != fwp.RuleTruncated:
		return fmt.Errorf("the server sent no RESP instead of %s: %w", doing, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("the server kept silent for %v instead of %s", introduceTimeout, doing)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("the server closed the connection instead of %s", doing)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
