// Package worker is a conforming worker of Workq, with one hook at which catalogues of bugs and of permitted
// variations change it: what tests workers of Workq is tested on it. It leases the jobs that docs/judging-workers.md
// describes (internal/base/jobtype). Each executor has a connection of its own.
package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/base/jobtype"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// Config configures a worker; its zero value works but for the URL.
type Config struct {
	URL         string        // workq://HOST:PORT
	Concurrency int           // executors; 2 if zero
	Names       []string      // that each lease has; those of jobtype.Workq if empty
	Wait        time.Duration // of a lease; 2 s if zero
	// Dial opens connections; nil means the network of the machine.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Hook sees and may change everything that happens: see [Event]. It is called by many goroutines at once.
	Hook func(*Event)
}

// replyLimit bounds a reply: a payload, and the lines before it.
const replyLimit = workq.MaxBlock + 64<<10

// Run runs a worker until ctx is done, or a bug ends it, and returns its exit code. No goroutine of it is left then.
func Run(ctx context.Context, config Config) int {
	u, err := url.Parse(config.URL)
	if err != nil || u.Host == "" {
		return 2
	}
	if config.Dial == nil {
		config.Dial = new(net.Dialer).DialContext
	}
	if config.Concurrency <= 0 {
		config.Concurrency = 2
	}
	if len(config.Names) == 0 {
		config.Names = jobtype.Names(jobtype.Workq())
	}
	if config.Wait <= 0 {
		config.Wait = 2 * time.Second
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &worker{Config: config, addr: u.Host, exit: cancel, done: ctx.Done()}
	var all sync.WaitGroup
	for range config.Concurrency {
		all.Go(func() { w.execute(ctx) })
	}
	all.Wait()
	if errors.Is(context.Cause(ctx), errExit) {
		return 1
	}
	return 0
}

var (
	errExit = errors.New("the worker ends")
	errEnd  = errors.New("the connection is ended")
)

type worker struct {
	Config
	addr string
	exit func(error)
	done <-chan struct{}
}

// ask calls the hook, which may end the worker, or let its executor do nothing more.
func (w *worker) ask(e *Event) *Event {
	if w.Hook != nil {
		w.Hook(e)
	}
	if e.Exit {
		w.exit(errExit)
	}
	if e.Hang {
		<-w.done
	}
	return e
}

// execute works jobs on one connection after the other.
func (w *worker) execute(ctx context.Context) {
	const pause = 200 * time.Millisecond
	for ctx.Err() == nil {
		nc, err := w.Dial(ctx, "tcp", w.addr)
		if err == nil {
			stop := context.AfterFunc(ctx, func() { nc.Close() })
			c := &conn{worker: w, nc: nc}
			for err == nil {
				err = c.work(ctx)
			}
			stop()
			nc.Close()
		}
		machine.Sleep(ctx, pause)
	}
}

// conn is one connection.
type conn struct {
	*worker
	nc net.Conn
	// unread is what was read of replies.
	unread []byte
}

// work leases a job, and reports it when it is done. (lease; complete; fail)
func (c *conn) work(ctx context.Context) error {
	words := append(slices.Clone(c.Names), strconv.FormatInt(c.Wait.Milliseconds(), 10))
	reply, err := c.call(&Event{
		Point: Sending, Verb: workq.Lease, Bytes: []byte("lease " + strings.Join(words, " ") + "\r\n"),
	})
	if err == nil && reply.Error != "" && reply.Error != workq.Timeout {
		return errEnd // and try again a moment later
	}
	if err != nil || reply.Error != "" || len(reply.Records) != 1 || len(reply.Records[0].Head) < 3 {
		return err
	}
	r := reply.Records[0]
	ttr, _ := strconv.Atoi(r.Head[2])
	e := c.ask(&Event{
		Point: Delivered, ID: r.Head[0], Name: r.Head[1], TTR: time.Duration(ttr) * time.Millisecond, Block: r.Block,
	})
	if e.Skip {
		return nil
	}
	e.Verb, e.Block = c.run(ctx, e)
	if ctx.Err() != nil {
		return errEnd
	}
	if e.Point = Ran; c.ask(e).Skip {
		return nil
	}
	for range 1 + e.Repeats {
		if _, err = c.call(&Event{
			Point: Sending, Verb: e.Verb, ID: e.ID, Block: e.Block,
			Bytes: fmt.Appendf(nil, "%s %s %d\r\n%s\r\n", e.Verb, e.ID, len(e.Block), e.Block),
		}); err != nil {
			return err
		}
	}
	return nil
}

// run runs a job, no longer than its time to run, and returns how it is reported.
func (c *conn) run(ctx context.Context, e *Event) (verb string, result []byte) {
	switch e.Name {
	case jobtype.Fail:
		return workq.Fail, e.Block
	case jobtype.Echo:
		return workq.Complete, e.Block
	case jobtype.Sleep:
		seconds, _ := strconv.ParseFloat(string(bytes.TrimSpace(e.Block)), 64)
		if duration := time.Duration(seconds * float64(time.Second)); duration > e.TTR {
			machine.Sleep(ctx, e.TTR)
			return workq.Fail, []byte("the time to run is over")
		} else if !machine.Sleep(ctx, duration) {
			return workq.Fail, nil
		}
	}
	return workq.Complete, nil
}

// call sends a command and returns the reply.
func (c *conn) call(e *Event) (workq.Reply, error) {
	if c.ask(e).Skip {
		return workq.Reply{}, nil
	}
	for rest := e.Bytes; len(rest) > 0; {
		n := len(rest)
		if e.Chunk > 0 {
			n = min(n, e.Chunk)
		}
		if _, err := c.nc.Write(rest[:n]); err != nil {
			return workq.Reply{}, err
		}
		rest = rest[n:]
	}
	var last *Event
	for range 1 + e.ExtraReplies {
		reply, err := c.read(e.AtOnce)
		if err != nil {
			return reply, err
		}
		last = c.ask(&Event{Point: Replied, Verb: e.Verb, ID: e.ID, Reply: reply})
	}
	if last.Close {
		return last.Reply, errEnd
	}
	return last.Reply, nil
}

// read reads one reply. With atOnce it takes what one read brings for all of it.
func (c *conn) read(atOnce bool) (workq.Reply, error) {
	chunk := make([]byte, 64<<10)
	for {
		reply, n, err := workq.ParseReply(c.unread)
		syntax, ok := errors.AsType[*workq.SyntaxError](err)
		switch {
		case err == nil:
			c.unread = append([]byte(nil), c.unread[n:]...)
			return reply, nil
		case ok:
			return reply, syntax
		case atOnce && len(c.unread) > 0, len(c.unread) > replyLimit:
			return reply, errEnd
		}
		got, err := c.nc.Read(chunk)
		if err != nil {
			return reply, err
		}
		c.unread = append(c.unread, chunk[:got]...)
	}
}
