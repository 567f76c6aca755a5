package suite_test

import (
	"bytes"
	"context"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/suitetest"
	"github.com/fwpsuite/fwp/internal/target/forward/forwardtest"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// alteredBroker is a broker whose octets are changed on their way to its clients.
type alteredBroker struct {
	*suitetest.Broker
	change func([]byte) []byte
}

func (a alteredBroker) Dial(ctx context.Context) (net.Conn, error) {
	nc, err := a.Broker.Dial(ctx)
	return &alteredConn{Conn: nc, change: a.change}, err
}

type alteredConn struct {
	net.Conn
	change func([]byte) []byte
	rest   []byte
}

func (c *alteredConn) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		buffer := make([]byte, 4<<10)
		n, err := c.Conn.Read(buffer)
		if err != nil {
			return 0, err
		}
		c.rest = c.change(buffer[:n])
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// TestSockets: a broker of another socket type, and one that sends what is no ZMTP, are found. The hook of the broker
// sees messages only, so these bugs are none of its catalogue.
func TestSockets(t *testing.T) {
	t.Parallel()
	for clause, change := range map[string]func([]byte) []byte{
		"EMQP-SOCK-01": func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("ROUTER"), []byte("DEALER")) },
		"EMQP-SOCK-02": func(b []byte) []byte {
			if bytes.Contains(b, []byte(zmtp.READY)) {
				return append(b, 0xff, 0xff)
			}
			return b
		},
	} {
		t.Run(clause, func(t *testing.T) {
			t.Parallel()
			picked := slices.DeleteFunc(checks(t), func(c conformance.Check) bool {
				return c.Describe().ID != "frames/router"
			})
			synctest.Test(t, func(t *testing.T) {
				broker := alteredBroker{suitetest.NewBroker(plainConfig, false), change}
				require.NoError(t, broker.Restart(t.Context()))
				server, end, err := start(plainConfig)
				require.NoError(t, err)
				end()
				server.Target, server.StartServer = broker, nil
				red, _ := suitetest.BrokenClauses(judge(t, server, picked))
				broker.Close()
				assert.Contains(t, red, clause)
			})
		})
	}
}

// forwardedBroker is a broker behind a forwarder of both of its ports.
type forwardedBroker struct {
	*forwardtest.Forwarder
	broker *suitetest.Broker
}

func (f *forwardedBroker) DialBackend(ctx context.Context) (net.Conn, error) {
	return f.DialTo(ctx, "workers", f.broker.DialBackend)
}

// TestTheEndOfAForwarder: it is no crash of the broker, whose own end is seen too.
func TestTheEndOfAForwarder(t *testing.T) {
	t.Parallel()
	for connections := range 40 {
		t.Run(strconv.Itoa(connections), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := forwardedBroker{Forwarder: &forwardtest.Forwarder{Connections: connections}}
				f.broker = suitetest.NewBroker(withHook(func() func(*fakeemqp.Event) {
					return func(e *fakeemqp.Event) {
						if !e.IsFromBroker && connections == 0 && len(e.Frames) == 1 {
							f.End() // as if the broker had ended
						}
					}
				}), false)
				require.NoError(t, f.broker.Restart(t.Context()))
				defer f.broker.Close()
				f.Server, f.Forwarded().Greets = f.broker.Dial, true
				all := checks(t)
				if connections == 0 { // alone: in virtual time others open connections at the same instant
					all = slices.DeleteFunc(all, func(c conformance.Check) bool { return c.Describe().ID != "malformed/workers" })
				}
				r := judge(t, run.Server{Target: &f, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone}}, all)
				if connections == 0 { // which of both it was is not always known, but never that all is well or undecided
					ends := []int{reports.ExitFindings, reports.ExitUnreachable}
					assert.Contains(t, ends, r.ExitCode(reports.ExitOptions{}))
					return
				}
				assert.Empty(t, r.Findings())
				assert.Equal(t, reports.ExitUnreachable, r.ExitCode(reports.ExitOptions{}))
				assert.Contains(t, r.Unreachable, "may have ended")
			})
		})
	}
}

