package client

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/wire"
	fwpwire "github.com/fwpsuite/fwp/protocols/fwp/wire"
)

const (
	greetingLine = "+HI {\"v\":2}\r\n"
	okLine       = "+OK\r\n"
)

func TestProducer(t *testing.T) {
	t.Parallel()
	s := newScene(t, producers(1))
	p := &s.shard.producers[0].conn
	s.do(s.shard.Connect)
	require.Len(t, s.dials, 1)
	s.open(p)
	assert.Empty(t, s.takeSent(p))
	s.data(p, greetingLine)
	assert.Equal(t, "HELLO {\"v\":2}\r\n", s.takeSent(p))
	s.data(p, okLine)
	assert.Empty(t, s.takeSent(p), "nothing is pushed before the start")
	assert.Equal(t, 1, s.shard.Status().ReadyConns)
	s.start()
	first := s.takeSent(p)
	assert.True(t, strings.HasPrefix(first, `PUSH {"jid":"`+s.jid(0)+`"`), first)
	s.pass(3 * time.Millisecond)
	s.data(p, okLine)
	assert.Contains(t, s.takeSent(p), s.jid(1))
	s.do(s.shard.StopPushing)
	assert.True(t, s.shard.Status().IsPushing)
	s.data(p, okLine)
	assert.False(t, s.shard.Status().IsPushing)
	assert.Empty(t, s.takeSent(p))
	s.do(s.shard.Stop)
	assert.Equal(t, "END\r\n", s.takeSent(p))
	s.data(p, okLine)
	assert.True(t, s.isClosed[p])
	counts := s.ledger.Count(false)
	assert.Equal(t, int64(2), counts.Pushed)
	set := s.set()
	assert.Equal(t, int64(2), set.Done(measure.Push))
	assert.Equal(t, int64(1), set.Done(measure.Hello))
	assert.Equal(t, int64(1), set.Done(measure.Connect))
	assert.Equal(t, int64(1), set.Done(measure.End))
	assert.Zero(t, s.shard.Status().Errors)
}

// A reply is the same however it is cut.
func TestPartialReplies(t *testing.T) {
	t.Parallel()
	s := newScene(t, consumers(1))
	w := &s.shard.workers[0].conns[0].conn
	s.do(s.shard.Connect)
	s.pass(time.Millisecond)
	pieces := func(text string) {
		for i := range len(text) {
			assert.Empty(t, s.takeSent(w), "after %d bytes of %q", i, text)
			s.data(w, text[i:i+1])
		}
	}
	s.open(w)
	pieces(greetingLine)
	assert.Contains(t, s.takeSent(w), `"wid":"fwpbench-run-w0"`)
	pieces(okLine)
	s.start()
	assert.Equal(t, "FETCH fwpbench-run-0\r\n", s.takeSent(w))
	s.ledger.BookSent(5, s.now)
	pieces(s.body(5))
	assert.Equal(t, `ACK {"jid":"`+s.jid(5)+"\"}\r\n", s.takeSent(w))
	pieces(okLine)
	assert.Equal(t, "FETCH fwpbench-run-0\r\n", s.takeSent(w))
	pieces("$-1\r\n")
	assert.Equal(t, "FETCH fwpbench-run-0\r\n", s.takeSent(w))
	s.do(s.shard.Stop)
	pieces("$-1\r\n")
	assert.Equal(t, "END\r\n", s.takeSent(w))
	pieces(okLine)
	assert.True(t, s.isClosed[w])
	assert.Equal(t, int64(1), s.ledger.Count(false).Acked)
	assert.Len(t, s.shard.buffers, 1, "one buffer serves all replies")
	assert.Zero(t, s.shard.Status().Errors)
}

