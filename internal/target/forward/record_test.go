package forward_test

import (
	"context"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/target/forward"
	"github.com/fwpsuite/fwp/internal/target/forward/forwardtest"
)

// resetConn resets a connection.
func resetConn(nc net.Conn) {
	_ = nc.(interface{ SetLinger(sec int) error }).SetLinger(0)
	_ = nc.Close()
}

func halve(nc net.Conn) { _ = nc.(interface{ CloseWrite() error }).CloseWrite() }

// say has an echo answer a word.
func say(nc net.Conn, word string) {
	_, _ = io.WriteString(nc, word)
	_, _ = io.ReadFull(nc, make([]byte, len(word)))
}

// bye has an echo close the connection behind the answer.
const bye = "!"

func awaitClose(nc net.Conn) { _, _ = io.Copy(io.Discard, nc) }

// TestLost tells what may have ended a forwarder from what may have ended a server.
func TestLost(t *testing.T) {
	t.Parallel()
	const reason, later = "the connection to the target was lost", time.Second
	tests := map[string]struct {
		do   func(f *forwardtest.Forwarder, a, b net.Conn)
		want string // that LossReason contains; empty: that it is
	}{
		"a reset":      {func(_ *forwardtest.Forwarder, a, _ net.Conn) { resetConn(a) }, "a client reset its connection"},
		"a half-close": {func(_ *forwardtest.Forwarder, a, _ net.Conn) { halve(a) }, "a client closed its half"},
		"the number of connections": {func(f *forwardtest.Forwarder, _, _ net.Conn) {
			_, _ = f.Dial(context.Background())
		}, "opened a connection, in addition to 2 others"},
		"the number of connections, and bytes on another one": {func(f *forwardtest.Forwarder, a, _ net.Conn) {
			f.Connections = 0
			_, _ = f.Dial(context.Background())
			_, _ = io.WriteString(a, "good")
			f.End()
		}, "opened a connection, in addition to 2 others"},
		"bytes behind a connection that was served": {func(f *forwardtest.Forwarder, a, _ net.Conn) {
			f.Connections = 0
			c, _ := f.Dial(context.Background())
			say(c, "c")
			_, _ = io.WriteString(a, "bad")
			f.End()
		}, ""},
		"a reset, and bytes at that moment": {func(f *forwardtest.Forwarder, a, b net.Conn) {
			f.Resets = false
			resetConn(a)
			_, _ = io.WriteString(b, "bad")
			f.End()
		}, "commands were in progress"},
		"a reset behind an end in order": {func(_ *forwardtest.Forwarder, a, b net.Conn) {
			say(a, bye)
			_, _ = a.Read(make([]byte, 1))
			resetConn(b)
		}, "a client reset its connection"},
		"a close before the reply": {func(f *forwardtest.Forwarder, a, _ net.Conn) {
			_, _ = io.WriteString(a, "a")
			_ = a.Close()
			f.End()
		}, "closed its connection before the reply"},
		"a reset behind the end of all": {func(f *forwardtest.Forwarder, a, b net.Conn) {
			f.Resets = false
			_, _ = io.WriteString(a, "bad")
			f.End()
			awaitClose(a)
			awaitClose(b)
			resetConn(b)
		}, ""},
		"closes before replies were borne": {func(f *forwardtest.Forwarder, _, b net.Conn) {
			f.Connections = 0
			for range 11 {
				c, _ := f.Dial(context.Background())
				_, _ = io.WriteString(c, "a")
				_ = c.Close()
			}
			time.Sleep(later)
			say(b, "well")
			c, _ := f.Dial(context.Background())
			_, _ = io.WriteString(c, "bad")
			_ = c.Close()
			f.End()
		}, ""},
		"nothing has ended": {func(f *forwardtest.Forwarder, a, _ net.Conn) { f.Resets = false; resetConn(a) }, ""},
		"bytes without a reply": {func(f *forwardtest.Forwarder, a, b net.Conn) {
			f.Resets = false
			resetConn(a)
			time.Sleep(later)
			_, _ = io.WriteString(b, "bad")
			f.End()
		}, ""},
		"it served on behind the reset": {func(f *forwardtest.Forwarder, a, b net.Conn) {
			f.Resets = false
			resetConn(a)
			time.Sleep(later)
			say(b, "well")
			f.End()
		}, ""},
		"the second reset": {func(f *forwardtest.Forwarder, a, b net.Conn) {
			f.Resets, f.Connections = false, 0
			c, _ := f.Dial(context.Background())
			resetConn(a)
			time.Sleep(later)
			say(b, "well")
			f.Resets = true
			resetConn(c)
		}, ""},
		"long after the reset": {func(f *forwardtest.Forwarder, a, _ net.Conn) {
			f.Resets = false
			resetConn(a)
			time.Sleep(time.Minute)
			f.End()
		}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				at := memnet.NewPlace()
				l := at.MustListen()
				defer l.Close()
				go echo(l)
				f := &forwardtest.Forwarder{Server: at.Dial, Resets: true, HalfCloses: true, Connections: 3}
				a, _ := f.Dial(t.Context())
				b, _ := f.Dial(t.Context())
				defer b.Close()
				say(a, "a")
				say(b, "b")
				time.Sleep(later)
				test.do(f, a, b)
				synctest.Wait()
				if f.HasEnded() {
					_, _ = b.Read(make([]byte, 1))
				}
				if got := f.Forwarded().LossReason(t.Context()); test.want == "" {
					assert.Empty(t, got)
				} else {
					assert.Contains(t, got, reason)
					assert.Contains(t, got, test.want)
				}
			})
		})
	}
}

