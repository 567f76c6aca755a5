package situations

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// newAheadConn returns a connection of a server that is read ahead, its client, and a function that returns how many
// bytes of the client were recorded in whole lines.
func newAheadConn() (c *recordedConn, client net.Conn, bytes func() int) {
	client, server := net.Pipe()
	r, n := newRecording(clientrules.Config{}, new(memory), nil), 0
	r.builder = clientrules.NewBuilder(func(e clientrules.Event) { n += len(e.Raw) })
	r.builder.Open(0, 1, 1)
	feed, ahead := memnet.Pipe(maxAhead)
	c = &recordedConn{
		Conn: server, aheadConn: ahead, rawConn: server, recording: r, listener: new(recordedListener), number: 1, done: make(chan struct{}),
	}
	go c.readAhead(feed)
	return c, client, func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return n
	}
}

const longLine = "INFO and what a client may not send behind it, up to a length of 100 bytes with the end of the line.\r\n"

// TestBytesAreReadAhead: what a client sends is recorded at once, up to a limit, and is there for the server later.
func TestBytesAreReadAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = maxAhead
		c, client, bytes := newAheadConn()
		sent := strings.Repeat(longLine, 3*limit/len(longLine))
		go func() {
			_, _ = io.WriteString(client, sent)
			_ = client.Close()
		}()
		synctest.Wait()
		assert.Greater(t, bytes(), limit)
		assert.LessOrEqual(t, bytes(), limit+32<<10)
		got, err := io.ReadAll(c)
		require.NoError(t, err)
		assert.Equal(t, sent, string(got))
		assert.Len(t, sent, bytes())
	})
}

// TestLongLinesAreReadToTheirEnds: lines that end are read on, however many there are, and count no more.
func TestLongLinesAreReadToTheirEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const long = clientrules.MaxMessage + maxEndless/4
		c, client, _ := newAheadConn()
		go func() {
			line := strings.Repeat("A", long-1) + "\n"
			for range 6 {
				_, _ = io.WriteString(client, line)
			}
			_ = client.Close()
		}()
		n, err := io.Copy(io.Discard, c)
		require.NoError(t, err)
		assert.Equal(t, int64(6*long), n)
		assert.Zero(t, c.recording.memory.endlessBytes.Load())
	})
}

// TestAClosedConnectionIsReadOn: when the server reads no more, its client is not kept waiting.
func TestAClosedConnectionIsReadOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, client, _ := newAheadConn()
		go func() { _, _ = io.WriteString(client, strings.Repeat(longLine, 10_000)) }()
		synctest.Wait()
		require.NoError(t, c.SetReadDeadline(time.Now()))
		_, err := c.Read(make([]byte, 1))
		var netErr net.Error
		require.ErrorAs(t, err, &netErr)
		assert.True(t, netErr.Timeout(), "the deadline comes before the bytes")
		require.NoError(t, c.Close())
		synctest.Wait()
		require.NoError(t, client.Close())
	})
}

// TestReportsAfterTheClose: what a client sends when the server has closed its side is recorded until the client closes
// its own, or the recording is over.
func TestReportsAfterTheClose(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(net.Conn, *recording){
		"the client closes":     func(client net.Conn, _ *recording) { _ = client.Close() },
		"the recording is over": func(_ net.Conn, r *recording) { r.release() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRecording(clientrules.Config{}, new(memory), nil)
				place := memnet.NewPlace()
				ln := &recordedListener{
					inner: place.MustListen(), conns: map[*recordedConn]bool{}, done: make(chan struct{}), recording: r,
					process: func() int { return 1 }, notice: func(err error) error { return err },
				}
				client := place.MustDial()
				server, err := ln.Accept()
				require.NoError(t, err)
				go func() { _, _ = server.Write(make([]byte, 1<<20)) }() // more than the client takes
				synctest.Wait()
				require.NoError(t, server.Close())
				_, err = io.WriteString(client, "ACK {\"jid\":\"j1\"}\r\n")
				require.NoError(t, err)
				synctest.Wait()
				end(client, r)
				synctest.Wait()
				var got []string
				for _, e := range r.all(func(*clientrules.Event) bool { return true }) {
					got = append(got, e.Kind.String())
				}
				assert.Equal(t, []string{"opened", "broken reply", "closed", "line after the close"}, got)
				assert.Empty(t, r.shutConns)
				_ = client.Close()
				_ = ln.Close()
			})
		})
	}
}

