package suitetest

import (
	"context"
	"net"

	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	"github.com/fwpsuite/fwp/internal/base/memnet"
)

// Broker is a broker of eMQP in memory as a target, which Restart starts, and starts again.
type Broker struct {
	memnet.Place // of clients
	fakeemqp.Service

	back memnet.Place // of workers
}

// NewBroker returns a broker that is not started yet; a single one has one socket for clients and workers.
func NewBroker(config func() fakeemqp.Config, isSingle bool) *Broker {
	b := &Broker{Place: memnet.NewPlace(), back: memnet.NewPlace()}
	b.Config, b.Front, b.Back = config, b.Listen, b.back.Listen
	if isSingle {
		b.back, b.Back = b.Place, nil
	}
	return b
}

// DialBackend connects to it as a worker.
func (b *Broker) DialBackend(ctx context.Context) (net.Conn, error) { return b.back.Dial(ctx) }
