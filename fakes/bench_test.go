package fakes_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/fwpsuite/fwp/fakes"
)

// BenchmarkJob is what PUSH, FETCH and ACK of a job cost in the server without the
// network: its one connection always has the next command at hand.
func BenchmarkJob(b *testing.B) {
	b.ReportAllocs()
	c := &recording{left: b.N, done: make(chan struct{}), lines: [][]byte{
		[]byte(`PUSH {"jid":"0123456789abcdef0123","jobtype":"bench","args":[1,2,3],"queue":"bench"}` + "\r\n"),
		[]byte("FETCH bench\r\n"),
		[]byte(`ACK {"jid":"0123456789abcdef0123"}` + "\r\n"),
	}}
	s := fakes.NewServer(fakes.Config{Listen: func() (net.Listener, error) { return &single{conn: c}, nil }})
	defer s.Close()
	<-c.done
}

// recording is a connection on which a client says HELLO, then the same lines again
// and again, then nothing.
type recording struct {
	net.Conn
	lines [][]byte
	next  int // 0: HELLO
	left  int
	done  chan struct{}
}

func (r *recording) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	r.next++
	if r.next == 1 {
		return copy(p, producer+"\r\n"), nil
	}
	i := (r.next - 2) % len(r.lines)
	if i == len(r.lines)-1 {
		r.left--
	}
	return copy(p, r.lines[i]), nil
}

func (r *recording) Write(p []byte) (int, error)     { return len(p), nil }
func (r *recording) SetReadDeadline(time.Time) error { return nil }

func (r *recording) Close() error {
	close(r.done)
	return nil
}

// single accepts one connection.
type single struct{ conn net.Conn }

func (s *single) Accept() (net.Conn, error) {
	if c := s.conn; c != nil {
		s.conn = nil
		return c, nil
	}
	return nil, net.ErrClosed
}

func (s *single) Close() error   { return nil }
func (s *single) Addr() net.Addr { return &net.TCPAddr{} }