// phases has what brings a connection of a shard of one producer and one worker into a phase.
var phases = map[string]struct {
	worker bool
	lines  []string // of the server, until then
	start  bool
	op     measure.Op
}{
	"greeting":     {op: measure.Hello},
	"hello":        {lines: []string{greetingLine}, op: measure.Hello},
	"idle":         {lines: []string{greetingLine, okLine}, op: measure.Connect},
	"pushing":      {lines: []string{greetingLine, okLine}, start: true, op: measure.Push},
	"fetching":     {worker: true, lines: []string{greetingLine, okLine}, start: true, op: measure.Fetch},
	"acknowledges": {worker: true, lines: []string{greetingLine, okLine, "job"}, start: true, op: measure.Ack},
}

func newPhaseScene(t *testing.T, phase string) (*scene, *conn) {
	t.Helper()
	p := phases[phase]
	s := newScene(t, consumers(1))
	c := &s.shard.producers[0].conn
	if p.worker {
		c = &s.shard.workers[0].conns[0].conn
	}
	s.do(s.shard.Connect)
	s.pass(time.Millisecond)
	s.open(c)
	for _, line := range p.lines[:min(2, len(p.lines))] {
		s.data(c, line)
	}
	if p.start {
		s.start()
	}
	if len(p.lines) > 2 {
		s.ledger.BookSent(5, s.now)
		s.ledger.BookPush(5)
		s.data(c, s.body(5))
	}
	s.takeSent(c)
	return s, c
}

var errBroken = errors.New("broken")

// What ends a connection in any phase: it is closed, counted under its kind, and
// opened again after a pause.
func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	breaks := map[string]struct {
		kind measure.ErrorKind
		do   func(s *scene, c *conn)
	}{
		"half-close":        {measure.Closed, func(s *scene, c *conn) { s.end(c, nil) }},
		"reset":             {measure.Reset, func(s *scene, c *conn) { s.end(c, syscall.ECONNRESET) }},
		"broken in a reply": {measure.Reset, func(s *scene, c *conn) { s.data(c, "+"); s.end(c, errBroken) }},
		"no RESP":           {measure.Malformed, func(s *scene, c *conn) { s.data(c, "HTTP/1.1 400 Bad Request\r\n") }},
		"wrong reply":       {measure.Malformed, func(s *scene, c *conn) { s.data(c, ":1\r\n") }},
		"another text":      {measure.Malformed, func(s *scene, c *conn) { s.data(c, "+YES\r\n") }},
		"silence":           {measure.Timeout, func(s *scene, _ *conn) { s.pass(30*time.Second - time.Millisecond) }},
	}
	for name, b := range breaks {
		for phase, p := range phases {
			t.Run(name+"/"+phase, func(t *testing.T) {
				t.Parallel()
				s, c := newPhaseScene(t, phase)
				kind := b.kind
				switch {
				case phase == "idle" && name == "silence":
					return // nothing is awaited
				case phase == "idle" && name == "broken in a reply":
					kind = measure.Malformed
				}
				b.do(s, c)
				if name == "silence" {
					s.pass(2 * time.Millisecond)
				}
				assert.True(t, s.isClosed[c], "the connection is closed")
				assert.Equal(t, phaseShut, c.phase)
				failed := int64(1)
				if phase == "idle" && (kind == measure.Closed || kind == measure.Reset) { // no command failed
					failed = 0
				}
				assert.Equal(t, failed, s.set().Errors(p.op, kind))
				require.Error(t, s.shard.status.FirstError)
				assert.Zero(t, s.shard.status.ReadyConns)
				assert.NotContains(t, s.dials, c)
				s.pass(firstDelay)
				assert.Contains(t, s.dials, c, "it is opened again")
				counts := s.ledger.Count(false)
				assert.Equal(t, phase == "pushing", counts.Doubtful == 1)
				assert.Equal(t, phase == "fetching", counts.FetchesLost == 1)
				assert.Equal(t, phase == "acknowledges", counts.Waiting == 1)
				s.open(c)
				s.data(c, greetingLine)
				s.takeSent(c)
				s.data(c, okLine)
				if p.start {
					assert.NotEmpty(t, s.takeSent(c), "it goes on")
				}
			})
		}
	}
}

