package emqpsubject_test

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/emqpsubject"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/internal/serving"
	"github.com/fwpsuite/fwp/zmtp"
)

// hostileBroker greets as ZMTP requires, and then sends bytes all the time, or nothing.
type hostileBroker struct {
	memnet.Place
	first, then []byte
}

func (h *hostileBroker) DialBackend(ctx context.Context) (net.Conn, error) { return h.Dial(ctx) }

func (h *hostileBroker) serve(nc net.Conn) {
	defer nc.Close()
	ready := zmtp.Ready(zmtp.Metadata{{Name: zmtp.SocketType, Value: []byte("ROUTER")}})
	greeting := ready.Append(zmtp.NewGreeting().Append(nil))
	go func() { _, _ = nc.Write(append(greeting, h.first...)) }()
	if h.then == nil {
		_, _ = io.Copy(io.Discard, nc)
		return
	}
	go func() { _, _ = io.Copy(io.Discard, nc) }()
	for {
		time.Sleep(time.Millisecond)
		if _, err := nc.Write(h.then); err != nil {
			return
		}
	}
}

// An exploration of a broker that never answers ends in its time, finds nothing, and has evaluated next to nothing.
func TestBrokersThatNeverAnswer(t *testing.T) {
	t.Parallel()
	for name, broker := range map[string]*hostileBroker{
		"silent after the handshake": {},
		"a frame of 2^62 bytes":      {first: zmtp.AppendHeader(nil, 2, 1<<62), then: make([]byte, 100)},
		"PINGs without an end":       {then: zmtp.Command{Name: zmtp.PING, Data: []byte{0, 0}}.Append(nil)},
		"frames without an end":      {then: zmtp.AppendFrame(nil, 1, []byte("x"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				broker.Place = memnet.NewPlace()
				var served serving.Group
				go served.Serve(broker.MustListen(), broker.serve)
				e := explore.Explorer{Subject: emqpsubject.New(), Target: broker, Seed: 1, Time: 10 * time.Second}
				begun := time.Now()
				r := e.Run(t.Context())
				assert.Less(t, time.Since(begun), time.Minute)
				assert.Less(t, r.Coverage.Judged, 20, "replies that were evaluated")
				assert.Empty(t, r.Findings)
				served.Close()
			})
		})
	}
}
