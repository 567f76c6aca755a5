package suite_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/suitetest"
	emqpsuite "github.com/fwpsuite/fwp/protocols/emqp/suite"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// hostileBroker greets as ZMTP requires, and then sends bytes all the time, or nothing.
type hostileBroker struct {
	memnet.Place
	first, loop []byte
}

func (h *hostileBroker) DialBackend(ctx context.Context) (net.Conn, error) { return h.Dial(ctx) }

func (h *hostileBroker) serve(nc net.Conn) {
	defer nc.Close()
	ready := zmtp.Ready(zmtp.Metadata{{Name: zmtp.SocketType, Value: []byte("ROUTER")}})
	greeting := ready.Append(zmtp.NewGreeting().Append(nil))
	go func() { _, _ = nc.Write(append(greeting, h.first...)) }()
	if h.loop == nil {
		_, _ = io.Copy(io.Discard, nc)
		return
	}
	go func() { _, _ = io.Copy(io.Discard, nc) }()
	for {
		time.Sleep(time.Millisecond)
		if _, err := nc.Write(h.loop); err != nil {
			return
		}
	}
}

// An exploration of a broker that never answers ends in its time, and has evaluated next to nothing. It finds only what
// no message can be.
func TestBrokersThatNeverAnswer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		broker *hostileBroker
		clause string // empty: nothing is found
	}{
		"silent after the handshake": {&hostileBroker{}, ""},
		"a frame of 2^62 bytes": {
			&hostileBroker{first: zmtp.AppendHeader(nil, 2, 1<<62), loop: make([]byte, 100)}, "EMQP-SOCK-02",
		},
		"PINGs without an end":  {&hostileBroker{loop: zmtp.Command{Name: zmtp.PING, Data: []byte{0, 0}}.Append(nil)}, ""},
		"frames without an end": {&hostileBroker{loop: zmtp.AppendFrame(nil, 1, []byte("x"))}, "EMQP-FRAME-05"},
	} {
		broker := test.broker
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				broker.Place = memnet.NewPlace()
				var group store.Group
				go group.Serve(broker.MustListen(), broker.serve)
				e := explore.Explorer{Alphabet: emqpsuite.Alphabet(), Target: broker, Seed: 1, Time: 10 * time.Second}
				start := time.Now()
				r := e.Run(t.Context())
				assert.Less(t, time.Since(start), time.Minute)
				assert.Less(t, r.Coverage.Answers, 20, "replies that were evaluated")
				var clauses []string
				for _, f := range r.Findings {
					clauses = append(clauses, f.Clause)
				}
				assert.Equal(t, test.clause, strings.Join(clauses, " "))
				group.Close()
			})
		})
	}
}

// portBroker is a broker whose port for workers dies of a message of one frame: it accepts connections, and no more.
type portBroker struct {
	*suitetest.Broker
	isDead atomic.Bool
	silent memnet.Place
}

func (d *portBroker) DialBackend(ctx context.Context) (net.Conn, error) {
	if d.isDead.Load() {
		return d.silent.Dial(ctx)
	}
	return d.Broker.DialBackend(ctx)
}

// TestAPortThatDies: malformed messages go to the port of workers too, and one that died of it is a crash of that port,
// although the other one serves on. When the time is over before that is known, it is not well either.
func TestAPortThatDies(t *testing.T) {
	t.Parallel()
	for _, isLate := range []bool{false, true} {
		t.Run(fmt.Sprintf("late %v", isLate), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const mostCommands = 30
				var commands atomic.Int64
				d := &portBroker{silent: memnet.NewPlace()}
				l := d.silent.MustListen()
				defer l.Close()
				d.Broker = suitetest.NewBroker(func() fakeemqp.Config {
					return fakeemqp.Config{Hook: func(e *fakeemqp.Event) {
						text := e.Role != fakeemqp.Scheduler && len(e.Frames) == 1 && strings.Contains(string(e.Frames[0]), "queue")
						switch {
						case e.IsFromBroker:
						case isLate && commands.Add(1) == mostCommands, !isLate && text: // with the last one, or with a text
							d.isDead.Store(true)
						}
					}}
				}, false)
				require.NoError(t, d.Restart(t.Context()))
				defer d.Close()
				e := explore.Explorer{Alphabet: emqpsuite.Alphabet(), Target: d, Seed: 1, Steps: 3000}
				if isLate {
					e.Steps = mostCommands
				}
				r := e.Run(t.Context())
				require.True(t, d.isDead.Load(), "it got a message of one frame")
				if isLate {
					assert.True(t, r.UnservedWords != "" || r.IsDead)
					return
				}
				require.True(t, r.IsDead)
				last := r.Findings[len(r.Findings)-1]
				assert.Equal(t, explore.RuleCrash, last.Rule)
				assert.Equal(t, "no new connection is served at the port for workers", last.Got)
			})
		})
	}
}

// wildBroker is one whose port for workers dies of a connection that does not begin with a greeting.
type wildBroker struct{ portBroker }

func (d *wildBroker) DialBackend(ctx context.Context) (net.Conn, error) {
	nc, err := d.portBroker.DialBackend(ctx)
	return &wildConn{Conn: nc, broker: d}, err
}

type wildConn struct {
	net.Conn
	broker   *wildBroker
	hasBegun bool
}

func (c *wildConn) Write(p []byte) (int, error) {
	greeting := zmtp.NewGreeting().Append(nil)
	if !c.hasBegun && !bytes.HasPrefix(p, greeting[:16]) {
		c.broker.isDead.Store(true)
	}
	c.hasBegun = true
	return c.Conn.Write(p)
}

// TestAPortThatDiesOfBytes: bytes that are no handshake go to the port of workers too.
func TestAPortThatDiesOfBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &wildBroker{portBroker{silent: memnet.NewPlace()}}
		l := d.silent.MustListen()
		defer l.Close()
		d.Broker = suitetest.NewBroker(nil, false)
		require.NoError(t, d.Restart(t.Context()))
		defer d.Close()
		r := (&explore.Explorer{Alphabet: emqpsuite.Alphabet(), Target: d, Seed: 1, Steps: 3000}).Run(t.Context())
		require.True(t, d.isDead.Load(), "it got such bytes")
		require.True(t, r.IsDead)
		assert.Equal(t, "no new connection is served at the port for workers", r.Findings[len(r.Findings)-1].Got)
	})
}
