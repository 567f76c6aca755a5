package fakes_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
)

// wire is a connection of a test: it writes bytes and reads replies as they are on the
// wire, a bulk string as its payload after a dollar sign.
type wire struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

func start(tb testing.TB, config fakes.Config) *fakes.Server {
	tb.Helper()
	s := fakes.NewServer(config)
	tb.Cleanup(s.Close)
	return s
}

func dial(tb testing.TB, s *fakes.Server) *wire {
	tb.Helper()
	conn, err := new(net.Dialer).DialContext(tb.Context(), "tcp", s.Addr())
	require.NoError(tb, err)
	return newWire(tb, conn)
}

func dialTLS(tb testing.TB, s *fakes.Server) *wire {
	tb.Helper()
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	conn, err := dialer.DialContext(tb.Context(), "tcp", s.Addr())
	require.NoError(tb, err)
	return newWire(tb, conn)
}

func newWire(tb testing.TB, conn net.Conn) *wire {
	tb.Helper()
	tb.Cleanup(func() { conn.Close() })
	return &wire{t: tb, conn: conn, in: bufio.NewReader(conn)}
}

const (
	producer = `HELLO {"v":2}`
	consumer = `HELLO {"hostname":"here","wid":"%s","pid":17,"labels":["go"],"v":2}`
)

// produce and consume greet and are then ready for commands.
func produce(tb testing.TB, s *fakes.Server) *wire {
	tb.Helper()
	return dial(tb, s).greet(producer)
}

func consume(tb testing.TB, s *fakes.Server, wid string) *wire {
	tb.Helper()
	return dial(tb, s).greet(fmt.Sprintf(consumer, wid))
}

func (w *wire) greet(hello string) *wire {
	w.t.Helper()
	require.Regexp(w.t, `^\+HI \{"v":2`, w.read())
	require.Equal(w.t, "+OK", w.do(hello))
	return w
}

func (w *wire) send(bytes string) {
	w.t.Helper()
	_, err := io.WriteString(w.conn, bytes)
	require.NoError(w.t, err)
}

func (w *wire) do(line string) string {
	w.t.Helper()
	w.send(line + "\r\n")
	return w.read()
}

func (w *wire) read() string {
	w.t.Helper()
	reply, err := w.try()
	require.NoError(w.t, err)
	return reply
}

func (w *wire) try() (string, error) {
	line, err := w.in.ReadString('\n')
	if err != nil {
		return line, err
	}
	line, ok := strings.CutSuffix(line, "\r\n")
	if !ok {
		return line, fmt.Errorf("no CRLF after %q", line)
	}
	if line == "$-1" || !strings.HasPrefix(line, "$") {
		return line, nil
	}
	n, err := strconv.Atoi(line[1:])
	if err != nil {
		return line, err
	}
	payload := make([]byte, n+2)
	_, err = io.ReadFull(w.in, payload)
	return "$" + string(payload[:n]), err
}

// expectEnd requires the end of the stream, and nothing before it.
func (w *wire) expectEnd() {
	w.t.Helper()
	_, err := w.in.ReadByte()
	require.ErrorIs(w.t, err, io.EOF)
}

// memory is a server in an in-memory network, for virtual time.
func memory(tb testing.TB, config fakes.Config) (*fakes.Server, func() *wire) {
	tb.Helper()
	place := memnet.NewPlace()
	config.Listen = place.Listen
	s := fakes.NewServer(config)
	return s, func() *wire {
		tb.Helper()
		return newWire(tb, place.MustDial())
	}
}

// job is a work unit with a jid and whatever else is given.
func job(jid, members string) string {
	if members != "" {
		members = "," + members
	}
	return `PUSH {"jid":"` + jid + `","jobtype":"t","args":[]` + members + `}`
}

// elapsed is the time that passed, for windows in virtual time.
func elapsed(begin time.Time) time.Duration { return time.Since(begin).Round(time.Millisecond) }