func echo(l net.Listener) {
	for {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer nc.Close()
			for b := make([]byte, 16); ; {
				n, err := nc.Read(b)
				if _, _ = nc.Write(b[:n]); err != nil || string(b[:n]) == bye {
					return
				}
			}
		}()
	}
}

// TestAnotherPortServes: one of two ports that stops is not the end of a forwarder.
func TestAnotherPortServes(t *testing.T) {
	t.Parallel()
	var r forward.Record
	isDown := false
	first := func(context.Context) (net.Conn, error) {
		if isDown {
			return nil, syscall.ECONNREFUSED
		}
		nc, _ := net.Pipe()
		return nc, nil
	}
	second := func(context.Context) (net.Conn, error) { nc, _ := net.Pipe(); return nc, nil }
	_, _ = r.Open(t.Context(), "first", first)
	_, _ = r.Open(t.Context(), "second", second)
	isDown = true
	_, _ = r.Open(t.Context(), "first", first)
	assert.Empty(t, r.LossReason(t.Context()))
}

// TestSettled: a client that does one thing after the other waits for what comes of the last one, so that the end of a
// server behind bytes is not behind what follows; and no more once a forwarder has borne what clients do.
func TestSettled(t *testing.T) {
	t.Parallel()
	const isOpening, isDeed = true, true
	synctest.Test(t, func(t *testing.T) {
		at := memnet.NewPlace()
		l := at.MustListen()
		defer l.Close()
		go echo(l)
		f := &forwardtest.Forwarder{Server: at.Dial}
		r := f.Forwarded()
		took := func(isOpening, isDeed bool) time.Duration {
			begun := time.Now()
			r.Settle(t.Context(), isOpening, isDeed)
			return time.Since(begun).Round(100 * time.Millisecond)
		}
		dial := func() net.Conn { nc, _ := f.Dial(t.Context()); say(nc, "a"); return nc }
		a, b := dial(), dial()
		time.Sleep(time.Second)
		assert.Zero(t, took(isOpening, !isDeed)+took(!isOpening, isDeed)+took(!isOpening, !isDeed), "all is answered")
		for _, do := range []func(net.Conn){halve, resetConn} {
			c := dial()
			do(c)
			assert.Equal(t, 500*time.Millisecond, took(!isOpening, !isDeed), "bytes behind a deed")
			say(b, "well")
			assert.Zero(t, took(!isOpening, !isDeed), "it was borne")
			_ = c.Close()
		}
		_, _ = io.WriteString(a, "bad")
		assert.Zero(t, took(!isOpening, isDeed), "no forwarder ends at that")
		f.End()
		awaitClose(a)
		awaitClose(b)
		begun := time.Now()
		assert.Zero(t, took(isOpening, !isDeed), "all has ended")
		assert.Equal(t, begun, time.Now())
	})
	(*forward.Record)(nil).Settle(t.Context(), isOpening, isDeed)
}
