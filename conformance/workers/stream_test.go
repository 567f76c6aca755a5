package workers

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fwp"
)

// Streams of the tests are texts, one event a line:
//
//	+15s                    time passes
//	1 open                  connection 1 is opened by process 0, or "1 open p2"
//	1 producer              opened, HI, HELLO {"v":2}, OK; or "1 producer p2"
//	1 worker w1             the same for a worker with this wid; or "1 worker w1 p2"
//	1 C: INFO               the client sends a line with its CRLF
//	1 C! "INFO\n"           the client sends these bytes
//	1 S: +OK                the server sends a line; "$ text" becomes a bulk string
//	1 S! "+OK\n"            the server sends these bytes
//	1 closed client         by the client, the server, or "client reset"
//	1 shut                  by the server, which reads on
//	1 ready                 more of the client's line is waited for
//	end                     the recording ends
//	p1 started a b          a process with these queues in its environment, or without any; p1 TERM, p1 exited 0
//	lag 2s                  the machine was late
//
// A # starts a comment line.
func streamOf(t *testing.T, text string) (events []Event, end time.Duration) {
	t.Helper()
	return streamIn(t, 1, linesOf(text))
}

// linesOf returns the lines of a stream.
func linesOf(text string) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// streamIn has all that the two sides send come in a number of parts.
func streamIn(t *testing.T, parts int, lines []string) (events []Event, end time.Duration) {
	t.Helper()
	s := &streamer{t: t, parts: parts}
	s.b = NewBuilder(func(e Event) { s.events = append(s.events, e) })
	for _, line := range lines {
		s.line(line)
	}
	return s.events, s.at
}

type streamer struct {
	t      *testing.T
	b      *Builder
	parts  int
	at     time.Duration
	events []Event
}

// client sends bytes in parts; each is passed on before the next comes.
func (s *streamer) client(conn int, data []byte) {
	for i, part := range cut(data, s.parts) {
		if i > 0 {
			s.b.Ready(s.at, conn)
		}
		s.b.Client(s.at, conn, part)
	}
}

func (s *streamer) server(conn int, data []byte) {
	for _, part := range cut(data, s.parts) {
		s.b.Server(s.at, conn, part)
	}
}

func cut(data []byte, parts int) (all [][]byte) {
	for ; parts > 1 && len(data) > 1; parts-- {
		n := max(1, len(data)/parts)
		all, data = append(all, data[:n]), data[n:]
	}
	return append(all, data)
}

func (s *streamer) line(line string) {
	s.at += time.Millisecond
	if after, is := strings.CutPrefix(line, "+"); is {
		d, err := time.ParseDuration(after)
		require.NoError(s.t, err, line)
		s.at += d - time.Millisecond
		return
	}
	who, rest, _ := strings.Cut(line, " ")
	switch {
	case who == "end":
		s.b.End(s.at)
	case who == "lag":
		d, err := time.ParseDuration(rest)
		require.NoError(s.t, err, line)
		s.events = append(s.events, Event{At: s.at, Kind: Lag, Late: d})
	case strings.HasPrefix(who, "p"):
		s.process(number(s.t, who[1:]), rest)
	default:
		s.conn(number(s.t, who), rest)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(t, err, text)
	return n
}

func (s *streamer) process(process int, what string) {
	switch code, exited := strings.CutPrefix(what, "exited "); {
	case exited:
		s.b.Process(s.at, process, Event{Kind: Exited, Code: number(s.t, code)})
	case strings.HasPrefix(what, "started"):
		s.b.Process(s.at, process, Event{Kind: Started, Told: strings.Fields(what)[1:]})
	default:
		s.b.Process(s.at, process, Event{Kind: Signalled, Signal: what})
	}
}

func (s *streamer) conn(conn int, rest string) {
	verb, what, _ := strings.Cut(rest, " ")
	switch verb {
	case "open", "producer", "worker":
		s.open(conn, verb, what)
	case "C:":
		s.client(conn, []byte(what+"\r\n"))
	case "C!":
		s.client(conn, []byte(s.unquote(what)))
	case "S:":
		if bulk, is := strings.CutPrefix(what, "$ "); is {
			what = fmt.Sprintf("$%d\r\n%s", len(bulk), bulk)
		}
		s.server(conn, []byte(what+"\r\n"))
	case "S!":
		s.server(conn, []byte(s.unquote(what)))
	case "shut":
		s.b.Shut(s.at, conn)
	case "ready":
		s.b.Ready(s.at, conn)
	case "closed":
		side := Client
		if strings.HasPrefix(what, "server") {
			side = Server
		}
		s.b.Close(s.at, conn, side, strings.HasSuffix(what, "reset"))
	default:
		require.Fail(s.t, "unknown line of a stream", rest)
	}
}

func (s *streamer) unquote(text string) string {
	out, err := strconv.Unquote(text)
	require.NoError(s.t, err, text)
	return out
}

func (s *streamer) open(conn int, role, what string) {
	words, process := strings.Fields(what), 0
	if len(words) > 0 && strings.HasPrefix(words[len(words)-1], "p") {
		process = number(s.t, words[len(words)-1][1:])
		words = words[:len(words)-1]
	}
	s.b.Open(s.at, conn, process)
	if role == "open" {
		return
	}
	h := fwp.Hello{}
	if role == "worker" {
		h = fwp.Hello{Hostname: "h", WorkerID: words[0], PID: 7 + process}
	}
	s.server(conn, []byte("+HI {\"v\":2}\r\n"))
	s.client(conn, fwp.AppendCommand(nil, h.Command()))
	s.server(conn, []byte("+OK\r\n"))
}
