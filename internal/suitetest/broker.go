package suitetest

import (
	"context"
	"net"
	"sync"

	"github.com/fwpsuite/fwp/fakes/fakeemqp"
	"github.com/fwpsuite/fwp/internal/memnet"
)

// Broker is a broker of eMQP in memory, which Restart starts, and starts again. With one socket that is for clients and
// workers. It is safe for concurrent use.
type Broker struct {
	memnet.Place                        // of clients
	Config       func() fakeemqp.Config // called at each start; nil: a conforming one
	back         *memnet.Place          // of workers; nil: that of clients

	mu     sync.Mutex
	broker *fakeemqp.Broker
	starts int // how often it was started
}

// NewBroker returns a broker that is not started yet.
func NewBroker(config func() fakeemqp.Config, single bool) *Broker {
	b := &Broker{Place: memnet.NewPlace(), Config: config}
	if !single {
		back := memnet.NewPlace()
		b.back = &back
	}
	return b
}

// DialBackend connects to it as a worker.
func (b *Broker) DialBackend(ctx context.Context) (net.Conn, error) {
	if b.back == nil {
		return b.Dial(ctx)
	}
	return b.back.Dial(ctx)
}

// Restart starts it; if it runs, it is closed before.
func (b *Broker) Restart(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broker != nil {
		b.broker.Close()
	}
	f, err := b.Listen()
	if err != nil {
		return err
	}
	var workers net.Listener
	if b.back != nil {
		if workers, err = b.back.Listen(); err != nil {
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
