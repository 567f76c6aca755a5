package zmtp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// place is a Router on a network in memory.
type place struct {
	t *testing.T
	*zmtp.Router
	at     memnet.Place
	joins  chan string
	leaves chan departure
}

// departure is what OnLeave was called with.
type departure struct {
	identity string
	err      error
}

// inBubble runs a test with a Router, in virtual time.
func inBubble(t *testing.T, config zmtp.RouterConfig, test func(t *testing.T, p *place)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &place{t: t, at: memnet.NewPlace(), joins: make(chan string, 9), leaves: make(chan departure, 9)}
		l := p.at.MustListen()
		config.OnJoin = func(identity string, _ zmtp.Peer) { p.joins <- identity }
		config.OnLeave = func(identity string, err error) { p.leaves <- departure{identity, err} }
		p.Router = zmtp.NewRouter(config)
		served := make(chan error, 1)
		go func() { served <- p.Serve(l) }()
		test(t, p)
		l.Close()
		require.ErrorIs(t, <-served, net.ErrClosed)
		p.Close()
		_, err := p.Receive(t.Context())
		assert.ErrorIs(t, err, zmtp.ErrClosed)
	})
}

// conn dials the Router.
func (p *place) conn() net.Conn {
	nc := p.at.MustDial()
	p.t.Cleanup(func() { nc.Close() })
	return nc
}

// dealer connects a Dealer, which ends with the test.
func (p *place) dealer(config zmtp.Config) *zmtp.Dealer {
	d, err := zmtp.NewDealer(p.t.Context(), p.conn(), config)
	require.NoError(p.t, err)
	p.t.Cleanup(d.Close)
	return d
}

// receive takes a message of the Router, and returns whose it is and its text.
func (p *place) receive() (from, text string) {
	m, err := p.Receive(p.t.Context())
	require.NoError(p.t, err)
	return m.From, joinParts(m.Parts)
}

func joinParts(parts [][]byte) string {
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = string(part)
	}
	return strings.Join(texts, "|")
}

func frames(texts ...string) (parts [][]byte) {
	for _, text := range texts {
		parts = append(parts, []byte(text))
	}
	return parts
}

func TestSockets(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long", 1000)
	for _, inPieces := range []bool{false, true} {
		t.Run(fmt.Sprint(inPieces), func(t *testing.T) {
			t.Parallel()
			config := zmtp.Config{SendInPieces: inPieces, Properties: zmtp.Metadata{{"X-a", []byte("b")}}}
			inBubble(t, zmtp.RouterConfig{Config: config}, func(t *testing.T, p *place) {
				named, nameless := p.dealer(zmtp.Config{Identity: "worker", SendInPieces: true}), p.dealer(zmtp.Config{})
				x, _ := named.Peer().Metadata.Get("x-A")
				assert.Equal(t, "b", string(x))
				require.NoError(t, named.Send(t.Context(), frames("", "eMQP/1.0", long)...))
				from, text := p.receive()
				assert.Equal(t, "worker", from)
				assert.Equal(t, "|eMQP/1.0|"+long, text)
				require.NoError(t, nameless.Send(t.Context()))
				from, text = p.receive()
				assert.Equal(t, "\x00\x00\x00\x00\x01", from)
				assert.Empty(t, text)
				for _, to := range []string{from, "worker"} {
					require.NoError(t, p.Send(to, frames("for", to)...))
				}
				got, err := named.Receive(t.Context())
				require.NoError(t, err)
				assert.Equal(t, "for|worker", joinParts(got))
				got, err = nameless.Receive(t.Context())
				require.NoError(t, err)
				assert.Equal(t, "for|"+from, joinParts(got))
				require.ErrorIs(t, p.Send("another", []byte("lost")), zmtp.ErrUnknown)
			})
		})
	}
}

// Peers that have sent some take turns.
func TestFairQueue(t *testing.T) {
	t.Parallel()
	inBubble(t, zmtp.RouterConfig{}, func(t *testing.T, p *place) {
		a, b := p.dealer(zmtp.Config{Identity: "a"}), p.dealer(zmtp.Config{Identity: "b"})
		for i := range 3 {
			require.NoError(t, a.Send(t.Context(), frames(fmt.Sprint(i))...))
		}
		synctest.Wait()
		require.NoError(t, b.Send(t.Context(), frames("0")...))
		synctest.Wait()
		order := ""
		for range 4 {
			from, text := p.receive()
			order += from + text + " "
		}
		assert.Equal(t, "a0 b0 a1 a2 ", order)
	})
}

