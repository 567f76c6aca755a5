package worker

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// conn is one connection. One goroutine uses it.
type conn struct {
	w          *Worker
	nc         net.Conn
	in         *fwp.Reader
	n          int
	isBeatConn bool
	renewal    int64 // the renewal at which it greeted

	skipsEndReply bool // the reply to END is not awaited
	commands      int  // commands behind HELLO
}

var (
	errBroken = errors.New("the connection is taken for broken")
	errNoWork = errors.New("the worker ends")
)

// connect opens a connection and greets, and tries again until that works. It returns nil when ctx is done, when
// the worker ends, or when a bug keeps it from trying.
func (w *Worker) connect(ctx context.Context, beats bool, stop <-chan struct{}) *conn {
	for pause := w.cfg.FirstPause; ; pause = min(2*pause, longestPause) {
		c, err := w.openConn(ctx, beats)
		if err == nil {
			return c
		}
		if ctx.Err() != nil {
			return nil
		}
		w.logf("%v", err)
		if proceed, _ := w.pauseAfterLoss(ctx, beats, pause, err, stop); !proceed {
			return nil
		}
	}
}

// pauseAfterLoss waits before another dial, and reports whether there is to be one, and whether reports without a reply
// are to be forgotten.
func (w *Worker) pauseAfterLoss(
	ctx context.Context, beats bool, pause time.Duration, dialErr error, stop <-chan struct{},
) (proceed, forget bool) {
	e := &Event{Delay: pause, IsBeatConn: beats, Err: dialErr}
	w.at(ConnectionLost, e)
	if e.Skip {
		<-ctx.Done()
		return false, false
	}
	isOver := pauseUntil(ctx, e.Delay, stop)
	return isOver, isOver && e.Repeat
}

// pauseUntil waits for a time. It returns false as soon as stop is closed or ctx is done.
func pauseUntil(ctx context.Context, d time.Duration, stop <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop:
	case <-ctx.Done():
	}
	return false
}

// openConn opens a connection and greets once.
func (w *Worker) openConn(ctx context.Context, beats bool) (*conn, error) {
	dialCtx, cancel := context.WithTimeout(ctx, dialPatience)
	defer cancel()
	nc, err := w.cfg.Dial(dialCtx, "tcp", w.addr)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", w.addr, err)
	}
	if w.tls != nil {
		nc = tls.Client(nc, w.tls)
	}
	if w.cfg.Wrap != nil {
		nc = w.cfg.Wrap(nc)
	}
	c := &conn{w: w, nc: nc, in: fwp.NewReader(nc, 0), n: int(w.dials.Add(1)), isBeatConn: beats,
		renewal: w.renewal.Load()}
	w.mu.Lock()
	w.conns[c] = struct{}{}
	w.mu.Unlock()
	if ctx.Err() != nil {
		c.close()
		return nil, ctx.Err()
	}
	if err := c.greet(ctx); err != nil {
		c.close()
		return nil, fmt.Errorf("greet %s: %w", w.addr, err)
	}
	return c, nil
}

// greet waits for HI and sends HELLO. (Not Identified State)
func (c *conn) greet(ctx context.Context) error {
	e := c.event()
	c.w.at(Dialed, e)
	hi, greeting := fwp.Hi{}, fwp.Reply{Text: []byte("HI ")}
	if !e.Skip {
		reply, err := c.in.Read()
		if err != nil {
			return err
		}
		if hi, err = fwp.ParseHi(reply); err != nil {
			return err
		}
		greeting = reply.Clone()
		if hi.Version > fwp.Version {
			c.w.logf("the server speaks version %d of the protocol: a newer version of this worker is advised", hi.Version)
		}
	}
	isEarly := e.Skip
	e = c.event()
	e.Hi, e.Reply, e.Fields = hi, greeting, c.w.hello()
	if hi.Protected {
		hash, err := fwp.PasswordHash(c.w.pass, hi.Salt, hi.Iterations)
		if err != nil {
			return err
		}
		e.Fields["pwdhash"] = hash
	}
	c.w.at(Introducing, e)
	switch {
	case e.Close:
		return errBroken
	case e.Skip:
		return nil
	}
	if isEarly {
		return c.greetEarly(e.Fields)
	}
	reply, err := c.roundTrip(ctx, fwp.HELLO, encode(e.Fields))
	return errors.Join(err, reply.Err())
}

