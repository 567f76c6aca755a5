package zmtp

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// link is one connection after its handshake: it reads and writes until either end closes it.
type link struct {
	nc     net.Conn
	reader *Reader
	peer   Peer
	config Config

	in       func(context.Context, [][]byte) error // takes a message, and waits while it finds no room
	out      *queue[[]byte]
	commands chan []byte // to be written before the next message

	ctx      context.Context //nolint:containedctx // it ends with the connection, which no caller's context does
	cancel   context.CancelCauseFunc
	tasks    sync.WaitGroup
	liveness liveness
}

// maxCommands is how many answers to PINGs wait for a peer that does not read; then nothing is read from it either.
const maxCommands = 64

func newLink(nc net.Conn, reader *Reader, peer Peer, config Config, out *queue[[]byte]) *link {
	l := &link{nc: nc, reader: reader, peer: peer, config: config, out: out, commands: make(chan []byte, maxCommands)}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	l.liveness.onSilence = func() { l.end(ErrSilent) }
	reader.in.Source = liveConn{nc, &l.liveness}
	return l
}

// start lets the connection work. done is called once, when it has ended, with the reason.
func (l *link) start(done func(error)) {
	l.liveness.start(l.config, l.peer.Version, l.ping)
	l.tasks.Go(l.read)
	l.tasks.Go(l.write)
	go func() {
		<-l.ctx.Done()
		l.nc.Close()
		l.tasks.Wait()
		l.liveness.stop()
		done(context.Cause(l.ctx))
	}()
}

// end ends the connection; the first reason counts.
func (l *link) end(err error) { l.cancel(err) }

// read passes messages on and answers commands.
func (l *link) read() {
	for {
		item, err := l.reader.Read()
		if err != nil {
			l.end(fmt.Errorf("read: %w", err))
			return
		}
		if item.Kind == IsCommand {
			err = l.command(item.Command)
		} else {
			l.liveness.pause(true)
			err = l.in(l.ctx, item.Parts)
			l.liveness.pause(false)
		}
		if err != nil {
			l.end(err)
			return
		}
	}
}

// command does what a command of the peer asks for; those that are not known are ignored.
func (l *link) command(c Command) error {
	switch c.Name {
	case ERROR:
		reason, _ := ParseError(c.Data) // the Reader has checked it
		return &PeerError{reason}
	case PING:
		ttl, echo, _ := ParsePing(c.Data) // the Reader has checked it
		if l.reader.Buffered() == 0 {     // else there is traffic behind it already
			l.liveness.setTTL(ttl)
		}
		return l.send(Pong(echo))
	}
	return nil
}

// send lets a command be written before the next message.
func (l *link) send(c Command) error {
	select {
	case l.commands <- c.Append(nil):
		l.out.mu.Lock()
		l.out.change()
		l.out.mu.Unlock()
		return nil
	case <-l.ctx.Done():
		return context.Cause(l.ctx)
	}
}

// ping sends a PING unless commands wait already: the peer does not read then.
func (l *link) ping() {
	select {
	case l.commands <- Ping(l.config.TTL, nil).Append(nil):
		l.out.mu.Lock()
		l.out.change()
		l.out.mu.Unlock()
	default:
	}
}

// write writes commands and messages, each message as a whole. (Messages)
func (l *link) write() {
	for {
		b, err := l.next()
		if err == nil {
			_, err = l.nc.Write(b)
		}
		if err != nil {
			l.end(fmt.Errorf("write: %w", err))
			return
		}
	}
}

// next waits for what is written next. Nothing is that was queued when the connection had ended.
func (l *link) next() ([]byte, error) {
	for {
		l.out.mu.Lock()
		changed := l.out.changed
		select {
		case b := <-l.commands:
			l.out.mu.Unlock()
			return b, nil
		default:
		}
		b, ok := l.out.take()
		closeErr := l.out.closeErr
		l.out.mu.Unlock()
		switch {
		case l.ctx.Err() != nil: // behind take: what was queued later is not written, either
			return nil, context.Cause(l.ctx)
		case ok:
			return b, nil
		case closeErr != nil:
			return nil, closeErr
		}
		select {
		case <-changed:
		case <-l.ctx.Done():
			return nil, context.Cause(l.ctx)
		}
	}
}

// liveConn is a connection any octet of which is a sign of life. (Connection Heartbeating)
type liveConn struct {
	net.Conn
	liveness *liveness
}

func (h liveConn) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	if n > 0 {
		h.liveness.recordTraffic()
	}
	return n, err
}

// liveness watches for signs of life. (Connection Heartbeating)
type liveness struct {
	mu        sync.Mutex
	onSilence func()
	ping      func()
	interval  time.Duration // between PINGs; 0: none
	timeout   time.Duration
	timer     *time.Timer // until the next PING, or the end of the wait for traffic
	next      time.Time   // when that is: a call of check may be late, and find that the timer was reset meanwhile
	isPinged  bool        // a PING was sent, and nothing was received since then
	ttl       *time.Timer // of the peer's PING
	isPaused  bool        // we do not read
	isStopped bool
}

func (a *liveness) start(c Config, v Version, ping func()) {
	if !v.Pings() || c.Ping <= 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.interval, a.timeout, a.ping = c.Ping, c.Timeout, ping
	a.next = time.Now().Add(a.interval)
	a.timer = time.AfterFunc(a.interval, a.check)
}

// check sends a PING, or finds that the last one had no effect.
func (a *liveness) check() {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.isStopped, time.Now().Before(a.next):
	case a.isPaused:
		a.reset(a.interval)
	case a.isPinged:
		a.onSilence()
	default:
		a.isPinged = true
		a.ping()
		a.reset(a.timeout)
	}
}

// reset lets check be called later; the mutex is held.
func (a *liveness) reset(d time.Duration) {
	a.next = time.Now().Add(d)
	a.timer.Reset(d)
}

// recordTraffic records a sign of life.
func (a *liveness) recordTraffic() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.isPinged = false
	if a.timer != nil && !a.isStopped {
		a.reset(a.interval)
	}
	if a.ttl != nil {
		a.ttl.Stop()
		a.ttl = nil
	}
}

// setTTL lets the connection end unless there is traffic within the time to live; 0 means no such time.
func (a *liveness) setTTL(ttl time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ttl > 0 && !a.isStopped {
		a.ttl = time.AfterFunc(ttl, a.onSilence)
	}
}

// pause says whether we do not read, so that silence is not the peer's.
func (a *liveness) pause(isPaused bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.isPaused, a.isPinged = isPaused, false
}

func (a *liveness) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.isStopped = true
	for _, t := range []*time.Timer{a.timer, a.ttl} {
		if t != nil {
			t.Stop()
		}
	}
}