// The high-water marks: a Dealer waits, a Router refuses, and nothing is lost or doubled.
func TestHighWater(t *testing.T) {
	t.Parallel()
	config := zmtp.RouterConfig{Config: zmtp.Config{ReceiveHWM: 5, SendHWM: 5}}
	inBubble(t, config, func(t *testing.T, p *place) {
		d := p.dealer(zmtp.Config{Identity: "d", ReceiveHWM: 5, SendHWM: 5})
		big := strings.Repeat("x", 100_000)
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		sent := 0
		for d.Send(soon, frames(fmt.Sprint(sent), big)...) == nil {
			sent++
		}
		assert.Greater(t, sent, 10)
		for i := range sent {
			_, text := p.receive()
			assert.Equal(t, fmt.Sprint(i)+"|"+big, text)
		}
		accepted := 0
		for p.Send("d", frames(fmt.Sprint(accepted), big)...) == nil {
			accepted++
		}
		require.ErrorIs(t, p.Send("d", []byte("one too many")), zmtp.ErrFull)
		for i := range accepted {
			got, err := d.Receive(t.Context())
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprint(i)+"|"+big, joinParts(got))
		}
	})
}

// What waits to be written to all peers together has a limit; a single message may be larger than that.
func TestMemory(t *testing.T) {
	t.Parallel()
	inBubble(t, zmtp.RouterConfig{Config: zmtp.Config{Memory: 1 << 20}}, func(t *testing.T, p *place) {
		for _, name := range []string{"a", "b"} { // they do not read
			ready := zmtp.Ready(zmtp.Metadata{{zmtp.Identity, []byte(name)}})
			_, err := p.conn().Write(ready.Append(zmtp.NewGreeting().Append(nil)))
			require.NoError(t, err)
		}
		synctest.Wait()
		huge := make([]byte, 2<<20)
		require.NoError(t, p.Send("a", huge))
		synctest.Wait() // it is being written
		require.NoError(t, p.Send("a", huge))
		require.ErrorIs(t, p.Send("b", []byte("small")), zmtp.ErrFull)
	})
}

// Two peers of one identity: the second one is refused, or takes the place of the first.
func TestIdentityTaken(t *testing.T) {
	t.Parallel()
	for _, handover := range []bool{false, true} {
		t.Run(fmt.Sprint(handover), func(t *testing.T) {
			t.Parallel()
			inBubble(t, zmtp.RouterConfig{Handover: handover}, func(t *testing.T, p *place) {
				first := p.dealer(zmtp.Config{Identity: "same"})
				second, err := zmtp.NewDealer(t.Context(), p.conn(), zmtp.Config{Identity: "same"})
				require.ErrorIs(t, (<-p.leaves).err, zmtp.ErrTaken)
				if !handover {
					require.ErrorIs(t, err, io.EOF)
					require.NoError(t, p.Send("same", []byte("first")))
					_, err = first.Receive(t.Context())
					require.NoError(t, err)
					return
				}
				require.NoError(t, err)
				defer second.Close()
				_, err = first.Receive(t.Context())
				require.ErrorIs(t, err, io.EOF)
				require.NoError(t, p.Send("same", []byte("second")))
				got, err := second.Receive(t.Context())
				require.NoError(t, err)
				assert.Equal(t, "second", joinParts(got))
			})
		})
	}
}

// The end of a peer reaches the socket, a message to that peer is refused, and the peer may connect again.
func TestReconnect(t *testing.T) {
	t.Parallel()
	inBubble(t, zmtp.RouterConfig{}, func(t *testing.T, p *place) {
		for range 2 {
			d := p.dealer(zmtp.Config{Identity: "d"})
			assert.Equal(t, "d", <-p.joins)
			require.NoError(t, p.Send("d", []byte("hello")))
			_, err := d.Receive(t.Context())
			require.NoError(t, err)
			d.Close()
			assert.Equal(t, "d", (<-p.leaves).identity)
			require.ErrorIs(t, p.Send("d", []byte("lost")), zmtp.ErrUnknown)
		}
		d := p.dealer(zmtp.Config{Identity: "d"})
		p.Disconnect("d")
		p.Disconnect("another")
		_, err := d.Receive(t.Context())
		require.ErrorIs(t, err, io.EOF)
		require.Error(t, d.Send(t.Context(), []byte("lost")))
	})
}