func TestExtraBytes(t *testing.T) {
	t.Parallel()
	for phase, p := range map[string]struct{ lines, verb, breach string }{
		"greeting": {greetingLine + okLine, "", wire.UnaskedBytes}, "idle": {okLine, "", wire.UnaskedBytes},
		"hello": {okLine + okLine, "HELLO", wire.ExtraReply}, "pushing": {okLine + okLine, "PUSH", wire.ExtraReply},
		"fetching": {"$-1\r\n$-1\r\n", "FETCH", wire.ExtraReply}, "acknowledges": {okLine + "+", "ACK", wire.ExtraReply},
	} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			s, c := newPhaseScene(t, phase)
			s.data(c, p.lines)
			assert.Empty(t, s.takeSent(c), "nothing is sent on a connection that is out of step")
			assert.True(t, s.isClosed[c])
			b := s.shard.Breaches()
			require.Len(t, b, 1)
			assert.Equal(t, p.breach, b[0].First.Breach)
			assert.Equal(t, p.verb, b[0].First.Verb)
			if p.verb != "" {
				assert.Equal(t, int64(1), s.set().Errors(c.command.op, measure.Malformed), "it is booked where it belongs")
			}
			assert.Equal(t, b[0].First, s.shard.Status().LastError)
			assert.Equal(t, int64(1), s.shard.Status().Errors)
			counts := s.ledger.Count(false)
			assert.Zero(t, counts.Doubtful)
			assert.Zero(t, counts.FetchesLost)
			if phase == "acknowledges" {
				assert.Equal(t, int64(1), counts.Acked, "the reply itself counts")
			}
			if phase == "pushing" {
				assert.Equal(t, int64(1), counts.Pushed)
			}
		})
	}
}

func TestErrorReplies(t *testing.T) {
	t.Parallel()
	for phase, p := range phases {
		if phase == "idle" {
			continue
		}
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			s, c := newPhaseScene(t, phase)
			s.data(c, "-ERR no\r\n")
			assert.Equal(t, int64(1), s.set().Errors(p.op, measure.Rejected))
			require.ErrorContains(t, s.shard.FirstError(p.op, measure.Rejected), "ERR no")
			counts := s.ledger.Count(false)
			switch phase {
			case "greeting", "hello":
				assert.True(t, s.isClosed[c])
				s.pass(firstDelay)
				assert.Contains(t, s.dials, c)
			case "pushing":
				assert.Equal(t, int64(1), counts.Refused)
				assert.Empty(t, s.takeSent(c), "a closed loop takes a pause")
				s.pass(firstPause)
				assert.Contains(t, s.takeSent(c), s.jid(1))
			case "fetching":
				assert.Empty(t, s.takeSent(c))
				s.pass(firstPause)
				assert.Equal(t, "FETCH fwpbench-run-0\r\n", s.takeSent(c))
			case "acknowledges":
				assert.Equal(t, int64(1), counts.HeldJobs, "until its reservation ends")
				assert.Equal(t, "FETCH fwpbench-run-0\r\n", s.takeSent(c))
			}
		})
	}
}

func TestEndsOfConnections(t *testing.T) {
	t.Parallel()
	ends := map[string]struct {
		do     func(s *scene, c *conn)
		errors int64
	}{
		"OK":             {do: func(s *scene, c *conn) { s.data(c, okLine) }},
		"OK in pieces":   {do: func(s *scene, c *conn) { s.data(c, "+O"); s.data(c, "K\r\n") }},
		"close":          {do: func(s *scene, c *conn) { s.end(c, nil) }},
		"reset":          {do: func(s *scene, c *conn) { s.end(c, syscall.ECONNRESET) }},
		"error":          {do: func(s *scene, c *conn) { s.data(c, "-ERR no\r\n") }, errors: 1},
		"something else": {do: func(s *scene, c *conn) { s.data(c, "$-1\r\n") }, errors: 1},
		"no RESP":        {do: func(s *scene, c *conn) { s.data(c, "?") }, errors: 1},
		"nothing":        {do: func(s *scene, _ *conn) { s.pass(time.Minute) }, errors: 1},
	}
	for name, e := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := newPhaseScene(t, "idle")
			s.do(s.shard.Stop)
			require.Equal(t, "END\r\n", s.takeSent(c))
			e.do(s, c)
			assert.True(t, s.isClosed[c])
			assert.Zero(t, s.shard.Status().OpenConns, "the worker's dial was given up, the producer has ended")
			assert.Empty(t, s.dials)
			assert.Equal(t, e.errors, s.shard.Status().Errors)
			assert.Equal(t, 1-e.errors, s.set().Done(measure.End))
			s.pass(time.Hour)
			assert.Empty(t, s.dials, "nothing is opened again")
		})
	}
}

