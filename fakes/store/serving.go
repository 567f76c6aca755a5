package store

import (
	"io"
	"net"
	"sync"
)

// Group is listeners and their connections, which end together. The zero Group works, and its methods may be called at
// the same time. It must not be copied.
type Group struct {
	mu       sync.Mutex
	closers  map[io.Closer]bool
	isClosed bool
	serving  sync.WaitGroup
}

// Serve accepts connections from l and calls serve for each on a goroutine of its own; behind it the connection is
// closed. It closes l, and returns nil after [Group.Close], else the error of l.
func (g *Group) Serve(l net.Listener, serve func(net.Conn)) error {
	if !g.add(l, nil) {
		return nil
	}
	defer g.remove(l)
	for {
		conn, err := l.Accept()
		if err != nil {
			g.mu.Lock()
			defer g.mu.Unlock()
			if g.isClosed {
				return nil
			}
			return err
		}
		g.add(conn, func() {
			defer g.remove(conn)
			serve(conn)
		})
	}
}

// Close closes all listeners and connections, and waits until no connection is served any more.
func (g *Group) Close() {
	g.mu.Lock()
	g.isClosed = true
	for c := range g.closers {
		_ = c.Close() // what it may report is known: it is closed
	}
	g.mu.Unlock()
	g.serving.Wait()
}

// add notes what Close has to close, and has it served. After Close it closes it at once, and returns false.
func (g *Group) add(c io.Closer, serve func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isClosed {
		_ = c.Close() // as above
		return false
	}
	if g.closers == nil {
		g.closers = map[io.Closer]bool{}
	}
	g.closers[c] = true
	if serve != nil {
		g.serving.Go(serve)
	}
	return true
}

func (g *Group) remove(c io.Closer) {
	_ = c.Close() // as above
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.closers, c)
}
