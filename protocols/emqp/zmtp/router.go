package zmtp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
)

// RouterConfig has the settings of a [Router]. The zero value works.
type RouterConfig struct {
	Config

	// Handover lets a new peer replace a connected one of the same identity, whose connection is closed. Otherwise the
	// new connection is closed before READY, and its peer may try again.
	Handover bool

	MaxPeers int // the most connections, with those in their handshake; 10,000 if zero. Further ones are closed

	// OnJoin is called when messages can be sent to a peer, OnLeave when that ends, with the reason. OnLeave has an
	// empty identity if the handshake failed. Both may be nil and must not block. They are called from several goroutines;
	// the calls for one peer are in order.
	OnJoin  func(identity string, peer Peer)
	OnLeave func(identity string, err error)
}

// Message is a message from a peer of a [Router].
type Message struct {
	From  string // the identity of the peer, never empty
	Parts [][]byte
}

// Router is a ROUTER socket: the listening side of many connections, each with an identity. A peer that announces no
// identity gets one that starts with a zero octet. Its methods are safe for concurrent use. (28/REQREP: The ROUTER
// Socket Type)
type Router struct {
	config   RouterConfig
	in       *store // and what follows is guarded by its mutex
	turns    []*routerPeer
	peers    map[string]*routerPeer
	conns    map[net.Conn]context.CancelFunc
	lastID   uint32
	isClosed bool

	outOctets atomic.Int64 // octets that wait to be written, of all peers
	tasks     sync.WaitGroup
}

// routerPeer is a peer of a Router.
type routerPeer struct {
	identity  string
	hasJoined bool
	isQueued  bool // it stands in turns
	in        *queue[[][]byte]
	out       *queue[[]byte]
	link      *link
}

// NewRouter returns a Router without connections. [Router.Serve] and [Router.Add] add them.
func NewRouter(config RouterConfig) *Router {
	config.Config = config.withDefaults()
	setDefault(&config.MaxPeers, 10_000)
	return &Router{
		config: config, in: newStore(config.Memory, nil),
		peers: map[string]*routerPeer{}, conns: map[net.Conn]context.CancelFunc{},
	}
}

// Serve accepts connections until the listener or the Router is closed. It returns the error of the listener, or
// [ErrClosed]. It does not close the listener.
func (r *Router) Serve(l net.Listener) error {
	for {
		nc, err := l.Accept()
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		if err := r.Add(nc); errors.Is(err, ErrClosed) {
			return err
		}
	}
}

// Add adds a connection, which the Router then owns. It does not block: the handshake follows in another goroutine.
// If the connection is closed at once, the error is [ErrClosed] or [ErrFull].
func (r *Router) Add(nc net.Conn) error {
	ctx, cancel := context.WithCancel(context.Background())
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	err := error(nil)
	switch {
	case r.isClosed:
		err = ErrClosed
	case len(r.conns) >= r.config.MaxPeers:
		err = ErrFull
	}
	if err != nil {
		cancel()
		nc.Close()
		return err
	}
	r.conns[nc] = cancel
	r.tasks.Go(func() { r.serve(ctx, nc) })
	return nil
}

// serve shakes hands with a peer, and returns when its connection has ended.
func (r *Router) serve(ctx context.Context, nc net.Conn) {
	reader := NewReader(nc, r.config.Limits)
	var p *routerPeer
	peer, err := handshake(ctx, nc, reader, r.config.Config, ROUTER, func(peer Peer) (err error) {
		p, err = r.admit(nc, reader, peer)
		return err
	})
	if err == nil {
		err = r.run(ctx, p, peer)
	}
	nc.Close()
	identity := r.leave(nc, p, err)
	if r.config.OnLeave != nil {
		r.config.OnLeave(identity, err)
	}
}

// run lets the connection of a peer work until it ends, and returns the reason.
func (r *Router) run(ctx context.Context, p *routerPeer, peer Peer) error {
	defer context.AfterFunc(ctx, func() { p.link.end(ErrClosed) })()
	p.hasJoined = true
	if r.config.OnJoin != nil {
		r.config.OnJoin(p.identity, peer)
	}
	done := make(chan error, 1)
	p.link.start(func(err error) { done <- err })
	return <-done
}

