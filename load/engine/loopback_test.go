package engine_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/engine"
	"github.com/fwpsuite/fwp/load/measure"
)

// serve accepts connections on a real loopback address and gives each one to handle, in
// a goroutine of its own. It returns the configuration of an engine that connects to it.
func serve(tb testing.TB, handle func(conn *net.TCPConn)) engine.Config {
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
	return configFor(netip.MustParseAddrPort(listener.Addr().String()))
}

// configFor is the configuration of an engine, whichever it is, that connects to address.
func configFor(address netip.AddrPort) engine.Config {
	return engine.Config{
		Resolve: func(context.Context) ([]netip.AddrPort, error) { return []netip.AddrPort{address}, nil },
		Dial: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address.String())
		},
	}
}

// builders are the engines that there are on this system.
func builders(tb testing.TB) map[string]func(engine.Config) engine.Engine {
	tb.Helper()
	all := map[string]func(engine.Config) engine.Engine{"portable": engine.NewPortable}
	if e, err := engine.NewEpoll(engine.Config{}); !errors.Is(err, errors.ErrUnsupported) {
		require.NoError(tb, err)
		require.NoError(tb, e.Close())
		all["epoll"] = func(config engine.Config) engine.Engine {
			e, err := engine.NewEpoll(config)
			require.NoError(tb, err)
			return e
		}
	}
	return all
}

// forEachEngine runs a test with every engine.
func forEachEngine(t *testing.T, test func(t *testing.T, build func(engine.Config) engine.Engine)) {
	t.Helper()
	for name, build := range builders(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, build)
		})
	}
}

func echoBytes(conn *net.TCPConn) { _, _ = io.Copy(conn, conn) }

// wrappedConn hides that a connection is a plain socket, as TLS would.
type wrappedConn struct{ net.Conn }

// sizes are those of the messages that a shouter sends: such as fit anywhere, such as
// are read in pieces, and one that has to be written aside.
var sizes = [...]int{1, 511, 512, 513, 10_000, 1, 100_000, 2_000_000, 3}

// shouter sends messages to an echo, each when the one before has come back.
type shouter struct {
	engine.Link
	turn, got int
	isWrong   bool
	done      func()
}

func (s *shouter) Step(_ time.Duration, ev engine.Event, out []byte) ([]byte, engine.Next) {
	switch ev.Kind {
	case engine.Failed, engine.Ended:
		s.isWrong = true
		s.done()
		return out, engine.Next{}
	case engine.Data:
		if s.got += len(ev.In); bytes.Count(ev.In, []byte{byte(s.turn)}) != len(ev.In) {
			s.isWrong = true
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
	config := serve(t, echoBytes)
	config.Loops = 2
	wrappedConfig := config
	wrappedConfig.Dial = func(ctx context.Context) (net.Conn, error) {
		conn, err := config.Dial(ctx)
		return wrappedConn{conn}, err
	}
	t.Run("wrapped socket", func(t *testing.T) {
		t.Parallel()
		shout(t, engine.NewPortable(wrappedConfig))
	})
	forEachEngine(t, func(t *testing.T, build func(engine.Config) engine.Engine) {
		t.Helper()
		shout(t, build(config))
	})
}

// shout has many shouters on the two loops of an engine, and closes it.
func shout(t *testing.T, e engine.Engine) {
	t.Helper()
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
		assert.False(t, all[i].isWrong)
		assert.Equal(t, len(sizes), all[i].turn)
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
			forEachEngine(t, func(t *testing.T, build func(engine.Config) engine.Engine) {
				t.Helper()
				texts := make(chan string, 1)
				config := serve(t, func(conn *net.TCPConn) {
					_, err := io.ReadFull(conn, make([]byte, 1)) // lest the dial fail already
					assert.NoError(t, err)
					test.leave(conn)
					all, _ := io.ReadAll(conn)
					texts <- string(all)
				})
				errs := make(chan error, 10)
				s := &probe{do: func(_ time.Duration, ev engine.Event) (string, engine.Next) {
					if ev.Kind != engine.Ended {
						return "x", engine.Next{}
					}
					errs <- ev.Err
					return "last words", engine.Next{}
				}}
				e := build(config)
				e.Do(0, func(time.Duration) { e.Loops()[0].Open(s) })
				require.ErrorIs(t, <-errs, test.err)
				if text := <-texts; name == "half-close" {
					assert.Equal(t, "last words", text)
				}
				require.NoError(t, e.Close())
				assert.Empty(t, errs)
			})
		})
	}
}