// dyingBroker is a broker of which one port accepts and greets no more behind a connection that has written certain
// bytes, and perhaps ended.
type dyingBroker struct {
	*suitetest.Broker
	isWorkerPort bool // it is their port
	isFatal      func(written []byte, ended bool) bool
	isDead       atomic.Bool
	silent       memnet.Place
}

func (d *dyingBroker) Dial(ctx context.Context) (net.Conn, error) {
	return d.connect(ctx, d.Broker.Dial, !d.isWorkerPort)
}

func (d *dyingBroker) DialBackend(ctx context.Context) (net.Conn, error) {
	return d.connect(ctx, d.Broker.DialBackend, d.isWorkerPort)
}

func (d *dyingBroker) connect(
	ctx context.Context, dial func(context.Context) (net.Conn, error), isMortal bool,
) (net.Conn, error) {
	if isMortal && d.isDead.Load() {
		return d.silent.Dial(ctx)
	}
	nc, err := dial(ctx)
	if err != nil || !isMortal {
		return nc, err
	}
	return &dyingConn{Conn: nc, broker: d}, nil
}

// Restart has the port greet again.
func (d *dyingBroker) Restart(ctx context.Context) error {
	d.isDead.Store(false)
	return d.Broker.Restart(ctx)
}

type dyingConn struct {
	net.Conn
	broker *dyingBroker
	output []byte
}

func (c *dyingConn) Write(p []byte) (int, error) {
	c.output = append(c.output, p...)
	c.check(false)
	return c.Conn.Write(p)
}

func (c *dyingConn) Close() error {
	c.check(true)
	return c.Conn.Close()
}

func (c *dyingConn) check(isClosed bool) {
	if c.broker.isFatal(c.output, isClosed) {
		c.broker.isDead.Store(true)
	}
}

// TestHandshakes: a port that dies of what is no handshake, or of half of one, is found, and named.
func TestHandshakes(t *testing.T) {
	t.Parallel()
	const greeting = 64
	contains := func(part string) func([]byte, bool) bool {
		return func(written []byte, _ bool) bool { return bytes.Contains(written, []byte(part)) }
	}
	for name, isFatal := range map[string]func(written []byte, ended bool) bool{
		"nothing":             func(w []byte, ended bool) bool { return ended && len(w) == 0 },
		"HTTP":                contains("GET / HTTP"),
		"begun":               func(w []byte, ended bool) bool { return ended && len(w) > 0 && len(w) < 10 },
		"half a greeting":     func(w []byte, ended bool) bool { return ended && len(w) > 12 && len(w) < greeting },
		"another version":     func(w []byte, _ bool) bool { return len(w) > 10 && w[10] < 3 },
		"another mechanism":   contains("CURVE"),
		"no READY":            func(w []byte, ended bool) bool { return ended && len(w) == greeting },
		"half a READY":        func(w []byte, ended bool) bool { return ended && bytes.HasSuffix(w, []byte("Sock")) },
		"another socket type": contains("\x03PUB"),
		"a message at once":   contains("\x00\x04wild"),
		"a size of 63 bits":   contains("\x06\x7f\xff\xff\xff\xff\xff\xff\xff"),
	} {
		for port, workers := range map[string]bool{"clients": false, "workers": true} {
			t.Run(name+" of "+port, func(t *testing.T) {
				t.Parallel()
				picked := slices.DeleteFunc(checks(t), func(c conformance.Check) bool {
					return c.Describe().ID != "malformed/handshakes-of-"+port
				})
				synctest.Test(t, func(t *testing.T) {
					broker := &dyingBroker{isWorkerPort: workers, isFatal: isFatal, silent: memnet.NewPlace()}
					l := broker.silent.MustListen()
					broker.Broker = suitetest.NewBroker(plainConfig, false)
					require.NoError(t, broker.Restart(t.Context()))
					r := judge(t, run.Server{Target: broker, Offers: []scenarios.Need{scenarios.NeedOpen}}, picked)
					broker.Close()
					l.Close()
					require.Len(t, picked, 1)
					require.Equal(t, reports.Crash, r.Checks[0].Verdict, r.Checks[0].Cause)
					assert.Contains(t, r.Checks[0].Findings[0].Actual, "no greeting on a new connection")
				})
			})
		}
	}
}