// greetEarly sends HELLO before HI has come, as a bug does.
func (c *conn) greetEarly(fields Fields) error {
	if _, err := c.nc.Write(line(fwp.HELLO, encode(fields))); err != nil {
		return err
	}
	if _, err := c.in.Read(); err != nil {
		return err
	}
	reply, err := c.in.Read()
	return errors.Join(err, reply.Err())
}

// hello returns the fields of HELLO. (HELLO Command; HELLO, Required Fields for Consumers)
func (w *Worker) hello() Fields {
	if w.produces {
		return Fields{"v": fwp.Version}
	}
	return Fields{
		"v": fwp.Version, "hostname": w.cfg.Hostname, "wid": w.cfg.WID, "pid": w.cfg.PID, "labels": w.cfg.Labels,
	}
}

func (c *conn) event() *Event { return &Event{Conn: c.n, IsBeatConn: c.isBeatConn, conn: c} }

// roundTrip sends a command and returns its reply, which may be an error reply. An error means that the connection is
// lost, or that the worker ends.
func (c *conn) roundTrip(ctx context.Context, verb string, args []byte) (fwp.Reply, error) {
	c.commands += btoi(verb != fwp.HELLO && verb != fwp.END)
	e := c.event()
	e.Verb, e.Line = verb, line(verb, args)
	c.w.at(Sending, e)
	if !machine.Sleep(ctx, e.Delay) {
		return fwp.Reply{}, errNoWork
	}
	if e.Skip {
		return fwp.Reply{Kind: fwp.SimpleString, Text: []byte("OK")}, nil
	}
	if _, err := c.nc.Write(append(e.Line, e.ExtraLines...)); err != nil {
		return fwp.Reply{}, err
	}
	if c.skipsEndReply {
		return fwp.Reply{}, errBroken
	}
	reply, err := c.in.Read()
	if err != nil {
		return fwp.Reply{}, err
	}
	reply = reply.Clone()
	for range bytes.Count(e.ExtraLines, []byte("\n")) {
		if _, err := c.in.Read(); err != nil {
			return fwp.Reply{}, err
		}
	}
	e = c.event()
	e.Verb, e.Reply = verb, reply
	c.w.at(Replied, e)
	switch {
	case e.Exit:
		c.w.Exit(1)
		return fwp.Reply{}, errNoWork
	case e.Close:
		return fwp.Reply{}, errBroken
	case e.Repeat:
		return c.roundTrip(ctx, verb, args)
	}
	return e.Reply, nil
}

// end ends the connection in order. (End State)
func (c *conn) end(ctx context.Context) {
	if c.isLeft() {
		return
	}
	e := c.event()
	c.w.at(Ending, e)
	if !e.Skip {
		_, _ = c.roundTrip(ctx, fwp.END, nil) // the server may close the connection without an answer
	}
	c.close()
}

// isLeft reports whether a connection stays open on which no other command may be sent, as with a bug.
func (c *conn) isLeft() bool { return c.w.cfg.LeaveOpen && c.isExhausted() }

func (c *conn) close() {
	if c.isLeft() {
		return
	}
	c.w.mu.Lock()
	delete(c.w.conns, c)
	c.w.mu.Unlock()
	c.nc.Close()
}

// closeAll closes all connections, as the end of a process does.
func (w *Worker) closeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		c.nc.Close()
	}
}

// line returns a command line. No arguments: nil.
func line(verb string, args []byte) []byte {
	return fwp.AppendCommand(nil, fwp.Command{Verb: verb, Args: args})
}

// encode returns the fields as JSON. A value of type json.RawMessage is written as it is.
func encode(f Fields) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any(f)); err != nil {
		panic(fmt.Sprintf("fakeworker: %v", err)) // a hook has put in what no JSON can hold
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

func (w *Worker) logf(format string, args ...any) {
	if w.cfg.Log != nil {
		w.cfg.Log(fmt.Sprintf(format, args...))
	}
}
