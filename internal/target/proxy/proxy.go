// Package proxy passes connections on to a server. It may be watched, and it may be a bad network on request: it then
// holds back bytes, delays them, or resets connections. It knows no protocol.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
)

// Config is how a Proxy works. Dial must be set.
type Config struct {
	// Dial opens a connection to the server.
	Dial func(ctx context.Context) (net.Conn, error)
	// Observer, if set, sees what passes.
	Observer Observer
	// MaxOpen bounds the connections that are open at a time; one more is reset at once. 0 means no bound.
	MaxOpen int
	// OnFailure is called if the server cannot be dialed for a client, whose connection is reset then, if there are too
	// many connections, and if one cannot be accepted; nil is nothing. It may be called by several goroutines at once.
	OnFailure func(error)
	// Seed decides the jitter of a [Condition].
	Seed uint64
}

// Observer sees what passes. Connections are numbered from 1. Its methods may be called by several goroutines at once,
// and must not keep data.
type Observer interface {
	Opened(conn int)
	// Passing is called before the bytes are passed on, and reports whether Passed is to be called behind that.
	Passing(conn int, from Side, data []byte) (wantsPassed bool)
	Passed(conn int, from Side)
	// Ended is called once for each connection, when its first side ends it.
	Ended(conn int, by Side, isReset bool)
}

// Side is one of the two sides of a connection.
type Side uint8

// The sides.
const (
	Client Side = iota + 1
	Server
)

// Proxy passes connections on. Its methods may be called by several goroutines at once.
type Proxy struct {
	config  Config
	network atomic.Pointer[network]
	done    chan struct{} // closed by Close

	mu       sync.Mutex
	next     int
	count    int // of the clients' connections that are open
	conns    map[net.Conn]struct{}
	isClosed bool
	wait     sync.WaitGroup
}

// New returns a Proxy, which passes connections on until Close.
func New(config Config) *Proxy {
	p := &Proxy{config: config, done: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	p.network.Store(&network{changed: make(chan struct{})})
	return p
}

// pause is how long Serve waits when there is no descriptor for another connection.
const pause = 100 * time.Millisecond

// Serve accepts connections until the listener is closed or ctx ends, and closes the listener. Those that it has
// accepted go on until Close. The error is nil if ctx has ended.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	for {
		client, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		var temporary net.Error
		if errors.As(err, &temporary) && temporary.Timeout() || errors.Is(err, syscall.ECONNABORTED) {
			p.reportFailure(err)
			continue
		}
		if machine.ShortageOf(err) != machine.NoShortage {
			p.reportFailure(err)
			machine.Sleep(ctx, pause)
			continue
		}
		if err != nil {
			return err
		}
		if number, ok := p.admit(client); ok {
			go p.pass(ctx, client, number)
		}
	}
}

func (p *Proxy) reportFailure(err error) {
	if p.config.OnFailure != nil {
		p.config.OnFailure(err)
	}
}

// admit counts a connection in; false if there are no more to come.
func (p *Proxy) admit(client net.Conn) (number int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed || p.config.MaxOpen > 0 && p.count >= p.config.MaxOpen {
		if !p.isClosed {
			p.reportFailure(fmt.Errorf("more than %d connections are open", p.config.MaxOpen))
		}
		reset(client)
		return 0, false
	}
	p.next++
	p.count++
	p.conns[client] = struct{}{}
	p.wait.Add(1)
	return p.next, true
}

// pass passes one connection on until both sides have ended.
func (p *Proxy) pass(ctx context.Context, client net.Conn, number int) {
	defer p.wait.Done()
	defer p.leave(client)
	l := &link{proxy: p, number: number}
	l.reportOpen()
	if !p.awaitPassage(Client) {
		return
	}
	server, err := p.config.Dial(ctx)
	if err != nil {
		l.reportEnd(Server, true)
		reset(client)
		p.reportFailure(err)
		return
	}
	if !p.add(server) {
		_ = server.Close()
		return
	}
	defer p.drop(server)
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.copy(client, server, Server)
	}()
	l.copy(server, client, Client)
	<-done
}

func (p *Proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isClosed {
		p.conns[c] = struct{}{}
	}
	return !p.isClosed
}

// OpenCount returns how many connections of clients are open.
func (p *Proxy) OpenCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// leave counts a client's connection out.
func (p *Proxy) leave(client net.Conn) {
	p.drop(client)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count--
}

func (p *Proxy) drop(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// Reset resets all connections. New ones are passed on.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		reset(c)
	}
}

// Close ends all connections, and waits until they have. Calling it again does nothing.
func (p *Proxy) Close() {
	p.mu.Lock()
	if !p.isClosed {
		p.isClosed = true
		close(p.done)
	}
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wait.Wait()
}

// reset closes a connection without an orderly end.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
