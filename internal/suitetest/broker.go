package suitetest

import (
	"context"
	"net"
	"sync"

	"github.com/fwpsuite/fwp/fakes/fakeemqp"
	"github.com/fwpsuite/fwp/internal/memnet"
)

// The ports of a Broker.
const (
	front = "127.0.0.1:47291"
	back  = "127.0.0.1:47290"
)

// Broker is a broker of eMQP on a network in memory, which Restart starts, and starts again. With Single one socket is
// for clients and workers. It is safe for concurrent use.
type Broker struct {
	Network *memnet.Network
	Config  func() fakeemqp.Config // called at each start; nil: a conforming one
	Single  bool

	mu     sync.Mutex
	broker *fakeemqp.Broker
	starts int // how often it was started
}

// Dial connects to it as a client.
func (b *Broker) Dial(ctx context.Context) (net.Conn, error) {
	return b.Network.DialContext(ctx, "tcp", front)
}

// DialBackend connects to it as a worker.
func (b *Broker) DialBackend(ctx context.Context) (net.Conn, error) {
	if b.Single {
		return b.Dial(ctx)
	}
	return b.Network.DialContext(ctx, "tcp", back)
}

// Restart starts it; if it runs, it is closed before.
func (b *Broker) Restart(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broker != nil {
		b.broker.Close()
	}
	f, err := b.Network.Listen(front)
	if err != nil {
		return err
	}
	var workers net.Listener
	if !b.Single {
		if workers, err = b.Network.Listen(back); err != nil {
			return err
		}
	}
	b.starts++
	var config fakeemqp.Config
	if b.Config != nil {
		config = b.Config()
	}
	b.broker = fakeemqp.Start(config, f, workers)
	return nil
}

// Ender returns what ends the broker that is being started, and no later one. It must be called by Config.
func (b *Broker) Ender() func() {
	start := b.starts
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.starts == start {
			b.broker.Close()
		}
	}
}

// Close ends it. It must have been started.
func (b *Broker) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broker.Close()
}