// Two sockets that PING each other stay connected for an hour in which neither sends anything.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	beats := zmtp.Config{Identity: "d", Ping: time.Second, TTL: 3 * time.Second}
	inBubble(t, zmtp.RouterConfig{Config: zmtp.Config{Ping: 700 * time.Millisecond}}, func(t *testing.T, p *place) {
		d := p.dealer(beats)
		synctest.Wait()
		time.Sleep(time.Hour)
		require.NoError(t, p.Send("d", []byte("there")))
		_, err := d.Receive(t.Context())
		require.NoError(t, err)
	})
}

// A peer that does not answer PINGs is given up, also by its own time to live; one of version 3.0 is not asked.
func TestSilence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		minor byte
		send  []byte
		after time.Duration // 0: never
	}{
		"no PONG":     {1, nil, 4 * time.Second},
		"version 3.0": {0, nil, 0},
		"TTL":         {0, zmtp.Ping(2500*time.Millisecond, []byte("ctx")).Append(nil), 2500 * time.Millisecond},
		"TTL, then a message": {
			0, zmtp.AppendMessage(zmtp.Ping(2500*time.Millisecond, nil).Append(nil), []byte("m")), 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := zmtp.RouterConfig{Config: zmtp.Config{Ping: time.Second}}
			inBubble(t, config, func(t *testing.T, p *place) {
				nc := p.conn()
				greeting := zmtp.NewGreeting()
				greeting.Version.Minor = c.minor
				_, err := nc.Write(append(zmtp.Ready(nil).Append(greeting.Append(nil)), c.send...))
				require.NoError(t, err)
				synctest.Wait()
				begin := time.Now()
				select {
				case l := <-p.leaves:
					require.ErrorIs(t, l.err, zmtp.ErrSilent)
					assert.Equal(t, c.after, time.Since(begin))
				case <-time.After(time.Hour):
					assert.Zero(t, c.after)
				}
			})
		})
	}
}

// While we do not read, it is not the peer that is silent.
func TestSilenceOfOurs(t *testing.T) {
	t.Parallel()
	config := zmtp.RouterConfig{Config: zmtp.Config{Ping: time.Second, ReceiveHWM: 1}}
	inBubble(t, config, func(t *testing.T, p *place) {
		d := p.dealer(zmtp.Config{})
		for _, text := range []string{"1", "2", "3"} {
			require.NoError(t, d.Send(t.Context(), []byte(text)))
		}
		time.Sleep(time.Hour)
		for _, want := range []string{"1", "2", "3"} {
			_, text := p.receive()
			assert.Equal(t, want, text)
		}
	})
}

// A PING is answered with its context, before messages that wait.
func TestPong(t *testing.T) {
	t.Parallel()
	inBubble(t, zmtp.RouterConfig{}, func(t *testing.T, p *place) {
		nc := p.conn()
		_, err := nc.Write(append(opening(), zmtp.Ping(0, []byte("context")).Append(nil)...))
		require.NoError(t, err)
		r := zmtp.NewReader(nc, zmtp.Limits{})
		for range 2 {
			_, err := r.Read()
			require.NoError(t, err)
		}
		item, err := r.Read()
		require.NoError(t, err)
		assert.Equal(t, zmtp.Pong([]byte("context")), item.Command)
	})
}

