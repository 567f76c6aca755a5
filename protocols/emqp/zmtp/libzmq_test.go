package zmtp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// peer is a process with sockets of libzmq, which ends with the test: package zmtp is held against it in both
// directions. FWP_ZMQ names a Python that has pyzmq (Debian: python3-zmq); make zmq sets it.
type peer struct {
	t     *testing.T
	lines *bufio.Scanner
	addr  string // of its socket, if it binds one
}

// start starts peer.py with words. Without FWP_ZMQ the test is skipped.
func start(t *testing.T, words ...string) *peer {
	t.Helper()
	python := os.Getenv("FWP_ZMQ")
	if python == "" {
		t.Skip("FWP_ZMQ names no Python with pyzmq; see make zmq")
	}
	cmd := exec.CommandContext(t.Context(), python, append([]string{"testdata/peer.py"}, words...)...)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		in.Close() //nolint:errcheck // the process may have ended
		_ = cmd.Wait()
	})
	p := &peer{t: t, lines: bufio.NewScanner(out)}
	t.Log(p.line("libzmq"))
	return p
}

// binds starts a socket of libzmq that returns each message to its sender.
func binds(t *testing.T, kind string, words ...string) *peer {
	t.Helper()
	p := start(t, append([]string{kind}, words...)...)
	p.addr = "127.0.0.1:" + strings.TrimPrefix(p.line("port "), "port ")
	return p
}

// line returns the next line, which begins with prefix.
func (p *peer) line(prefix string) string {
	require.True(p.t, p.lines.Scan(), "the peer has ended")
	require.Truef(p.t, strings.HasPrefix(p.lines.Text(), prefix), "%q", p.lines.Text())
	return p.lines.Text()
}

// testContext is how long anything may take that works.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// dial connects a Dealer with a peer that binds.
func (p *peer) dial(ctx context.Context, config zmtp.Config) (*zmtp.Dealer, error) {
	nc, err := new(net.Dialer).DialContext(ctx, "tcp", p.addr)
	require.NoError(p.t, err)
	return zmtp.NewDealer(ctx, nc, config)
}

func (p *peer) dealer(config zmtp.Config) *zmtp.Dealer {
	d, err := p.dial(testContext(p.t), config)
	require.NoError(p.t, err)
	p.t.Cleanup(d.Close)
	return d
}

// requireSame compares frames without printing them.
func requireSame(t *testing.T, want, got [][]byte) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if string(want[i]) != string(got[i]) {
			require.Failf(t, "another frame", "%d: %d octets instead of %d, or others", i, len(got[i]), len(want[i]))
		}
	}
}

// A Dealer and a ROUTER of libzmq: frames and messages of all sizes, in order, with and without PINGs of both.
func TestLibzmqDealer(t *testing.T) {
	t.Parallel()
	filled := func(n int) []byte { return []byte(strings.Repeat("x", n)) }
	parts := make([][]byte, 2000)
	for i := range parts {
		parts[i] = filled(i % 300)
	}
	messages := [][][]byte{
		{filled(0)}, {filled(1)}, {filled(255)}, {filled(256)}, {filled(257)}, {filled(65_536)}, {filled(3 << 20)},
		{nil, []byte("eMQP/1.0"), nil}, {nil, nil, nil}, parts,
	}
	beats := []string{"beat=5", "timeout=20000"}
	for name, c := range map[string]struct {
		config zmtp.Config
		words  []string
	}{
		"plain":     {zmtp.Config{}, nil},
		"identity":  {zmtp.Config{Identity: "a name \x00\xff", SendInPieces: true}, nil},
		"heartbeat": {zmtp.Config{Ping: 5 * time.Millisecond, Timeout: 20 * time.Second}, beats},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, ctx := binds(t, zmtp.ROUTER, c.words...).dealer(c.config), testContext(t)
			socket, _ := d.Peer().Metadata.Get(zmtp.SocketType)
			assert.Equal(t, zmtp.ROUTER, string(socket))
			assert.True(t, d.Peer().Version.Pings())
			for range 5 {
				for _, m := range messages {
					require.NoError(t, d.Send(ctx, m...))
					got, err := d.Receive(ctx)
					require.NoError(t, err)
					requireSame(t, m, got)
				}
			}
		})
	}
}

