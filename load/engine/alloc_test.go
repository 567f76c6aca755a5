package engine_test

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/engine"
)

// answerPings answers each "PING\r\n" and takes no memory for it.
func answerPings(conn *net.TCPConn) {
	in, reply := make([]byte, len("PING\r\n")), []byte(pong)
	for {
		if _, err := io.ReadFull(conn, in); err != nil {
			return
		}
		if _, err := conn.Write(reply); err != nil {
			return
		}
	}
}

// limitedPinger is a pinger with a limit on the time of each reply.
type limitedPinger struct{ pinger }

func (s *limitedPinger) Step(now time.Duration, ev engine.Event, out []byte) ([]byte, engine.Next) {
	out, next := s.pinger.Step(now, ev, out)
	next.Wake = now + time.Minute
	return out, next
}

// startPings returns a function that sends n PINGs and awaits their replies.
func startPings(tb testing.TB, connections int, build func(engine.Config) engine.Engine) (run func(n int)) {
	tb.Helper()
	e := build(serve(tb, answerPings))
	tb.Cleanup(func() { require.NoError(tb, e.Close()) })
	crew := &pingers{onLoss: func(err error) { tb.Error(err) }}
	var all []engine.Session
	crew.openGroup.Add(connections)
	for range connections {
		s := &limitedPinger{pinger{crew: crew}}
		all = append(all, s)
		e.Do(0, func(time.Duration) { e.Loops()[0].Open(s) })
	}
	crew.openGroup.Wait()
	return func(n int) { crew.run(e, all, n, 0) }
}

// TestOperationAllocatesNothing counts what the whole process allocates.
func TestOperationAllocatesNothing(t *testing.T) { //nolint:paralleltest // so that it is alone
	const pings = 1000
	ways := builders(t)
	ways["wrapped socket"] = func(config engine.Config) engine.Engine {
		dial := config.Dial
		config.Dial = func(ctx context.Context) (net.Conn, error) {
			conn, err := dial(ctx)
			return wrappedConn{conn}, err
		}
		return engine.NewPortable(config)
	}
	//nolint:paralleltest // so that it is alone
	for name, build := range ways {
		t.Run(name, func(t *testing.T) {
			run := startPings(t, 4, build)
			run(pings)
			perRun := testing.AllocsPerRun(5, func() { run(pings) })
			assert.Less(t, perRun, pings/50.0, "a run may take a little, an operation may not")
		})
	}
}

// BenchmarkLoopback is one operation against a server in the same process; see
// BenchmarkPing for the generator alone.
func BenchmarkLoopback(b *testing.B) {
	for name, build := range builders(b) {
		b.Run(name, func(b *testing.B) {
			run := startPings(b, 50, build)
			run(1000)
			b.ReportAllocs()
			b.ResetTimer()
			run(b.N)
		})
	}
}
