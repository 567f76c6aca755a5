package proxy_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/target/proxy"
)

// bed is a server that echoes, and a proxy before it, in virtual time.
type bed struct {
	t     *testing.T
	front memnet.Place
	proxy *proxy.Proxy
	began time.Time
}

func inBubble(t *testing.T, config proxy.Config, test func(*bed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b, behind := &bed{t: t, front: memnet.NewPlace(), began: time.Now()}, memnet.NewPlace()
		server := behind.MustListen()
		if config.Dial == nil {
			config.Dial = behind.Dial
		}
		b.proxy = proxy.New(config)
		front := b.front.MustListen()
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { assert.NoError(t, b.proxy.Serve(ctx, front)) })
		all.Go(func() { echo(server) })
		test(b)
		cancel()
		b.proxy.Close()
		_ = server.Close()
		all.Wait()
	})
}

// echo sends back what comes, until the listener is closed and all clients have ended.
func echo(l net.Listener) {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		all.Go(func() {
			defer nc.Close()
			_, _ = io.Copy(nc, nc)
		})
	}
}

func (b *bed) dial() net.Conn {
	b.t.Helper()
	nc := b.front.MustDial()
	b.t.Cleanup(func() { _ = nc.Close() })
	return nc
}

// ask sends text and returns how long its echo took.
func (b *bed) ask(nc net.Conn, text string) time.Duration {
	b.t.Helper()
	began := time.Now()
	_, err := io.WriteString(nc, text)
	require.NoError(b.t, err)
	got := make([]byte, len(text))
	_, err = io.ReadFull(nc, got)
	require.NoError(b.t, err)
	assert.Equal(b.t, text, string(got))
	return time.Since(began)
}

func TestPasses(t *testing.T) {
	t.Parallel()
	inBubble(t, proxy.Config{}, func(b *bed) {
		nc := b.dial()
		assert.Zero(t, b.ask(nc, "hello"))
		require.NoError(t, nc.(interface{ CloseWrite() error }).CloseWrite())
		rest, err := io.ReadAll(nc)
		assert.NoError(t, err, "the end is passed on in order, there and back")
		assert.Empty(t, rest)
	})
}

func TestConditions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		condition proxy.Condition
		low, high time.Duration // of 100 bytes there and back
	}{
		"delay":    {proxy.Condition{Delay: 50 * time.Millisecond}, 100 * time.Millisecond, 100 * time.Millisecond},
		"jitter":   {proxy.Condition{Jitter: time.Second}, time.Millisecond, 2 * time.Second},
		"rate":     {proxy.Condition{Rate: 1000}, 200 * time.Millisecond, 200 * time.Millisecond},
		"segments": {proxy.Condition{Rate: 1000, Segment: 10}, 100 * time.Millisecond, 210 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, proxy.Config{Seed: 1}, func(b *bed) {
				nc := b.dial()
				b.proxy.Set(test.condition)
				took := b.ask(nc, string(make([]byte, 100)))
				assert.GreaterOrEqual(t, took, test.low)
				assert.LessOrEqual(t, took, test.high)
				b.proxy.Set(proxy.Condition{})
				time.Sleep(time.Second)
				assert.Zero(t, b.ask(nc, "hello"), "as before")
			})
		})
	}
}

// watcher counts what passes.
type watcher struct {
	mu      sync.Mutex
	opened  int
	watched int // pieces
	passed  int // of them, those that were to be told
	ended   []proxy.Side
	pieces  map[proxy.Side][]int
}

func (w *watcher) Opened(int) { w.opened++ }

func (w *watcher) Passing(_ int, from proxy.Side, data []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pieces[from] = append(w.pieces[from], len(data))
	w.watched++
	return w.watched == 1
}

func (w *watcher) Passed(int, proxy.Side) { w.passed++ }

func (w *watcher) Ended(_ int, by proxy.Side, _ bool) { w.ended = append(w.ended, by) }

func TestSegments(t *testing.T) {
	t.Parallel()
	w := &watcher{pieces: map[proxy.Side][]int{}}
	inBubble(t, proxy.Config{Observer: w}, func(b *bed) {
		nc := b.dial()
		b.proxy.Set(proxy.Condition{Segment: 3, Rate: 1000})
		b.ask(nc, "12345678")
		_ = nc.Close()
		synctest.Wait()
	})
	assert.Equal(t, 1, w.opened)
	assert.Equal(t, []int{8}, w.pieces[proxy.Client], "the observer sees the bytes as they were received, before they "+
		"are cut")
	assert.Equal(t, []int{3, 3, 2}, w.pieces[proxy.Server], "the server got it in pieces, and echoed them")
	assert.Equal(t, []proxy.Side{proxy.Client}, w.ended, "once, by the first side")
	assert.Equal(t, 1, w.passed, "behind the piece for which it was asked")
}

