package engine_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/engine"
)

// serve accepts connections on a real loopback address and gives each one to handle, in
// a goroutine of its own. It returns a dialer.
func serve(tb testing.TB, handle func(conn *net.TCPConn)) func(ctx context.Context) (net.Conn, error) {
	tb.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(tb.Context(), "tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				handle(conn.(*net.TCPConn))
			})
		}
	})
	tb.Cleanup(func() {
		listener.Close()
		wg.Wait()
	})
	return func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
	}
}

func echoBytes(conn *net.TCPConn) { _, _ = io.Copy(conn, conn) }

// wrapped hides that a connection is a plain socket, as TLS would.
type wrapped struct{ net.Conn }

// sizes are those of the messages that a shouter sends: such as fit anywhere, such as
// are read in pieces, and one that has to be written aside.
var sizes = [...]int{1, 511, 512, 513, 10_000, 1, 100_000, 2_000_000, 3}

// shouter sends messages to an echo, each when the one before has come back.
type shouter struct {
	engine.Link
	turn, got int
	wrong     bool
	done      func()
}

func (s *shouter) Step(_ time.Duration, ev engine.Event, out []byte) ([]byte, engine.Next) {
	switch ev.Kind {
	case engine.Failed, engine.Ended:
		s.wrong = true
		s.done()
		return out, engine.Next{}
	case engine.Data:
		if s.got += len(ev.In); bytes.Count(ev.In, []byte{byte(s.turn)}) != len(ev.In) {
			s.wrong = true
		}
		if s.got < sizes[s.turn] {
			return out, engine.Next{}
		}
		s.got = 0
		if s.turn++; s.turn == len(sizes) {
			s.done()
			return out, engine.Next{Close: true}
		}
	}
	for range sizes[s.turn] {
		out = append(out, byte(s.turn))
	}
	return out, engine.Next{}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	dial := serve(t, echoBytes)
	dials := map[string]func(ctx context.Context) (net.Conn, error){
		"socket": dial,
		"wrapped socket": func(ctx context.Context) (net.Conn, error) {
			conn, err := dial(ctx)
			return wrapped{conn}, err
		},
	}
	for name, dial := range dials {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := engine.NewPortable(engine.Config{Loops: 2, Dial: dial})
			var done sync.WaitGroup
			all := make([]shouter, 20)
			for i := range all {
				done.Add(1)
				all[i].done = done.Done
				e.Do(i%2, func(time.Duration) { e.Loops()[i%2].Open(&all[i]) })
			}
			done.Wait()
			assert.Positive(t, e.Busy(0))
			require.NoError(t, e.Close())
			for i := range all {
				assert.False(t, all[i].wrong)
				assert.Equal(t, len(sizes), all[i].turn)
			}
		})
	}
}

func TestLoopbackEndings(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		leave func(conn *net.TCPConn)
		err   error
	}{
		"close":      {leave: func(conn *net.TCPConn) { _ = conn.Close() }},
		"half-close": {leave: func(conn *net.TCPConn) { _ = conn.CloseWrite() }},
		"reset":      {leave: func(conn *net.TCPConn) { reset(conn) }, err: syscall.ECONNRESET},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			heard := make(chan string, 1)
			dial := serve(t, func(conn *net.TCPConn) {
				_, err := io.ReadFull(conn, make([]byte, 1)) // lest the dial fail already
				assert.NoError(t, err)
				test.leave(conn)
				all, _ := io.ReadAll(conn)
				heard <- string(all)
			})
			ended := make(chan error, 10)
			s := &probe{do: func(_ time.Duration, ev engine.Event) (string, engine.Next) {
				if ev.Kind != engine.Ended {
					return "x", engine.Next{}
				}
				ended <- ev.Err
				return "last words", engine.Next{}
			}}
			e := engine.NewPortable(engine.Config{Dial: dial})
			e.Do(0, func(time.Duration) { e.Loops()[0].Open(s) })
			require.ErrorIs(t, <-ended, test.err)
			if text := <-heard; name == "half-close" {
				assert.Equal(t, "last words", text)
			}
			require.NoError(t, e.Close())
			assert.Empty(t, ended)
		})
	}
}

