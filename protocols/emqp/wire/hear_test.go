package wire_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/wire"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpwire "github.com/fwpsuite/fwp/protocols/emqp/wire"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

func encode(m emqp.Message) string { return string(zmtp.AppendMessage(nil, m.Frames()...)) }

func pong(n uint64) string {
	return string(zmtp.Pong(binary.BigEndian.AppendUint64(nil, n)).Append(nil))
}

func routerReady() string {
	return string(zmtp.Ready(zmtp.Metadata{{Name: zmtp.SocketType, Value: []byte(zmtp.ROUTER)}}).Append(nil))
}

// newSpeaker returns the speaker of a worker whose connection is open. It has sent one PING.
func newSpeaker(t *testing.T, protocol emqpwire.Wire) wire.Speaker {
	t.Helper()
	s := protocol.Speaker("w")
	s.(wire.Subscriber).Subscribe(&wire.Queues{Names: []string{"q"}})
	out, err := s.Open(nil)
	require.NoError(t, err)
	assert.Equal(t, byte(0xff), out[0])
	for _, in := range []struct {
		text string
		kind wire.Kind
	}{
		{string(zmtp.NewGreeting().Append(nil)), wire.Notice}, {routerReady(), wire.Greeting}, {pong(1), wire.OK},
	} {
		var e wire.Event
		for i := range len(in.text) { // in pieces
			_, err := s.Hear([]byte(in.text[:i]), &e)
			require.ErrorIs(t, err, wire.ErrShort)
		}
		n, err := s.Hear([]byte(in.text), &e)
		require.NoError(t, err)
		assert.Equal(t, len(in.text), n)
		assert.Equal(t, in.kind, e.Kind)
		if e.Kind == wire.Greeting {
			out, err = s.Open(nil)
			require.NoError(t, err)
			assert.Contains(t, string(out), zmtp.PING)
			assert.Contains(t, string(out), `[[10,"q"]]`)
		}
	}
	return s
}

func TestHear(t *testing.T) {
	t.Parallel()
	request := encode(emqp.Request("1", "q", nil, "job"))
	tests := []struct {
		op   measure.Op // of a worker; empty: nothing is in flight
		in   string
		want wire.Kind
		err  string
	}{
		{measure.Ack, pong(2), wire.OK, ""},
		{measure.Ack, pong(3), 0, "has the context of no PING"},
		{measure.Ack, string(zmtp.Pong(nil).Append(nil)), 0, "has the context of no PING"},
		{"", pong(1), 0, "has the context of no PING"},
		{measure.Ack, encode(emqp.Ack("1", "2")), wire.Notice, ""},
		{measure.Ack, encode(emqp.Heartbeat("1", time.Now())), wire.Notice, ""},
		{measure.Ack, request, wire.Notice, ""},
		{"", request, wire.Notice, ""},
		{measure.Fetch, request, wire.Job, ""},
		{measure.Fetch, encode(emqp.Request("1", "q", emqp.Headers{{Name: emqp.Guarantee}}, "job")), wire.Job, ""},
		{measure.Fetch, encode(emqp.Heartbeat("1", time.Now())), wire.Empty, ""},
		{measure.Fetch, encode(emqp.Ack("1", "2")), wire.Notice, ""},
		{measure.Fetch, encode(emqp.Ready("1")), 0, "which is not for this peer"},
		{measure.Fetch, encode(emqp.Request("", "q", nil, "job")), 0, "is no eMQP"},
		{measure.Fetch, string(zmtp.Error("no").Append(nil)), wire.Refusal, ""},
		{measure.Fetch, routerReady(), 0, "READY first, and once"},
		{measure.Fetch, "\xff", 0, "is no ZMTP"},
		{measure.Fetch, string(zmtp.AppendHeader(nil, zmtp.Long, 20<<20)) + string(make([]byte, 17<<20)), 0,
			wire.ErrTooLong.Error()},
	}
	for _, test := range tests {
		s := newSpeaker(t, emqpwire.Wire{})
		switch test.op {
		case measure.Ack:
			s.Ack(nil, nil)
		case measure.Fetch:
			s.Fetch(nil, &wire.Queues{Names: []string{"q"}})
		}
		var e wire.Event
		n, err := s.Hear([]byte(test.in), &e)
		if test.err != "" {
			assert.ErrorContains(t, err, test.err, "%.40q", test.in)
			assert.Zero(t, n)
			continue
		}
		require.NoError(t, err, "%q", test.in)
		assert.Equal(t, len(test.in), n)
		assert.Equal(t, test.want, e.Kind, "%q", test.in)
	}
}

