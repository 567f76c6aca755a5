package engine_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/engine"
)

// echo sends back what comes.
func echo(_ time.Duration, ev engine.Event) (string, engine.Next) {
	return string(ev.In), engine.Next{}
}

func TestLife(t *testing.T) {
	t.Parallel()
	runHarness(t, func(t *testing.T, w *harness) {
		s := &probe{do: echo}
		p := w.open(s)
		time.Sleep(time.Second)
		write(t, p, "hello")
		assert.Equal(t, "hello", read(t, p, 5))
		p.Close()
		synctest.Wait()
		assert.Equal(t, []string{"0s opened", "1s data hello", "1s ended"}, s.log)
	})
}

// TestEndings holds every way in which the peer goes against what a session is told,
// whether it has just been opened, has sent something, or is being kept from sending.
func TestEndings(t *testing.T) {
	t.Parallel()
	leaves := map[string]struct {
		leave func(p peer)
		err   error
	}{
		"close":      {leave: func(p peer) { p.Close() }},
		"half-close": {leave: func(p peer) { _ = p.CloseWrite() }},
		"reset":      {leave: reset, err: syscall.ECONNRESET},
	}
	states := map[string]int{"opened": 0, "sent": 100, "stuck": 1 << 20}
	for way, test := range leaves {
		for state, size := range states {
			t.Run(way+", "+state, func(t *testing.T) {
				t.Parallel()
				runHarnessWith(t, engine.Config{Linger: time.Second}, func(t *testing.T, w *harness) {
					var errs []error
					s := &probe{do: func(_ time.Duration, ev engine.Event) (string, engine.Next) {
						if ev.Kind == engine.Ended {
							errs = append(errs, ev.Err)
							return "last words", engine.Next{}
						}
						return strings.Repeat("x", size), engine.Next{}
					}}
					p := w.open(s)
					if state == "sent" {
						read(t, p, size) // or a close would become a reset
					}
					test.leave(p)
					synctest.Wait()
					require.Len(t, errs, 1)
					if state != "stuck" || way == "half-close" { // else a failed write may be first
						require.ErrorIs(t, errs[0], test.err)
					}
					if way == "half-close" {
						rest, err := io.ReadAll(p)
						require.NoError(t, err)
						assert.True(t, strings.HasSuffix(string(rest), "last words"))
					}
					w.poke(s)
					assert.Equal(t, "0s woken", s.log[len(s.log)-1], "it lives on")
				})
			})
		}
	}
}

func TestDataBeforeEnd(t *testing.T) {
	t.Parallel()
	runHarness(t, func(t *testing.T, w *harness) {
		s := &probe{}
		w.do(func() { w.loop.Open(s) })
		p := w.accept()
		write(t, p, "bye")
		p.Close()
		synctest.Wait()
		assert.Equal(t, []string{"0s opened", "0s data bye", "0s ended"}, s.log)
	})
}

// brokenConn cannot be written, and says nothing of it to whoever reads.
type brokenConn struct{ net.Conn }

func (brokenConn) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestFailedWrite(t *testing.T) {
	local, remote := net.Pipe()
	dial := func(context.Context) (net.Conn, error) { return brokenConn{local}, nil }
	t.Cleanup(func() { remote.Close() })
	t.Parallel()
	e := engine.NewPortable(engine.Config{Dial: dial, CoarseTimers: true})
	errs := make(chan error, 10)
	s := &probe{do: func(_ time.Duration, ev engine.Event) (string, engine.Next) {
		if ev.Kind == engine.Ended {
			errs <- ev.Err
		}
		return "hello", engine.Next{}
	}}
	e.Do(0, func(time.Duration) { e.Loops()[0].Open(s) })
	require.ErrorIs(t, <-errs, syscall.EPIPE)
	_, err := remote.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "the connection was closed")
	require.NoError(t, e.Close())
	assert.Empty(t, errs, "it is told once")
}

func TestDialFails(t *testing.T) {
	t.Parallel()
	runHarness(t, func(t *testing.T, w *harness) {
		w.listener.Close()
		var dialErr error
		s := &probe{do: func(_ time.Duration, ev engine.Event) (string, engine.Next) {
			dialErr = ev.Err
			return "to nobody", engine.Next{}
		}}
		for range 2 {
			time.Sleep(time.Second)
			w.do(func() { w.loop.Open(s) })
			synctest.Wait()
			require.ErrorIs(t, dialErr, syscall.ECONNREFUSED)
		}
		assert.Len(t, s.log, 2)
		w.do(func() { assert.Equal(t, 2*time.Second, s.DialedAt()) })
	})
}

// slowDial takes a second. No loop owns the connection.
func slowDial(ctx context.Context) (net.Conn, error) {
	select {
	case <-time.After(time.Second):
		local, _ := net.Pipe()
		return local, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestStepsWhileDialling(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		next engine.Next
		want []string
	}{
		"waits": {want: []string{"500ms woken", "1s failed: no luck"}},
		"closes": {next: engine.Next{Close: true},
			want: []string{"500ms woken"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cancels := 0
			dial := func(ctx context.Context) (net.Conn, error) {
				if _, err := slowDial(ctx); err != nil {
					cancels++
					return nil, err
				}
				return nil, errors.New("no luck")
			}
			runHarnessWith(t, engine.Config{Dial: dial}, func(t *testing.T, w *harness) {
				s := &probe{do: func(time.Duration, engine.Event) (string, engine.Next) { return "dropped", test.next }}
				w.do(func() { w.loop.Open(s) })
				time.Sleep(500 * time.Millisecond)
				w.poke(s)
				assert.Equal(t, test.next.Close, cancels == 1, "the dial is given up")
				time.Sleep(time.Second)
				w.poke(s)
				if test.next.Close {
					assert.Equal(t, test.want, s.log)
				} else {
					assert.Equal(t, test.want, s.log[:2])
				}
			})
		})
	}
}

func TestOpenedAgain(t *testing.T) {
	t.Parallel()
	runHarness(t, func(t *testing.T, w *harness) {
		s := &probe{}
		s.do = func(_ time.Duration, ev engine.Event) (string, engine.Next) {
			switch ev.Kind {
			case engine.Ended:
				w.loop.Open(s)
				return "to the old one", engine.Next{}
			case engine.Opened:
				return "hello", engine.Next{}
			}
			return "", engine.Next{Close: true}
		}
		first := w.open(s)
		require.NoError(t, first.CloseWrite())
		second := w.accept()
		all, err := io.ReadAll(first)
		require.NoError(t, err)
		assert.Equal(t, "helloto the old one", string(all))
		write(t, second, "x")
		all, err = io.ReadAll(second)
		require.NoError(t, err)
		assert.Equal(t, "hello", string(all))
		w.poke(s)
		assert.Equal(t, []string{"0s opened", "0s ended", "0s opened", "0s data x"}, s.log)
		third := w.open(s)
		assert.Equal(t, "hello", read(t, third, 5))
	})
}

func TestOpenTwice(t *testing.T) {
	t.Parallel()
	runHarness(t, func(t *testing.T, w *harness) {
		s := &probe{}
		w.open(s)
		w.do(func() { assert.Panics(t, func() { w.loop.Open(s) }) })
	})
}