// A peer that breaks the protocol loses its connection; the other peers keep theirs.
func TestHostile(t *testing.T) {
	t.Parallel()
	greeting := string(zmtp.NewGreeting().Append(nil))
	plain := strings.Replace(greeting, "NULL\x00", "PLAIN", 1)
	ready := string(opening())
	for name, c := range map[string]struct {
		in   string
		want error
	}{
		"HTTP":            {"GET / HTTP/1.0\r\n\r\n", &zmtp.SyntaxError{}},
		"another type":    {greeting + readyAs("PUB"), &zmtp.MismatchError{}},
		"PLAIN":           {plain, &zmtp.MismatchError{}},
		"ERROR":           {greeting + string(zmtp.Error("no").Append(nil)), &zmtp.PeerError{}},
		"ERROR later":     {ready + string(zmtp.Error("no").Append(nil)), &zmtp.PeerError{}},
		"a huge frame":    {ready + string(zmtp.AppendHeader(nil, zmtp.Long, 1<<63-1)), &zmtp.SyntaxError{}},
		"a short READY":   {greeting + "\x04\x07\x05READY\x0b", &zmtp.SyntaxError{}},
		"nothing":         {"", nil},
		"half a greeting": {greeting[:30], nil},
		"half a READY":    {ready[:90], nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, zmtp.RouterConfig{}, func(t *testing.T, p *place) {
				nc := p.conn()
				_, err := nc.Write([]byte(c.in))
				require.NoError(t, err)
				begin := time.Now()
				err = (<-p.leaves).err
				if c.want == nil {
					require.ErrorIs(t, err, os.ErrDeadlineExceeded)
					assert.Equal(t, 10*time.Second, time.Since(begin))
				} else {
					assert.Equal(t, fmt.Sprintf("%T", c.want), fmt.Sprintf("%T", root(err)))
					assert.Zero(t, time.Since(begin))
				}
				d := p.dealer(zmtp.Config{})
				require.NoError(t, d.Send(t.Context(), []byte("served")))
				_, text := p.receive()
				assert.Equal(t, "served", text)
			})
		})
	}
}

// readyAs is the READY of a socket of a type.
func readyAs(socket string) string {
	return string(zmtp.Ready(zmtp.Metadata{{zmtp.SocketType, []byte(socket)}}).Append(nil))
}

// root returns the error that others wrap.
func root(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}

// A Dealer learns why the handshake fails.
func TestDealerDeclined(t *testing.T) {
	t.Parallel()
	greeting := string(zmtp.NewGreeting().Append(nil))
	for name, c := range map[string]struct{ in, want string }{
		"ERROR":        {greeting + string(zmtp.Error("full").Append(nil)), `the peer declined the connection: "full"`},
		"another type": {greeting + readyAs("SUB"), `the peer's socket type "SUB" does not fit ours, "DEALER"`},
		"ZMTP 2": {"\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x01",
			`read the greeting: ZMTP syntax (version): octet 10: expected version 3 or higher, got "\x01"`,
		},
		"nothing": {"", "context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				place := memnet.NewPlace()
				l := place.MustListen()
				defer l.Close()
				go func() {
					if nc, err := l.Accept(); err == nil {
						_, _ = nc.Write([]byte(c.in))
						_, _ = io.Copy(io.Discard, nc)
						nc.Close()
					}
				}()
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				_, err := zmtp.NewDealer(ctx, place.MustDial(), zmtp.Config{})
				require.EqualError(t, err, c.want)
			})
		})
	}
}

// More connections than a Router takes are closed at once.
func TestMostPeers(t *testing.T) {
	t.Parallel()
	inBubble(t, zmtp.RouterConfig{MaxPeers: 1}, func(t *testing.T, p *place) {
		p.dealer(zmtp.Config{})
		_, err := zmtp.NewDealer(t.Context(), p.conn(), zmtp.Config{})
		require.Error(t, err)
	})
}

// Anything can be sent between two messages.
func TestRaw(t *testing.T) {
	t.Parallel()
	inBubble(t, zmtp.RouterConfig{}, func(t *testing.T, p *place) {
		d := p.dealer(zmtp.Config{})
		require.NoError(t, d.Send(t.Context(), []byte("good")))
		require.NoError(t, d.Raw(t.Context(), []byte{0xf8, 0}))
		_, text := p.receive()
		assert.Equal(t, "good", text)
		var syntax *zmtp.SyntaxError
		require.ErrorAs(t, (<-p.leaves).err, &syntax)
		assert.Equal(t, zmtp.RuleReserved, syntax.Rule)
		_, err := d.Receive(t.Context())
		require.ErrorIs(t, err, io.EOF)
		<-d.Done()
	})
}
