package memnet

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// backlog is how many connections may wait to be accepted.
const backlog = 128

// listener is the net.Listener of a Network.
type listener struct {
	network *Network
	addr    address
	queue   chan *conn
	once    sync.Once
	closed  chan struct{}
}

// Accept waits for the next connection or for Close.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
		return nil, opError("accept", nil, l.addr, net.ErrClosed)
	default:
	}
	select {
	case c := <-l.queue:
		return c, nil
	case <-l.closed:
		return nil, opError("accept", nil, l.addr, net.ErrClosed)
	}
}

// Close frees the name, wakes Accept and resets the connections that were not accepted.
// A second Close fails with net.ErrClosed.
func (l *listener) Close() error {
	err := opError("close", nil, l.addr, net.ErrClosed)
	l.once.Do(func() {
		l.network.release(l)
		close(l.closed)
		l.drain()
		err = nil
	})
	return err
}

func (l *listener) Addr() net.Addr { return l.addr }

// offer puts the server's end of a new connection into the queue.
func (l *listener) offer(ctx context.Context, server *conn) error {
	select {
	case l.queue <- server:
	case <-l.closed:
		return syscall.ECONNREFUSED
	case <-ctx.Done():
		return ctx.Err()
	}
	// Close may have drained the queue just before server was added.
	select {
	case <-l.closed:
		l.drain()
	default:
	}
	return nil
}

func (l *listener) drain() {
	for {
		select {
		case c := <-l.queue:
			_ = c.SetLinger(0) // fails only on a closed end, and so does Close
			_ = c.Close()
		default:
			return
		}
	}
}
