package engine

import (
	"context"
	"net"
	"sync"
	"time"
)

// Config is what a portable engine needs.
type Config struct {
	// Loops is the number of loops; 0 means 1.
	Loops int
	// Dial opens a connection. It is called by a goroutine of its own for each session,
	// and must return soon after ctx has ended.
	Dial func(ctx context.Context) (net.Conn, error)
	// Coarse makes the loops sleep by package time, whose timers come up to a millisecond
	// late. Else, on Linux, they come within some ten microseconds. In virtual time
	// (testing/synctest) it must be set.
	Coarse bool
	// Linger is how long a connection that its session has closed may take to send what
	// is left, before that is given up; 0 means 5 s.
	Linger time.Duration
}

// portable is the engine with goroutines: a loop is a lock, each connection has a
// goroutine that blocks in Read, and one more sleeps for the timers of each loop.
type portable struct {
	config Config
	start  time.Time
	ctx    context.Context //nolint:containedctx // the life of the engine, which its dials share
	cancel context.CancelFunc
	loops  []*loop
	shown  []Loop
	wg     sync.WaitGroup // added to inside a loop, or before there is one
}

// NewPortable returns a running engine which has a goroutine for each connection. It
// holds resources until it is closed.
func NewPortable(config Config) Engine {
	e := &portable{config: config, start: time.Now()}
	e.config.Loops = max(1, config.Loops)
	if config.Linger == 0 {
		e.config.Linger = 5 * time.Second
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	for range e.config.Loops {
		l := newLoop(e)
		e.loops = append(e.loops, l)
		e.shown = append(e.shown, l)
		e.wg.Go(l.keepTime)
	}
	return e
}

func (e *portable) Loops() []Loop { return e.shown }

func (e *portable) Do(loop int, fn func(now time.Duration)) {
	l := e.loops[loop]
	l.enter()
	defer l.leave()
	l.unused = false // fn may take its time
	fn(l.clock)
}

func (e *portable) Busy(loop int) time.Duration {
	return time.Duration(e.loops[loop].busy.Load())
}

func (e *portable) Close() error {
	for _, l := range e.loops {
		l.end()
	}
	e.cancel() // not before, or the sessions would see failed dials
	e.wg.Wait()
	return nil
}