func TestLoopbackSlowPeer(t *testing.T) {
	t.Parallel()
	forEachEngine(t, func(t *testing.T, build func(engine.Config) engine.Engine) {
		t.Helper()
		const unreadByte = 'n' // the first byte on the connection that is not read
		read, got := make(chan bool), make(chan int, 1)
		config := serve(t, func(conn *net.TCPConn) {
			first := make([]byte, 1)
			_, err := io.ReadFull(conn, first)
			assert.NoError(t, err)
			if first[0] != unreadByte {
				_, _ = conn.Write(first)
				echoBytes(conn)
				return
			}
			<-read
			all, err := io.ReadAll(conn)
			assert.NoError(t, err)
			got <- len(all) + 1
		})
		config.Linger = time.Hour // whatever the machine does meanwhile
		e := build(config)
		sent := make(chan bool, 1)
		slow := &probe{do: func(time.Duration, engine.Event) (string, engine.Next) {
			sent <- true
			return strings.Repeat(string(unreadByte), 4*large), engine.Next{Close: true}
		}}
		e.Do(0, func(time.Duration) { e.Loops()[0].Open(slow) })
		<-sent

		var done sync.WaitGroup
		done.Add(1)
		other := &shouter{done: done.Done}
		e.Do(0, func(time.Duration) { e.Loops()[0].Open(other) })
		done.Wait()
		close(read)
		assert.Equal(t, 4*large, <-got)
		require.NoError(t, e.Close())
		assert.False(t, other.isWrong)
	})
}

// TestSleepers holds each way of sleeping to the one thing that does not depend on how
// busy the machine is: no sleeper is woken too early, and each is woken.
func TestSleepers(t *testing.T) {
	t.Parallel()
	ways := builders(t)
	ways["coarse"] = func(config engine.Config) engine.Engine {
		config.CoarseTimers = true
		return engine.NewPortable(config)
	}
	for name, build := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := build(engine.Config{})
			const wakes = 100
			done := make(chan bool)
			var early, dueTime time.Duration
			turn := 0
			s := &probe{do: func(now time.Duration, _ engine.Event) (string, engine.Next) {
				early = max(early, dueTime-now)
				if turn++; turn > wakes {
					close(done)
					return "", engine.Next{Close: true}
				}
				dueTime = now + time.Duration(turn%7)*50*time.Microsecond
				return "", engine.Next{Wake: dueTime}
			}}
			hourProbe := &probe{do: func(now time.Duration, _ engine.Event) (string, engine.Next) {
				return "", engine.Next{Wake: now + time.Hour} // which the others must not wait for
			}}
			e.Do(0, func(time.Duration) { e.Loops()[0].Poke(hourProbe) })
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
	forEachEngine(t, func(t *testing.T, build func(engine.Config) engine.Engine) {
		t.Helper()
		config := serve(t, echoBytes)
		config.Loops, config.SpreadSources = 2, true
		churn(t, build(config))
	})
}

func churn(t *testing.T, e engine.Engine) {
	t.Helper()
	var done sync.WaitGroup
	for i := range 8 {
		loop := e.Loops()[i%2]
		turns := 0
		s := &probe{}
		opener := &probe{do: func(now time.Duration, ev engine.Event) (string, engine.Next) {
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
			loop.Poke(opener)
			return "bye", engine.Next{Close: true}
		}
		done.Add(1)
		e.Do(i%2, func(time.Duration) { loop.Poke(opener) })
	}
	done.Wait()
	require.NoError(t, e.Close())
}

// The garbage collector stops all threads, and other goroutines need a processor: a wait that ended for neither would hang.
func TestAKeptProcessor(t *testing.T) { //nolint:paralleltest // the number of processors is that of the process
	build, ok := builders(t)["epoll"]
	if !ok {
		t.Skip("this system has no epoll")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	config := serve(t, func(conn *net.TCPConn) {
		for command := make([]byte, len("PING\r\n")); ; {
			if _, err := io.ReadFull(conn, command); err != nil {
				return
			}
			_, _ = io.WriteString(conn, pong)
		}
	})
	config.KeepProcessors = true
	e := build(config)
	crew := &pingers{onLoss: func(err error) { t.Error(err) }}
	all := crew.open(e, 4)
	for range 10 {
		runtime.GC() // while the loop waits
		crew.run(e, all, 40, 0)
	}
	assert.EqualValues(t, 400, crew.times(e).Count(measure.SeriesOf(ping, measure.Response)))
	require.NoError(t, e.Close())
}
