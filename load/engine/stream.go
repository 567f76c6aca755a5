package engine

import (
	"context"
	"errors"
	"io"
	"net"
	"time"
)

// readSize is small because every connection that is not a plain socket has it.
const readSize = 512

// stream is a wire over any net.Conn, with goroutines of its own.
type stream struct {
	conn         *conn
	ctx          context.Context //nolint:containedctx // of the dial, which is a goroutine
	cancelDial   context.CancelFunc
	netConn      net.Conn      // nil: not there yet
	directSocket *directSocket // nil: all writing is done by flush
	writer       func()        // write what is pending, made once
}

func newStream(c *conn) transport {
	ctx, cancel := context.WithCancel(c.loop.engine.ctx)
	return &stream{conn: c, ctx: ctx, cancelDial: cancel}
}

// dial dials in a goroutine of its own. It leaves the reading to another one: that lives
// long, and has no use for the stack which a dial needs.
func (s *stream) dial() {
	l := s.conn.loop
	dial := l.engine.config.Dial
	if dialBack := l.engine.config.DialBackend; dialBack != nil && s.conn.link.UsesBackend {
		dial = dialBack
	}
	l.engine.wg.Go(func() {
		start := l.Now()
		nc, err := dial(s.ctx)
		l.enter()
		defer l.leave()
		s.cancelDial()
		if s.conn.link != nil {
			s.conn.link.dialedAt = start
		}
		if err != nil {
			s.conn.reportRefused(err)
			return
		}
		s.netConn, s.directSocket = nc, newDirectSocket(nc)
		if s.conn.link != nil {
			l.engine.wg.Go(s.read)
		}
		s.conn.reportOpened()
	})
}

func (s *stream) cancel() { s.cancelDial() } // and dial does the rest

// read passes what arrives to the session, until nothing more can arrive. It runs in a
// goroutine of its own.
func (s *stream) read() {
	if s.directSocket != nil {
		if err := s.directSocket.attend(s.readAvailable); err != nil {
			s.deliver(nil, err)
		}
		return
	}
	in := make([]byte, readSize)
	for {
		n, err := s.netConn.Read(in)
		s.deliver(in[:n], err)
		if err != nil {
			return
		}
	}
}

// readAvailable reads what has come, inside the loop and into memory that the loop has only
// once. It returns false if nothing more can come.
func (s *stream) readAvailable() bool {
	for {
		if err := s.readSome(); err != nil {
			return errors.Is(err, errNothing)
		}
	}
}

// readSome reads as much as one connection may before others have their turn.
func (s *stream) readSome() error {
	l := s.conn.loop
	l.enter()
	defer l.leave()
	for range 4 {
		n, err := s.directSocket.read(l.in)
		if err == nil && n == 0 {
			err = io.EOF
		}
		if err != nil {
			s.conn.reportReadError(err)
			return err
		}
		s.conn.data(l.in[:n])
	}
	return nil
}

// deliver passes to the session what Read returned.
func (s *stream) deliver(in []byte, err error) {
	s.conn.loop.enter()
	defer s.conn.loop.leave()
	if len(in) > 0 {
		s.conn.data(in)
	}
	if err != nil {
		s.conn.reportReadError(err)
	}
}

func (s *stream) write(b []byte) (int, error) {
	if s.directSocket == nil {
		return 0, nil
	}
	return s.directSocket.write(b)
}

// flush writes what is pending in a goroutine of its own.
func (s *stream) flush() {
	if s.writer == nil {
		s.writer = s.writePending
	}
	s.conn.loop.engine.wg.Add(1) // wg.Go takes memory each time
	go s.writer()
}

func (s *stream) writePending() {
	c := s.conn
	l := c.loop
	defer l.engine.wg.Done()
	for hasMore := true; hasMore; {
		l.enter()
		b := c.pending
		c.pending = nil
		l.leave()
		_, err := s.netConn.Write(b)
		l.enter()
		c.reuse(b)
		if err != nil {
			c.fail(err)
		}
		hasMore = len(c.pending) > 0
		if !hasMore {
			c.endWriting()
		}
		l.leave()
	}
}

func (s *stream) limit(timeout time.Duration) {
	_ = s.netConn.SetWriteDeadline(time.Now().Add(timeout))
}

// closeWrite closes our half, but not inside the loop: TLS has something to write.
func (s *stream) closeWrite() {
	if half, ok := s.netConn.(interface{ CloseWrite() error }); ok {
		s.conn.loop.engine.wg.Go(func() { _ = half.CloseWrite() }) // reading returns why it failed
	}
}

func (s *stream) abort() {
	nc := s.netConn
	if wrapped, ok := nc.(interface{ NetConn() net.Conn }); ok { // TLS: the socket below
		nc = wrapped.NetConn()
	}
	if l, ok := nc.(interface{ SetLinger(seconds int) error }); ok {
		_ = l.SetLinger(0) // fails on a closed connection only
	}
}

// close closes the connection, but not inside the loop: Close waits for whoever is reading,
// which may be the caller, and a connection that is more than a socket may send something first.
func (s *stream) close() {
	if s.netConn != nil {
		s.conn.loop.engine.wg.Go(func() { s.netConn.Close() })
	}
}
