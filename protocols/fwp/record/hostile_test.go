package record

import (
	"context"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/proof/golden"
)

// What waits to be judged is bounded also where it comes byte by byte.
func TestQueueOfSingleBytesIsBounded(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	q := newQueue(limit)
	for range limit {
		q.put(item{conn: 1, kind: clientData, data: []byte("A")})
	}
	items, _, _ := q.take()
	assert.LessOrEqual(t, len(items)*itemSize, limit+itemSize)
	assert.Equal(t, dataLoss, items[len(items)-1].kind)
}

// A script counts what its names stand for, and the jobs that were there before.
func TestScriptOfLongNamesIsCut(t *testing.T) {
	t.Parallel()
	s := newScript(time.Now(), 1<<20, "")
	s.openConn(1)
	for n := 0; s.cutReason == ""; n++ {
		require.Less(t, n, 100)
		s.send(s.conns[1], s.names.nameOf(famJID, strings.Repeat("x", 100_000)+strings.Repeat("y", n)))
	}
	s = newScript(time.Now(), 1<<20, "")
	s.openConn(1)
	for n := 0; s.cutReason == ""; n++ {
		require.Less(t, n, 100)
		s.expectJob([]byte(`{"jid":"j` + strings.Repeat("y", n) + `","jobtype":"t","args":["` + strings.Repeat("x", 100_000) +
			`"]}`))
	}
	assert.Less(t, len(s.setup), 40)
}

func TestOneConnectionTooManyIsClosed(t *testing.T) {
	t.Parallel()
	failed := make(chan error, 1)
	r := record(t, fakes.Config{}, Config{MaxOpen: 1, OnError: func(err error) { failed <- err }})
	first := r.dial()
	_, err := first.r.Read()
	require.NoError(t, err)
	second, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.addr)
	if err == nil { // there are kernels that report the close to the dial
		_, err = second.Read(make([]byte, 1))
		require.NoError(t, second.Close())
	}
	require.Error(t, err)
	require.ErrorContains(t, <-failed, "more than 1 connections")
	require.NoError(t, first.nc.Close())
	for r.proxy.OpenCount() > 0 { // until its end is counted
		runtime.Gosched()
	}
	third := r.dial()
	_, err = third.r.Read()
	require.NoError(t, err)
}

// hostile servers and clients pass forty megabytes each, without FWP_SLOW=1 twelve, on several connections: neither
// panics the recorder, keeps it from ending, or makes it keep more than its limits.
func TestHostileParties(t *testing.T) {
	t.Parallel()
	endless := func(first, next string) func(net.Conn) {
		return func(nc net.Conn) {
			go func() { _, _ = io.Copy(io.Discard, nc) }()
			text := first
			for range golden.Sample(12, 40) {
				if _, err := io.WriteString(nc, text); err != nil {
					break
				}
				text = next
			}
			_ = nc.Close()
		}
	}
	big, count := strings.Repeat("A", 1<<20), golden.Sample(1<<14, 1<<17) // many short ones take most of the time
	drain := func(nc net.Conn) { _, _ = io.Copy(io.Discard, nc); _ = nc.Close() }
	for name, test := range map[string]struct{ server, client func(net.Conn) }{
		"an endless greeting":    {endless("+HI ", big), drain},
		"an endless bulk":        {endless("+HI {\"v\":2}\r\n$2147483648\r\n", big), drain},
		"an array of a billion":  {endless("+HI {\"v\":2}\r\n*1000000000\r\n", strings.Repeat(":1\r\n", 2*count)), drain},
		"replies without an end": {endless("+HI {\"v\":2}\r\n", strings.Repeat("+OK\r\n", count)), drain},
		"an endless line":        {drain, endless("PUSH ", big)},
		"lines without an end":   {drain, endless("", strings.Repeat("INFO\r\n", count))},
		"both":                   {endless("-", big), endless("PUSH ", big)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
			require.NoError(t, err)
			upstream, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer upstream.Close()
			go func() {
				for nc, err := upstream.Accept(); err == nil; nc, err = upstream.Accept() {
					go test.server(nc)
				}
			}()
			r := New(Config{KeepsScript: true, MaxQueue: 8 << 20, Dial: func(ctx context.Context) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", upstream.Addr().String())
			}})
			ctx, cancel := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- r.Serve(ctx, l) }()
			nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
			require.NoError(t, err)
			test.client(nc)
			cancel()
			require.NoError(t, <-served)
			r.Close()
			s := r.Summary()
			assert.LessOrEqual(t, s.Lines, maxLines)
			assert.NotPanics(t, func() {
				script, err := r.Script()
				assert.NotEmpty(t, script)
				assert.NotErrorIs(t, err, io.EOF)
			})
		})
	}
}
