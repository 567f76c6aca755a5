package worker

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Worker is one worker. Its methods may be called by many goroutines at once.
type Worker struct {
	cfg  Config
	addr string
	pass string
	tls  *tls.Config // nil: none

	mu              sync.Mutex
	conns           map[*conn]struct{}
	quietSignal     chan struct{} // closed when no more jobs are fetched
	terminateSignal chan struct{} // closed when the worker is to end
	closedChans     map[chan struct{}]bool

	abandon     chan struct{} // closed when jobs that still run are to fail
	cancel      context.CancelCauseFunc
	dials       atomic.Int64
	produces    bool         // it is a producer
	renewal     atomic.Int64 // grows when all connections are to greet again
	runningJobs atomic.Int64 // jobs
}

// New returns a worker, which does nothing yet.
func New(config Config) *Worker {
	config.fill()
	return &Worker{
		cfg: config, conns: map[*conn]struct{}{}, closedChans: map[chan struct{}]bool{},
		quietSignal: make(chan struct{}), terminateSignal: make(chan struct{}), abandon: make(chan struct{}),
		cancel: func(error) {},
	}
}

// Config returns the configuration, with its defaults.
func (w *Worker) Config() Config { return w.cfg }

// RunningJobs returns how many jobs run now.
func (w *Worker) RunningJobs() int { return int(w.runningJobs.Load()) }

// Run runs the worker until it was terminated, and returns its exit code: 0 after an orderly end. When ctx is done it
// ends without ceremony, as a process does that is killed. No goroutine of it is left when it returns.
func (w *Worker) Run(ctx context.Context) int {
	if err := w.parse(); err != nil {
		w.logf("%v", err)
		return 2
	}
	ctx, w.cancel = context.WithCancelCause(ctx)
	defer w.cancel(nil)
	var all sync.WaitGroup
	defer all.Wait()
	defer w.closeAll()
	defer w.cancel(nil)
	executors := make(chan struct{})
	all.Go(func() {
		w.executeAll(ctx)
		close(executors)
	})
	stopBeats, beats := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		w.beat(ctx, stopBeats)
		close(beats)
	})
	all.Go(func() { w.expire(ctx) })
	return w.awaitEnd(ctx, executors, beats, stopBeats)
}

// executeAll runs the executors, and returns when all of them have ended.
func (w *Worker) executeAll(ctx context.Context) {
	var group sync.WaitGroup
	for range w.cfg.Concurrency {
		group.Go(func() { w.execute(ctx) })
	}
	group.Wait()
}

// awaitEnd returns the exit code when the worker is to end. The channels executors and beats are closed when these have
// ended; it closes stopBeats when a termination has ended the executors.
func (w *Worker) awaitEnd(ctx context.Context, executors, beats <-chan struct{}, stopBeats chan<- struct{}) int {
	for isOver := false; ; {
		select {
		case <-ctx.Done():
		case <-executors:
			if executors = nil; isClosed(w.terminateSignal) { // otherwise a bug ended them
				close(stopBeats)
			}
		case <-beats:
			isOver = true
		}
		if code, ok := exitCodeOf(ctx); ok {
			return code
		}
		if isOver {
			e := &Event{}
			w.at(Exiting, e)
			machine.Sleep(ctx, e.Delay)
			return e.Code
		}
	}
}

// exitCodeOf returns the exit code of a worker that is ended without ceremony, and whether it is.
func exitCodeOf(ctx context.Context) (code int, ok bool) {
	if exit, ok := errors.AsType[exitCode](context.Cause(ctx)); ok {
		return int(exit), true
	}
	return 137, ctx.Err() != nil
}

func (w *Worker) parse() error {
	u, err := url.Parse(w.cfg.address())
	if err != nil {
		return err
	}
	w.addr = u.Host
	if u.Port() == "" {
		w.addr = net.JoinHostPort(u.Hostname(), "7419")
	}
	w.pass, _ = u.User.Password()
	if u.Scheme == "tcp+tls" {
		w.tls = &tls.Config{MinVersion: tls.VersionTLS12}
		if w.cfg.TLS != nil {
			w.tls = w.cfg.TLS.Clone()
		}
		w.tls.ServerName = u.Hostname()
	}
	return nil
}

// expire waits for a termination, and has the jobs fail that still run when its grace is over.
func (w *Worker) expire(ctx context.Context) {
	select {
	case <-w.terminateSignal:
	case <-ctx.Done():
		return
	}
	e := &Event{Interval: w.cfg.Grace}
	w.at(Quitting, e)
	switch {
	case !machine.Sleep(ctx, e.Interval):
	case e.Skip:
		w.Exit(1)
	default:
		w.closeOnce(w.abandon)
	}
}

// Signal is what the process does at a signal: TERM and INT terminate the worker, TSTP quiets it.
func (w *Worker) Signal(name string) {
	e := &Event{Signal: name}
	switch name {
	case "TERM", "INT":
		e.State = "terminate"
	case "TSTP":
		e.State = "quiet"
	default:
		return
	}
	w.order(e)
}

// order enters a state. (Quiet State, Terminating State)
func (w *Worker) order(e *Event) {
	w.at(Ordered, e)
	if e.Skip {
		return
	}
	switch e.State {
	case "quiet":
		w.closeOnce(w.quietSignal)
	case "terminate":
		w.closeOnce(w.quietSignal)
		w.closeOnce(w.terminateSignal)
	}
}

// exitCode is the reason of an end by Exit.
type exitCode int

func (c exitCode) Error() string { return "exit status " + strconv.Itoa(int(c)) }

// Exit ends the worker at once with an exit code: it works no other job when Exit has returned.
func (w *Worker) Exit(code int) { w.cancel(exitCode(code)) }

// closeOnce closes a channel that may be closed already.
func (w *Worker) closeOnce(c chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closedChans[c] {
		w.closedChans[c] = true
		close(c)
	}
}

// state returns what a BEAT reports as current_state.
func (w *Worker) state() string {
	switch {
	case isClosed(w.terminateSignal):
		return "terminate"
	case isClosed(w.quietSignal):
		return "quiet"
	}
	return ""
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// endAll sends END on all connections, as a bug does.
func (w *Worker) endAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		_, _ = c.nc.Write([]byte("END\r\n"))
	}
}

// sendOnNewConn sends a command on a connection of its own.
func (w *Worker) sendOnNewConn(verb string, fields Fields) (ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), dialPatience)
	defer cancel()
	c, err := w.openConn(ctx, false)
	if err != nil {
		return false
	}
	reply, err := c.roundTrip(ctx, verb, encode(fields))
	c.end(ctx)
	return err == nil && reply.Kind == fwp.SimpleString
}

// skipEndReply closes a connection as soon as its next line is written, without a wait for the reply.
func (w *Worker) skipEndReply(number int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		if c.n == number {
			c.skipsEndReply = true
		}
	}
}
