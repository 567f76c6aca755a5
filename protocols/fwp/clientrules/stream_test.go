package clientrules

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/transcript"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Streams of the tests are conversations in the notation of package transcript. In "S: $text" a text becomes a bulk
// string. Of their own they have
//
//	1 open p2               connection 1 is opened by process 2; by process 0 without it
//	1 producer              opened, HI, HELLO {"v":2}, OK; or "1 producer p2"
//	1 worker w1             the same for a worker with this wid; or "1 worker w1 p2"
//	1 ready                 more of the client's line is waited for
//	end                     the recording ends
//	p1 started a b          a process with these queues in its environment, or without any; p1 TERM, p1 exited 0
//	lag 2s                  the machine was late
//
// Each event comes a millisecond after the one before it.
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
	all, err := transcript.Parse(strings.Join(append(slices.Clone(lines), "over"), "\n"))
	require.NoError(t, err)
	for i, e := range all {
		s.at = e.At + time.Duration(i)*time.Millisecond
		if i < len(all)-1 {
			s.at += time.Millisecond
			s.event(e)
		}
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

var bulk = regexp.MustCompile(`^\$([^-0-9].*)?\r\n$`)

func (s *streamer) event(e transcript.Event) {
	text := string(e.Bytes)
	word, rest, _ := strings.Cut(text, " ")
	conn := 0
	if e.Conn != "" {
		conn = number(s.t, strings.TrimPrefix(e.Conn, "c")) // as reports name it
	}
	switch {
	case e.Kind == transcript.Client:
		s.client(conn, e.Bytes)
	case e.Kind == transcript.Server && bulk.MatchString(text):
		s.server(conn, fwp.AppendBulk(nil, e.Bytes[1:len(e.Bytes)-2]))
	case e.Kind == transcript.Server:
		s.server(conn, e.Bytes)
	case e.Kind == transcript.ServerEnd && text == "fin":
		s.b.Shut(s.at, conn)
	case e.Kind == transcript.ServerEnd:
		s.b.Close(s.at, conn, Server, text == "reset")
	case e.Kind == transcript.ClientEnd:
		s.b.Close(s.at, conn, Client, text == "reset")
	case word == "end":
		s.b.End(s.at)
	case word == "ready":
		s.b.Ready(s.at, conn)
	case word == "lag":
		d, err := time.ParseDuration(rest)
		require.NoError(s.t, err, text)
		s.events = append(s.events, Event{At: s.at, Kind: Lag, Lag: d})
	case conn > 0:
		s.openConn(conn, word, rest)
	default:
		s.process(number(s.t, word[1:]), rest)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(t, err, text)
	return n
}

func (s *streamer) process(process int, text string) {
	switch code, ok := strings.CutPrefix(text, "exited "); {
	case ok:
		s.b.Process(s.at, process, Event{Kind: ProcessExit, Code: number(s.t, code)})
	case strings.HasPrefix(text, "started"):
		s.b.Process(s.at, process, Event{Kind: ProcessStart, ProcessQueues: strings.Fields(text)[1:]})
	default:
		s.b.Process(s.at, process, Event{Kind: ProcessSignal, Signal: text})
	}
}

func (s *streamer) openConn(conn int, role, text string) {
	words, process := strings.Fields(text), 0
	if len(words) > 0 && strings.HasPrefix(words[len(words)-1], "p") {
		process = number(s.t, words[len(words)-1][1:])
		words = words[:len(words)-1]
	}
	require.Contains(s.t, []string{"open", "producer", "worker"}, role)
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

// What record prints of a stream can be read as one.
func TestAMomentIsPrintedAsTestsReadIt(t *testing.T) {
	t.Parallel()
	events, _ := streamOf(t, `
		12 producer
		+2s
		12 C: PUSH {"jid":"\\u00fc\\n","jobtype":"t","args":["ü"]}
		12 S: -ERR "no"`)
	for _, e := range events[len(events)-2:] {
		read, err := transcript.Parse(e.Moment().String())
		require.NoError(t, err)
		require.Len(t, read, 1)
		require.Equal(t, e.At, read[0].At)
		require.Equal(t, "12", read[0].Conn)
		if e.Kind == Line {
			require.Equal(t, string(e.Raw), string(read[0].Bytes))
		} else {
			require.Equal(t, "-ERR \"no\"\r\n", string(read[0].Bytes))
		}
	}
}