// A message that arrives although no READY asked for it is given to the next one, for which no READY is sent.
func TestAMessageTooManyIsKept(t *testing.T) {
	t.Parallel()
	s := newSpeaker(t, emqpwire.Wire{})
	queues := &wire.Queues{Names: []string{"q"}}
	out := string(s.Fetch(nil, queues))
	assert.Contains(t, out, emqp.READY)
	hear := func(in string) (e wire.Event) {
		_, err := s.Hear([]byte(in), &e)
		require.NoError(t, err)
		return e
	}
	for _, message := range []string{"one", "two"} {
		hear(encode(emqp.Request("1", "q", nil, message)))
	}
	out = string(s.Fetch(nil, queues))
	assert.NotContains(t, out, emqp.READY)
	e := hear(pong(2))
	assert.Equal(t, wire.Job, e.Kind)
	assert.Equal(t, "two", string(e.Body))
	assert.Contains(t, string(s.Fetch(nil, queues)), emqp.READY)
	hear(encode(emqp.Heartbeat("2", time.Now())))
	assert.Empty(t, s.Fetch(nil, queues), "the READY before is not used up")
}

// The PINGs of a broker are answered, also between the frames of a message.
func TestPINGsAreAnswered(t *testing.T) {
	t.Parallel()
	s := newSpeaker(t, emqpwire.Wire{})
	s.Fetch(nil, &wire.Queues{Names: []string{"q"}})
	ping, answer := string(zmtp.Ping(0, []byte("abc")).Append(nil)), string(zmtp.Pong([]byte("abc")).Append(nil))
	var e wire.Event
	n, err := s.Hear([]byte(ping), &e)
	require.NoError(t, err)
	assert.Equal(t, len(ping), n)
	assert.Equal(t, answer, string(e.Answer))
	request := encode(emqp.Request("1", "q", nil, "job"))
	e = wire.Event{}
	_, err = s.Hear([]byte(request[:2]+ping+request[2:]), &e) // behind the empty frame
	require.NoError(t, err)
	assert.Equal(t, wire.Job, e.Kind)
	assert.Equal(t, answer, string(e.Answer))
}

// With Requests a client waits for the REPLY, and a worker sends it.
func TestRequests(t *testing.T) {
	t.Parallel()
	s := newSpeaker(t, emqpwire.Wire{Requests: true})
	assert.Contains(t, string(s.Ack(nil, nil)), emqp.REPLY)
	assert.Equal(t, emqp.REPLY, s.Verb(measure.Ack))
	assert.NotContains(t, string(newSpeaker(t, emqpwire.Wire{}).Ack(nil, nil)), emqp.REPLY)
}

func TestIntroduceSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ greeting, want string }{
		"silent": {"", "the broker ended the connection"},
		"HTTP":   {"HTTP/1.1 400 Bad Request\r\n", "is no ZMTP"},
		"ERROR":  {string(zmtp.NewGreeting().Append(nil)) + string(zmtp.Error("full").Append(nil)), "full"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := net.Pipe()
			go func() {
				_, _ = io.ReadFull(theirs, make([]byte, zmtp.GreetingSize+6)) // the rest is not read
				_, _ = theirs.Write([]byte(test.greeting))
				theirs.Close()
			}()
			_, err := emqpwire.Wire{}.Introduce(t.Context(), func(context.Context) (net.Conn, error) {
				return asyncConn{ours}, nil
			})
			assert.ErrorContains(t, err, test.want)
		})
	}
}

// asyncConn is a connection whose peer takes everything.
type asyncConn struct{ net.Conn }

func (u asyncConn) Write(p []byte) (int, error) {
	go func() { _, _ = u.Conn.Write(p) }()
	return len(p), nil
}