func TestPasswordHash(t *testing.T) {
	t.Parallel()
	s := newScene(t, producers(1), func(c *Config) { c.Speaker = (&fwpwire.Config{Password: "foobar"}).Speaker })
	p := &s.shard.producers[0].conn
	s.do(s.shard.Connect)
	s.open(p)
	s.pass(2 * time.Millisecond)
	s.data(p, "+HI {\"v\":2,\"s\":\"123456789abc\",\"i\":1735}\r\n")
	assert.Empty(t, s.takeSent(p))
	s.pass(time.Minute)
	assert.Equal(t, phaseGreeted, p.phase, "our own slowness is no timeout of the server")
	require.Len(t, s.offloads, 1)
	s.offloads[0]()
	assert.Contains(t, s.takeSent(p), `"pwdhash":"`)
	s.pass(time.Millisecond)
	s.data(p, okLine)
	assert.Equal(t, phaseIdle, p.phase)
	response := percentileOf(s.set(), measure.Hello, measure.Response, 100)
	assert.InDelta(t, float64(3*time.Millisecond), float64(response), float64(10*time.Microsecond), "without the hash")
}

func TestHashOfEndedConnection(t *testing.T) {
	t.Parallel()
	s := newScene(t, producers(1))
	p := &s.shard.producers[0].conn
	s.do(s.shard.Connect)
	s.open(p)
	s.data(p, "+HI {\"v\":2,\"s\":\"a\",\"i\":2}\r\n")
	s.end(p, nil)
	s.pass(firstDelay)
	s.open(p)
	s.offloads[0]()
	assert.Empty(t, s.takeSent(p), "it belongs to the connection before")
	s.data(p, greetingLine)
	assert.Equal(t, "HELLO {\"v\":2}\r\n", s.takeSent(p))
}

func TestExcessiveHash(t *testing.T) {
	t.Parallel()
	s, c := newPhaseScene(t, "greeting")
	s.data(c, "+HI {\"v\":2,\"s\":\"a\",\"i\":2000000000}\r\n")
	s.offloads[0]()
	assert.True(t, s.isClosed[c])
	require.ErrorContains(t, s.shard.Status().FirstError, "2000000000 iterations")
}

// A server that is gone is asked less and less often, and never at once by everybody.
func TestBackoff(t *testing.T) {
	t.Parallel()
	s := newScene(t, producers(10))
	s.do(s.shard.Connect)
	dials := 0
	for s.now < time.Minute {
		for len(s.dials) > 0 {
			dials++
			s.fail(s.dials[0], syscall.ECONNREFUSED)
		}
		s.pass(10 * time.Millisecond)
	}
	assert.Greater(t, dials, 10*12)
	assert.Less(t, dials, 10*40)
	assert.Equal(t, int64(dials), s.set().Errors(measure.Connect, measure.Refused))
	assert.Len(t, s.shard.opener.schedule.entries, 10, "each connection waits once")
	require.ErrorIs(t, s.shard.Status().FirstError, syscall.ECONNREFUSED)
}

func TestConnectionsOpenAtAPace(t *testing.T) {
	t.Parallel()
	s := newScene(t, producers(10), func(c *Config) { c.ConnectRate = 100 })
	s.do(s.shard.Connect)
	for n := range 10 {
		assert.Len(t, s.dials, n+1)
		s.pass(10 * time.Millisecond)
	}
}
