package engine

import (
	"sync"
	"sync/atomic"
	"time"
)

// loop is a lock around its sessions. The goroutine that holds it steps the sessions for which
// something has happened, and before it unlocks those that were poked and those whose wake has come.
type loop struct {
	engine       *driver
	waker        waker
	newTransport func(c *conn) transport
	busy         atomic.Int64 // nanoseconds
	waitTime     atomic.Int64 // nanoseconds, of all that came
	arrivals     atomic.Int64

	mu           sync.Mutex
	isEnded      bool          // Engine.Close was called
	enteredAt    time.Duration // when the lock was taken
	clock        time.Duration // the latest reading
	isClockFresh bool          // clock was read on entering, and no step has used it
	out          []byte        // what a step appends to
	in           []byte        // what is read inside the loop
	conns        map[*conn]struct{}
	queue        []*Link // those to be stepped before the loop is left, in order
	timers       timers
	alarm        time.Duration // when the waker has the loop entered; 0: not set
	offloads     []offload     // what is to be done outside; the first is being done
}

func newLoop(e *driver, w waker, newWire func(c *conn) transport) *loop {
	return &loop{
		engine:       e,
		waker:        w,
		newTransport: newWire,
		conns:        map[*conn]struct{}{},
		in:           make([]byte, chunkSize),
	}
}

func (l *loop) Now() time.Duration { return time.Since(l.engine.start) }

func (l *loop) Open(s Session) {
	k := s.link()
	if k.conn != nil {
		panic("engine: Open of a session that is open")
	}
	if l.isEnded {
		return
	}
	k.session, k.isClosed, k.dialedAt = s, false, l.Now()
	c := &conn{loop: l, link: k, isOpening: true}
	c.transport = l.newTransport(c)
	k.conn = c
	l.conns[c] = struct{}{}
	c.transport.dial()
}

func (l *loop) Poke(s Session) {
	k := s.link()
	k.session = s
	if !k.isClosed && !l.isEnded {
		k.isPoked = true
		l.enqueue(k)
	}
}

func (l *loop) enqueue(k *Link) {
	if !k.isQueued {
		k.isQueued = true
		l.queue = append(l.queue, k)
	}
}

// enter takes the lock and reads the clock.
func (l *loop) enter() {
	l.mu.Lock()
	l.clock = l.Now()
	l.enteredAt = l.clock
	l.isClockFresh = true
}

// leave steps whoever is due, sets the alarm and gives the lock back.
func (l *loop) leave() {
	l.settle()
	if next := l.timers.next(); next != 0 && (l.alarm == 0 || next < l.alarm) {
		l.alarm = next
		l.waker.set(next)
	}
	l.busy.Add(int64(l.Now() - l.enteredAt))
	l.mu.Unlock()
}

// settle steps whoever was poked or is due.
//
// On leaving the loop, and not only when the sleeper wakes: on a busy machine it is late, while
// a session leaves the loop every few microseconds.
func (l *loop) settle() {
	l.stepQueue()
	for turns := len(l.timers); turns > 0 && l.timers.isDue(l.clock); turns-- {
		k := l.timers[0]
		l.timers.set(k, 0)
		l.step(k, k.conn, Event{Kind: Woken})
		l.stepQueue()
	}
}

// stepQueue steps the sessions that were poked and those whose connection broke under a write.
func (l *loop) stepQueue() {
	for done := 0; done < len(l.queue); done++ { //nolint:intrange // the steps make it longer
		k := l.queue[done]
		k.isQueued = false
		if k.isPoked {
			k.isPoked = false
			l.step(k, k.conn, Event{Kind: Woken})
		}
		if c := k.conn; c != nil && c.failure != nil {
			c.reportFailure()
		}
	}
	clear(l.queue)
	l.queue = l.queue[:0]
}

// step steps a session and does what it wants. What it sends goes to c, if that is
// there.
func (l *loop) step(k *Link, c *conn, ev Event) {
	if !l.isClockFresh {
		l.clock = l.Now()
	}
	l.isClockFresh = false
	send, next := k.session.Step(l.clock, ev, l.out[:0])
	if len(send) > 0 && c != nil {
		c.send(send)
	}
	l.growOut(cap(send))
	if !next.Close {
		l.timers.set(k, next.Wake)
		if next.CloseWrite && k.conn != nil {
			k.conn.closeWrite()
		}
		return
	}
	l.timers.set(k, 0)
	k.isClosed, k.isPoked = true, false
	switch {
	case k.conn == nil:
	case next.Reset:
		k.conn.reset()
	default:
		k.conn.finish()
	}
}

// growOut makes room for as much as a step has needed, within limits. It does not keep
// what the step returned, which may belong to the session.
func (l *loop) growOut(size int) {
	if size > cap(l.out) && size <= chunkSize {
		l.out = make([]byte, 0, size)
	}
}

// lose takes a connection that has failed from its session, and reports that to the session.
func (l *loop) lose(c *conn, kind Kind, err error) {
	k := c.link
	c.link, k.conn = nil, nil // before the step, in which it may be opened again
	l.step(k, c, Event{Kind: kind, Err: err})
	c.finish()
}

// keepTime enters the loop whenever the sleeper wakes, until that is closed. Who is due
// is stepped on leaving.
func (l *loop) keepTime(s sleeper) {
	for s.wait() {
		l.enter()
		l.alarm = 0
		l.leave()
	}
}

// end takes everything from the sessions; none is stepped after it.
func (l *loop) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isEnded {
		return
	}
	l.isEnded = true
	l.timers, l.queue, l.offloads = nil, nil, nil
	for c := range l.conns {
		c.abandon()
	}
	l.waker.close()
}
