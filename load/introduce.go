package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// introduceTimeout bounds the conversation before the load.
const introduceTimeout = 10 * time.Second

// introduce asks the server what it is: the JSON of its HI, and what it answers to
// INFO. An error reply to INFO leaves info empty; the load does not need it. It blocks
// for 10 s at most. (Not Identified State; INFO Command)
func introduce(ctx context.Context, dial func(context.Context) (net.Conn, error), password string) (hi, info json.RawMessage, err error) {
	ctx, cancel := context.WithTimeout(ctx, introduceTimeout)
	defer cancel()
	nc, err := dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer nc.Close()
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	r := fwp.NewReader(nc, 0)
	greeting, err := r.Read()
	if err != nil {
		return nil, nil, fmt.Errorf("read the greeting: %w", err)
	}
	parsed, err := fwp.ParseHi(greeting)
	if err != nil {
		return nil, nil, fmt.Errorf("read the greeting: %w", err)
	}
	_, hash, _ := bytes.Cut(greeting.Text, []byte(" "))
	hi = bytes.Clone(hash)
	hello := fwp.Hello{}
	if parsed.Protected {
		if hello.PasswordHash, err = fwp.PasswordHash(password, parsed.Salt, parsed.Iterations); err != nil {
			return hi, nil, err
		}
	}
	if _, err := ask(nc, r, hello.Command()); err != nil {
		return hi, nil, fmt.Errorf("HELLO: %w", err)
	}
	answer, err := ask(nc, r, fwp.Command{Verb: fwp.INFO})
	if err == nil && answer.Kind == fwp.BulkString {
		info = bytes.Clone(answer.Text)
	}
	_, _ = ask(nc, r, fwp.Command{Verb: fwp.END}) // it may close without a word
	return hi, info, nil
}

// ask sends a command and reads its reply. An error reply is an error.
func ask(nc net.Conn, r *fwp.Reader, c fwp.Command) (fwp.Reply, error) {
	if _, err := nc.Write(fwp.AppendCommand(nil, c)); err != nil {
		return fwp.Reply{}, err
	}
	reply, err := r.Read()
	if err != nil {
		return fwp.Reply{}, err
	}
	return reply, reply.Err()
}
