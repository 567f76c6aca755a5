package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/protocols/emqp"
)

// work works a request: as often as its headers say, and no longer, and replies if they ask for it. (Headers)
func (c *conversation) work(m emqp.Message) {
	headers, _ := emqp.ParseHeaders(string(m.Fields[1]))
	e := c.ask(&Event{
		Point: Working, Message: m, Retries: number(headers, emqp.RetryCount), Replies: headers.Has(emqp.ReplyRequested),
		Timeout: time.Duration(number(headers, emqp.Timeout)) * time.Second,
	})
	if e.Skip {
		return
	}
	if e.ReplyFirst && e.Replies {
		_ = c.send(emqp.Reply(c.id(), "True")) // the connection tells
	}
	var information string
	err := errors.New("not run")
	for i := 0; i <= e.Retries && err != nil && c.ctx.Err() == nil; i++ {
		information, err = c.run(m.Fields[2], e)
	}
	if err != nil {
		information = "error: " + err.Error()
	}
	if c.ctx.Err() != nil {
		return
	}
	result := c.ask(&Event{
		Point: Ran, Message: m, Information: information, Replies: e.Replies && !e.ReplyFirst, HasFailed: err != nil,
	})
	if result.Replies {
		_ = c.send(emqp.Reply(c.id(), result.Information)) // the connection tells
	}
	if !result.Skip {
		_ = c.send(emqp.Ready(c.id())) // the connection tells
	}
}

// number returns the number of a header, 0 if it is missing.
func number(headers emqp.Headers, name string) int {
	value, _ := headers.Get(name)
	n, _ := strconv.Atoi(value)
	return n
}

// task is the message of a REQUEST: what to do, and with what.
type task []any

// word returns the text of a word, "" if there is none.
func (t task) word(i int) string {
	if i < len(t) {
		return fmt.Sprint(t[i])
	}
	return ""
}

// amount is the first argument, 0 if it is no number.
func (t task) amount() float64 {
	amount, _ := strconv.ParseFloat(t.word(1), 64)
	return amount
}

// sleep waits for as many seconds as the amount, or returns an error when ctx is done.
func (t task) sleep(ctx context.Context) error {
	if !machine.Sleep(ctx, time.Duration(t.amount()*float64(time.Second))) {
		return errors.New("the time is over")
	}
	return nil
}

// run runs a job once, and returns its information, "True" if it has none.
func (c *conversation) run(message []byte, e *Event) (string, error) {
	var t task
	if json.Unmarshal(message, &t) != nil || len(t) == 0 {
		return "", errors.New("the message is not a JSON array")
	}
	ctx := c.ctx
	if e.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, e.Timeout)
		defer cancel()
	}
	switch t.word(0) {
	case "fwp.ok":
		return "True", nil
	case "fwp.echo":
		return t.word(1), nil
	case "fwp.sleep":
		return "True", t.sleep(ctx)
	case "fwp.late":
		if err := t.sleep(ctx); err != nil {
			return "", err
		}
		return "True", touch(t.word(2))
	case "fwp.flaky":
		if err := touch(t.word(2)); err != nil {
			return "", err
		}
		if info, err := os.Stat(t.word(2)); err != nil || info.Size() <= int64(t.amount()) {
			return "", errors.New("it has failed")
		}
		return "True", nil
	}
	return "", errors.New(t.word(1))
}

// touch appends a byte to a file.
func touch(path string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("x")
	return errors.Join(err, f.Close())
}