// admit gives the peer its identity and its queues. What is sent to it waits until its handshake is complete.
func (r *Router) admit(nc net.Conn, reader *Reader, peer Peer) (*routerPeer, error) {
	id, _ := peer.Metadata.Get(Identity)
	p := &routerPeer{identity: string(id)}
	p.in = newQueue[[][]byte](r.in, r.config.ReceiveHWM)
	p.out = newQueue[[]byte](newStore(r.config.Memory, &r.outOctets), r.config.SendHWM)
	p.link = newLink(nc, reader, peer, r.config.Config, p.out)
	p.link.in = func(ctx context.Context, parts [][]byte) error { return r.deliver(ctx, p, parts) }

	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	if p.identity == "" {
		r.lastID++
		p.identity = string(binary.BigEndian.AppendUint32([]byte{0}, r.lastID))
	}
	if old := r.peers[p.identity]; old != nil {
		if !r.config.Handover {
			return nil, ErrTaken
		}
		old.link.end(ErrTaken)
	}
	r.peers[p.identity] = p
	return p, nil
}

// deliver waits until a message of a peer finds room, and lets the peer have its turn.
func (r *Router) deliver(ctx context.Context, p *routerPeer, parts [][]byte) error {
	if err := p.in.put(ctx, parts, octets(parts)); err != nil {
		return err
	}
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	if !p.isQueued {
		p.isQueued = true
		r.turns = append(r.turns, p)
		r.in.change()
	}
	return nil
}

// leave forgets a connection, and returns the identity of its peer if that had joined. What was received from it can
// still be taken.
func (r *Router) leave(nc net.Conn, p *routerPeer, err error) string {
	r.in.mu.Lock()
	if cancel := r.conns[nc]; cancel != nil {
		cancel()
	}
	delete(r.conns, nc)
	if p != nil && r.peers[p.identity] == p {
		delete(r.peers, p.identity)
	}
	r.in.mu.Unlock()
	if p == nil {
		return ""
	}
	p.in.close(err, false)
	p.out.close(err, true)
	if !p.hasJoined {
		return ""
	}
	return p.identity
}

// Receive blocks until there is a message of any peer, and returns it. Peers take turns. After Close the error is
// [ErrClosed].
func (r *Router) Receive(ctx context.Context) (Message, error) {
	for {
		r.in.mu.Lock()
		changed, isClosed := r.in.changed, r.isClosed
		m, ok := r.next()
		r.in.mu.Unlock()
		switch {
		case isClosed:
			return Message{}, ErrClosed
		case ok:
			return m, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Message{}, context.Cause(ctx)
		}
	}
}

// next takes a message of the peer whose turn it is; the mutex is held.
func (r *Router) next() (Message, bool) {
	for len(r.turns) > 0 {
		p := r.turns[0]
		r.turns = slices.Delete(r.turns, 0, 1)
		parts, ok := p.in.take()
		if p.isQueued = len(p.in.list) > 0; p.isQueued {
			r.turns = append(r.turns, p)
		}
		if ok {
			return Message{p.identity, parts}, true
		}
	}
	return Message{}, false
}

// Send queues a message of at least one frame for the peer of an identity. It never blocks. The error is [ErrUnknown]
// or [ErrFull], and then nothing is sent. Messages that are still queued when the peer's connection ends are lost.
func (r *Router) Send(to string, parts ...[]byte) error {
	return r.Raw(to, AppendMessage(nil, parts...))
}

// Raw is [Router.Send] for any octets. They are written unchanged, between two messages.
func (r *Router) Raw(to string, b []byte) error {
	r.in.mu.Lock()
	p := r.peers[to]
	r.in.mu.Unlock()
	if p == nil {
		return ErrUnknown
	}
	return p.out.tryPut(b, len(b))
}

// Disconnect closes the connection of a peer and drops unwritten messages. It does nothing if there is no such peer.
func (r *Router) Disconnect(identity string) {
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	if p := r.peers[identity]; p != nil {
		p.link.end(ErrClosed)
	}
}

// Close closes all connections, and returns when all goroutines of the Router have ended. It does not close
// listeners.
func (r *Router) Close() {
	r.in.mu.Lock()
	r.isClosed = true
	for _, cancel := range r.conns {
		cancel()
	}
	r.in.change()
	r.in.mu.Unlock()
	r.tasks.Wait()
}
