package check

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/fakeemqp"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/scenarios"
)

// emqpFaults returns the faults of the embedded eMQP broker, as list shows them.
func emqpFaults() (all []fakes.Fault) {
	for _, f := range fakeemqp.Faults() {
		all = append(all, fakes.Fault{Name: f.Name, Clauses: f.Clauses, Summary: f.Summary})
	}
	return all
}

// embedEMQP starts a broker with the fault of that name, or without one, on two free ports of this machine.
func embedEMQP(ctx context.Context, fault string) (conformance.Server, func(), error) {
	b := &embeddedBroker{front: loopback(ctx), back: loopback(ctx)}
	for _, f := range fakeemqp.Faults() {
		if f.Name == fault {
			b.hook = f.Hook
		}
	}
	address, err := b.start()
	if err != nil {
		return conformance.Server{}, nil, fmt.Errorf("start the embedded broker: %w", err)
	}
	return conformance.Server{
		Target: &target.Server{Address: address, Operator: b},
		Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone, scenarios.NeedRestart},
		Fresh:  func() (conformance.Server, func(), error) { return embedEMQP(ctx, fault) },
	}, b.end, nil
}

// embeddedBroker is a broker that can be started again on its two ports: it is the operator of its server.
type embeddedBroker struct {
	front, back func() (net.Listener, error)
	hook        func() func(*fakeemqp.Event) // nil: no fault

	mu     sync.Mutex
	broker *fakeemqp.Broker
}

// start starts the broker, and returns where it listens.
func (b *embeddedBroker) start() (target.Address, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	front, err := b.front()
	if err != nil {
		return target.Address{}, err
	}
	back, err := b.back()
	if err != nil {
		_ = front.Close()
		return target.Address{}, err
	}
	var config fakeemqp.Config
	if b.hook != nil {
		config.Hook = b.hook()
	}
	b.broker = fakeemqp.Start(config, front, back)
	_, port, _ := net.SplitHostPort(back.Addr().String()) // a listener has one
	return target.ParseURL("emqp://" + front.Addr().String() + "?backend=" + port)
}

// end ends the broker.
func (b *embeddedBroker) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broker.Close()
}

// Can implements [target.Operator].
func (b *embeddedBroker) Can(action target.Action) bool { return action == target.Restart }

// Do implements [target.Operator].
func (b *embeddedBroker) Do(context.Context, target.Action, string) error {
	b.end()
	_, err := b.start()
	return err
}