func TestPartition(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		heldSides []proxy.Side
		reaches   bool // the bytes reach the server
	}{
		"both directions": {[]proxy.Side{proxy.Client, proxy.Server}, false},
		"to the server":   {[]proxy.Side{proxy.Client}, false},
		"to the client":   {[]proxy.Side{proxy.Server}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &watcher{pieces: map[proxy.Side][]int{}}
			inBubble(t, proxy.Config{Observer: w}, func(b *bed) {
				nc := b.dial()
				b.ask(nc, "before")
				b.proxy.Set(proxy.Condition{HeldSides: test.heldSides})
				time.AfterFunc(3*time.Second, func() { b.proxy.Set(proxy.Condition{}) })
				time.AfterFunc(2*time.Second, func() {
					w.mu.Lock()
					defer w.mu.Unlock()
					assert.Equal(t, test.reaches, len(w.pieces[proxy.Server]) == 2, "before it heals")
				})
				assert.Equal(t, 3*time.Second, b.ask(nc, "during"), "nothing is lost")
			})
		})
	}
}

func TestPartitionHoldsBackConnectionsAndTheirEnds(t *testing.T) {
	t.Parallel()
	inBubble(t, proxy.Config{}, func(b *bed) {
		old := b.dial()
		b.ask(old, "before")
		b.proxy.Set(proxy.Condition{HeldSides: []proxy.Side{proxy.Client}})
		time.AfterFunc(time.Second, func() { b.proxy.Set(proxy.Condition{}) })
		began := time.Now()
		require.NoError(t, old.(interface{ CloseWrite() error }).CloseWrite())
		_, err := io.ReadAll(old)
		require.NoError(t, err)
		assert.Equal(t, time.Second, time.Since(began), "the end of a connection")

		b.proxy.Set(proxy.Condition{HeldSides: []proxy.Side{proxy.Client}})
		time.AfterFunc(time.Second, func() { b.proxy.Set(proxy.Condition{}) })
		assert.Equal(t, time.Second, b.ask(b.dial(), "new"))
	})
}

func TestReset(t *testing.T) {
	t.Parallel()
	inBubble(t, proxy.Config{}, func(b *bed) {
		first, second := b.dial(), b.dial()
		b.ask(first, "1")
		b.ask(second, "2")
		b.proxy.Reset()
		for _, nc := range []net.Conn{first, second} {
			_, err := nc.Read(make([]byte, 1))
			assert.Error(t, err)
		}
		b.ask(b.dial(), "new ones pass")
	})
}

func TestServerIsDown(t *testing.T) {
	t.Parallel()
	var failed []error
	down := errors.New("down")
	inBubble(t, proxy.Config{
		Dial:      func(context.Context) (net.Conn, error) { return nil, down },
		OnFailure: func(err error) { failed = append(failed, err) },
	}, func(b *bed) {
		_, err := b.dial().Read(make([]byte, 1))
		assert.Error(t, err)
	})
	assert.Equal(t, []error{down}, failed)
}

func TestCloseDoesNotWaitForTheNetwork(t *testing.T) {
	t.Parallel()
	inBubble(t, proxy.Config{}, func(b *bed) {
		nc := b.dial()
		b.ask(nc, "before")
		for _, c := range []proxy.Condition{{HeldSides: []proxy.Side{proxy.Client}}, {Delay: time.Hour}, {Rate: 1}} {
			b.proxy.Set(c)
			_, _ = io.WriteString(b.dial(), "held back")
			synctest.Wait()
		}
		b.proxy.Close()
		b.proxy.Close()
		assert.Zero(t, time.Since(b.began))
	})
}

func TestMaxOpen(t *testing.T) {
	t.Parallel()
	var failed []error
	inBubble(t, proxy.Config{MaxOpen: 1, OnFailure: func(err error) { failed = append(failed, err) }}, func(b *bed) {
		b.ask(b.dial(), "the first")
		_, err := b.dial().Read(make([]byte, 1))
		assert.Error(t, err)
	})
	require.Len(t, failed, 1)
	assert.ErrorContains(t, failed[0], "more than 1 connections are open")
}