// Messages that are sent without waiting come back in order.
func TestLibzmqOrder(t *testing.T) {
	t.Parallel()
	d, ctx := binds(t, zmtp.ROUTER).dealer(zmtp.Config{}), testContext(t)
	const count = 10_000
	sent := make(chan error, 1)
	go func() {
		for i := range count {
			if err := d.Send(ctx, nil, fmt.Append(nil, i)); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for i := range count {
		got, err := d.Receive(ctx)
		require.NoError(t, err)
		requireSame(t, [][]byte{nil, fmt.Append(nil, i)}, got)
	}
	require.NoError(t, <-sent)
}

// libzmq cuts a peer that does not answer its PINGs; ours does, and sends some itself.
func TestLibzmqHeartbeats(t *testing.T) {
	t.Parallel()
	p := binds(t, zmtp.ROUTER, "beat=40", "timeout=400")
	quiet := p.dealer(zmtp.Config{Identity: "quiet"})
	asking := p.dealer(zmtp.Config{Identity: "asking", Ping: 30 * time.Millisecond, Timeout: 20 * time.Second})
	mute, err := net.Dial("tcp", p.addr) //nolint:noctx // it ends with the test
	require.NoError(t, err)
	defer mute.Close()
	hello := zmtp.Ready(zmtp.Metadata{{Name: zmtp.SocketType, Value: []byte(zmtp.DEALER)}})
	_, err = mute.Write(hello.Append(zmtp.NewGreeting().Append(nil)))
	require.NoError(t, err)
	pings := 0
	for r := zmtp.NewReader(mute, zmtp.Limits{}); err == nil; { // until libzmq ends the connection
		var item zmtp.Item
		if item, err = r.Read(); item.Command.Name == zmtp.PING {
			pings++
		}
	}
	assert.Positive(t, pings)
	_, broken := errors.AsType[*zmtp.SyntaxError](err)
	require.False(t, broken, err)
	for _, d := range []*zmtp.Dealer{quiet, asking} {
		require.NoError(t, d.Send(testContext(t), []byte("still there")))
		got, err := d.Receive(testContext(t))
		require.NoError(t, err)
		requireSame(t, [][]byte{[]byte("still there")}, got)
	}
}

func TestLibzmqHundredDealers(t *testing.T) {
	t.Parallel()
	p := binds(t, zmtp.ROUTER)
	ctx := testContext(t)
	dealers := make([]*zmtp.Dealer, 100)
	for i := range dealers {
		dealers[i] = p.dealer(zmtp.Config{Identity: fmt.Sprint("dealer ", i)})
	}
	for n := range 20 {
		for i, d := range dealers {
			require.NoError(t, d.Send(ctx, fmt.Append(nil, i, n)))
		}
		for i, d := range dealers {
			got, err := d.Receive(ctx)
			require.NoError(t, err)
			requireSame(t, [][]byte{fmt.Append(nil, i, n)}, got)
		}
	}
}

// A Dealer that comes back with its identity is the same peer for libzmq.
func TestLibzmqDealerComesBack(t *testing.T) {
	t.Parallel()
	p, ctx := binds(t, zmtp.ROUTER, "handover=1"), testContext(t)
	for range 20 {
		d := p.dealer(zmtp.Config{Identity: "same"})
		require.NoError(t, d.Send(ctx, []byte("hello")))
		_, err := d.Receive(ctx)
		require.NoError(t, err)
		d.Close()
	}
}

// Sockets that cannot talk to each other say so: REP serves a DEALER, PUB does not.
func TestLibzmqTypes(t *testing.T) {
	t.Parallel()
	rep := binds(t, "REP").dealer(zmtp.Config{})
	require.NoError(t, rep.Send(testContext(t), nil, []byte("question")))
	got, err := rep.Receive(testContext(t))
	require.NoError(t, err)
	requireSame(t, [][]byte{nil, []byte("question")}, got)

	_, err = binds(t, "PUB").dial(testContext(t), zmtp.Config{})
	require.Error(t, err)
	t.Log(err)
}

// back returns a message to its sender.
func back(r *zmtp.Router, m zmtp.Message) { _ = r.Send(m.From, m.Parts...) } // a peer may have ended

// serve lets a Router answer each message, and returns its port.
func serve(t *testing.T, config zmtp.RouterConfig, answer func(*zmtp.Router, zmtp.Message)) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := zmtp.NewRouter(config)
	var running sync.WaitGroup
	running.Go(func() { _ = r.Serve(l) })
	running.Go(func() {
		for m, err := r.Receive(context.Background()); err == nil; m, err = r.Receive(context.Background()) {
			answer(r, m)
		}
	})
	t.Cleanup(func() {
		l.Close()
		r.Close()
		running.Wait()
	})
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return "port=" + port
}

// A Router and sockets of libzmq that connect to it.
func TestLibzmqRouter(t *testing.T) {
	t.Parallel()
	beats := zmtp.RouterConfig{Config: zmtp.Config{Ping: 20 * time.Millisecond, Timeout: 20 * time.Second, SendInPieces: true}}
	for name, c := range map[string]struct {
		config zmtp.RouterConfig
		words  []string
	}{
		"one":       {zmtp.RouterConfig{}, []string{"messages=300"}},
		"hundred":   {zmtp.RouterConfig{}, []string{"count=100", "messages=30"}},
		"large":     {zmtp.RouterConfig{}, []string{"messages=5", "size=3000000"}},
		"heartbeat": {beats, []string{"count=5", "messages=500", "beat=5", "timeout=20000"}},
		"REQ":       {zmtp.RouterConfig{}, []string{"type=REQ", "messages=30"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, append([]string{"clients", serve(t, c.config, back)}, c.words...)...)
			p.line("ok")
		})
	}
}

// A socket of libzmq whose connection we end connects again, with its identity, and goes on.
func TestLibzmqRouterDisconnects(t *testing.T) {
	t.Parallel()
	joins := make(chan string, 100)
	config := zmtp.RouterConfig{Handover: true, OnJoin: func(identity string, _ zmtp.Peer) { joins <- identity }}
	received, returns := 0, 0
	port := serve(t, config, func(r *zmtp.Router, m zmtp.Message) {
		if received == 0 {
			<-joins
		}
		if received++; received%10 == 0 {
			r.Disconnect(m.From)
			if assert.Equal(t, m.From, <-joins) {
				returns++
			}
		}
		back(r, m)
	})
	start(t, "clients", port, "messages=50").line("ok")
	assert.Equal(t, 5, returns)
}

// A socket that does not fit learns it from us.
func TestLibzmqRouterRefuses(t *testing.T) {
	t.Parallel()
	reasons := make(chan error, 100)
	port := serve(t, zmtp.RouterConfig{OnLeave: func(_ string, err error) { reasons <- err }}, back)
	start(t, "clients", port, "type=PUB", "messages=1")
	var mismatch *zmtp.MismatchError
	require.ErrorAs(t, <-reasons, &mismatch)
	assert.Equal(t, "PUB", mismatch.Theirs)
}
