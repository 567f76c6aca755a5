package engine

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Resolve returns the addresses of a server, in the order in which they are tried. It may block until ctx is done.
type Resolve func(ctx context.Context) ([]netip.AddrPort, error)

// Config is what an engine needs. Dial or Resolve must be set.
type Config struct {
	// Loops is the number of loops; 0 means 1.
	Loops int
	// Dial opens a connection for the portable engine. It is called by a goroutine of its own for
	// each session, and must return soon after ctx has ended.
	Dial func(ctx context.Context) (net.Conn, error)
	// Resolve returns where the epoll engine connects to, which opens its sockets itself. It is called outside the loops,
	// by one goroutine at a time, and what it returns serves for all dials of the next second. A connection goes to the
	// first address that accepts it, within 2 s unless it is the last one.
	Resolve Resolve
	// DialBackend and ResolveBackend are Dial and Resolve for sessions whose Link has UsesBackend set. Without them these
	// sessions connect as all others do.
	DialBackend    func(ctx context.Context) (net.Conn, error)
	ResolveBackend Resolve
	// OnOpen, if set, is called by the epoll engine with the address of each connection that it has opened. It is called
	// inside a loop, by several at once, and must not block.
	OnOpen func(netip.AddrPort)
	// SpreadSources gives every connection of the epoll engine to a loopback address of IPv4 a source
	// address of its own in 127.0.0.0/8, in turn: the ports of one source are used up by some
	// thirty thousand connections a minute.
	SpreadSources bool
	// CoarseTimers makes the loops of the portable engine sleep by package time, whose timers come up to
	// a millisecond late. Else, on Linux, they come within some ten microseconds. In virtual time
	// (testing/synctest) it must be set.
	CoarseTimers bool
	// KeepProcessors has each thread of the epoll engine keep its processor of the Go runtime while it waits. That saves
	// what the runtime's monitor does to take it away, a tenth of the CPU time of a load on a slow server. GOMAXPROCS must
	// be greater than Loops: other goroutines run on what is left.
	KeepProcessors bool
	// Linger is how long a connection that its session has closed may take to send what
	// is left, before that is given up; 0 means 5 s.
	Linger time.Duration
}

// driver is an engine: loops, and what they share.
type driver struct {
	name           string
	config         Config
	start          time.Time
	ctx            context.Context //nolint:containedctx // the life of the engine, which its dials share
	cancel         context.CancelFunc
	loops          []*loop
	loopInterfaces []Loop
	wg             sync.WaitGroup // added to inside a loop, or before there is one
}

func newDriver(name string, config Config) *driver {
	e := &driver{name: name, config: config, start: time.Now()}
	e.config.Loops = max(1, config.Loops)
	if config.Linger == 0 {
		e.config.Linger = 5 * time.Second
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// add adds a loop.
func (e *driver) add(l *loop) {
	e.loops = append(e.loops, l)
	e.loopInterfaces = append(e.loopInterfaces, l)
}

// NewPortable returns a running engine which has a goroutine for each connection, and one more that
// sleeps for the timers of each loop. It holds resources until it is closed.
func NewPortable(config Config) Engine {
	e := newDriver("portable", config)
	for range e.config.Loops {
		s := newSleeper(config.CoarseTimers, e.start)
		l := newLoop(e, s, newStream)
		e.add(l)
		e.wg.Go(func() { l.keepTime(s) })
	}
	return e
}

func (e *driver) String() string { return e.name }

func (e *driver) Loops() []Loop { return e.loopInterfaces }

func (e *driver) Do(loop int, fn func(now time.Duration)) {
	l := e.loops[loop]
	l.enter()
	defer l.leave()
	l.isClockFresh = false // fn may take its time
	fn(l.clock)
}

func (e *driver) Busy(loop int) time.Duration {
	return time.Duration(e.loops[loop].busy.Load())
}

func (e *driver) WaitTime(loop int) (total time.Duration, times int64) {
	l := e.loops[loop]
	return time.Duration(l.waitTime.Load()), l.arrivals.Load()
}

func (e *driver) Close() error {
	for _, l := range e.loops {
		l.end()
	}
	e.cancel() // not before, or the sessions would see failed dials
	e.wg.Wait()
	return nil
}