func TestLoopbackSlowPeer(t *testing.T) {
	t.Parallel()
	read, got := make(chan bool), make(chan int, 1)
	slowDial := serve(t, func(conn *net.TCPConn) {
		<-read
		all, err := io.ReadAll(conn)
		assert.NoError(t, err)
		got <- len(all)
	})
	echoDial := serve(t, echoBytes)
	dials := make(chan func(ctx context.Context) (net.Conn, error), 2)
	e := engine.NewPortable(engine.Config{Dial: func(ctx context.Context) (net.Conn, error) { return (<-dials)(ctx) }})

	sent := make(chan bool, 1)
	slow := &probe{do: func(_ time.Duration, ev engine.Event) (string, engine.Next) {
		sent <- true
		return string(make([]byte, 4*large)), engine.Next{Close: true}
	}}
	dials <- slowDial
	e.Do(0, func(time.Duration) { e.Loops()[0].Open(slow) })
	<-sent

	var done sync.WaitGroup
	done.Add(1)
	other := &shouter{done: done.Done}
	dials <- echoDial
	e.Do(0, func(time.Duration) { e.Loops()[0].Open(other) })
	done.Wait()
	close(read)
	assert.Equal(t, 4*large, <-got)
	require.NoError(t, e.Close())
	assert.False(t, other.wrong)
}

// TestSleepers holds each way of sleeping to the one thing that does not depend on how
// busy the machine is: nobody is woken too early, and everybody is woken.
func TestSleepers(t *testing.T) {
	t.Parallel()
	for name, coarse := range map[string]bool{"precise": false, "coarse": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := engine.NewPortable(engine.Config{Coarse: coarse})
			const wakes = 100
			done := make(chan bool)
			var early, due time.Duration
			turn := 0
			s := &probe{do: func(now time.Duration, _ engine.Event) (string, engine.Next) {
				early = max(early, due-now)
				if turn++; turn > wakes {
					close(done)
					return "", engine.Next{Close: true}
				}
				due = now + time.Duration(turn%7)*50*time.Microsecond
				return "", engine.Next{Wake: due}
			}}
			far := &probe{do: func(now time.Duration, _ engine.Event) (string, engine.Next) {
				return "", engine.Next{Wake: now + time.Hour} // which the others must not wait for
			}}
			e.Do(0, func(time.Duration) { e.Loops()[0].Poke(far) })
			e.Do(0, func(time.Duration) { e.Loops()[0].Poke(s) })
			<-done
			require.NoError(t, e.Close())
			assert.Zero(t, early)
		})
	}
}

// TestLoopbackChurn opens and closes a few sessions over and over, each time at another
// moment: while the connection is being opened, when it is there, or after a reply.
func TestLoopbackChurn(t *testing.T) {
	t.Parallel()
	e := engine.NewPortable(engine.Config{Loops: 2, Dial: serve(t, echoBytes)})
	var done sync.WaitGroup
	for i := range 8 {
		loop := e.Loops()[i%2]
		turns := 0
		s := &probe{}
		again := &probe{do: func(now time.Duration, ev engine.Event) (string, engine.Next) {
			if turns++; turns > 50 {
				done.Done()
				return "", engine.Next{Close: true}
			}
			loop.Open(s)
			if turns%3 == 0 {
				loop.Poke(s)
			}
			return "", engine.Next{}
		}}
		s.do = func(_ time.Duration, ev engine.Event) (string, engine.Next) {
			if ev.Kind == engine.Opened && turns%3 == 1 {
				return "hello", engine.Next{}
			}
			loop.Poke(again)
			return "bye", engine.Next{Close: true}
		}
		done.Add(1)
		e.Do(i%2, func(time.Duration) { loop.Poke(again) })
	}
	done.Wait()
	require.NoError(t, e.Close())
}