// outcomeOfRead says how a read ends within three seconds.
func outcomeOfRead(c net.Conn) string {
	_ = c.SetReadDeadline(time.Now().Add(3 * time.Second))
	_, err := c.Read(make([]byte, 1))
	switch {
	case err == nil:
		return "greeted"
	case errors.Is(err, io.EOF):
		return "closed"
	case errors.Is(err, syscall.ECONNRESET):
		return "reset"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "silent"
	}
	return err.Error()
}

// outcomeOfDial says how a connection that is opened fares within three seconds.
func outcomeOfDial(t *testing.T, h *Harness, addr string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	c, err := h.dial(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case err != nil:
		return "unanswered"
	}
	defer c.Close()
	return outcomeOfRead(c)
}

// greeter accepts connections of a harness, and writes a byte on each of them.
func greeter(t *testing.T, h *Harness) *recordedListener {
	t.Helper()
	inner, err := h.listen("", false)
	require.NoError(t, err)
	r := newRecording(clientrules.Config{}, new(memory), nil)
	tr := &trial{recording: r, harness: h, situation: &situation{}, ctx: t.Context()}
	l := tr.newListener(inner, new(server))
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = c.Write([]byte("+")) }()
		}
	}()
	return l
}

// TestKindsOfOutages: what becomes of a connection that is there, of one that is opened meanwhile, of the first one
// when it is over, and of one that is opened then.
func TestKindsOfOutages(t *testing.T) {
	t.Parallel()
	want := map[string][4]string{
		"refused":    {"closed", "refused", "closed", "greeted"},
		"closed":     {"reset", "closed", "reset", "greeted"},
		"silent":     {"closed", "silent", "closed", "greeted"},
		"stalled":    {"silent", "silent", "silent", "greeted"},
		"reset":      {"reset", "reset", "reset", "greeted"},
		"unanswered": {"silent", "unanswered", "reset", "greeted"},
		"unresolved": {"closed", "greeted", "closed", "greeted"},
		"slow":       {"closed", "silent", "closed", "greeted"},
	}
	for _, k := range outageKinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				network := memnet.New()
				l := greeter(t, &Harness{
					Listen: func(bool) (net.Listener, error) { return network.Listen("s:1") }, ListenAgain: network.Listen,
					Dial: network.DialContext,
				})
				defer func() { _ = l.Close() }()
				h := &Harness{Dial: network.DialContext}
				conn, err := h.dial(t.Context(), "tcp", "s:1")
				require.NoError(t, err)
				defer conn.Close()
				require.Equal(t, "greeted", outcomeOfRead(conn))
				d, err := l.disrupt(k.connFate, k.newConnFate, 0)
				require.NoError(t, err)
				got := [4]string{outcomeOfRead(conn), outcomeOfDial(t, h, "s:1")}
				require.NoError(t, l.restore(d))
				got[2], got[3] = outcomeOfRead(conn), outcomeOfDial(t, h, "s:1")
				assert.Equal(t, want[k.name], got)
			})
		})
	}
}

// TestAnOutageOfOneConnection leaves the others alone.
func TestAnOutageOfOneConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New()
		h := &Harness{
			Listen: func(bool) (net.Listener, error) { return network.Listen("s:1") }, ListenAgain: network.Listen,
			Dial: network.DialContext,
		}
		l := greeter(t, h)
		defer func() { _ = l.Close() }()
		var all []net.Conn
		for range 2 {
			c, err := h.dial(t.Context(), "tcp", "s:1")
			require.NoError(t, err)
			defer c.Close()
			require.Equal(t, "greeted", outcomeOfRead(c))
			all = append(all, c)
		}
		d, err := l.disrupt(fateReset, fateRefusal, 2)
		require.NoError(t, err)
		assert.Equal(t, []string{"silent", "reset"}, []string{outcomeOfRead(all[0]), outcomeOfRead(all[1])})
		require.NoError(t, l.restore(d))
	})
}

// TestOutagesOfSockets: on the network of the machine, too, a connect is refused, or gets no answer where the system
// has backlogs that can be filled; and afterwards it is answered.
func TestOutagesOfSockets(t *testing.T) {
	t.Parallel()
	for opened, want := range map[fate]string{fateRefusal: "refused", fateNoAnswer: "unanswered"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			h := new(Harness)
			l := greeter(t, h)
			t.Cleanup(func() { _ = l.Close() })
			addr := l.Addr().String()
			d, err := l.disrupt(fateNone, opened, 0)
			if err != nil && opened == fateNoAnswer {
				t.Skip(err)
			}
			require.NoError(t, err)
			assert.Equal(t, want, outcomeOfDial(t, h, addr))
			require.NoError(t, l.restore(d))
			assert.Eventually(t, func() bool { return outcomeOfDial(t, h, addr) == "greeted" }, time.Minute, time.Millisecond)
		})
	}
}
