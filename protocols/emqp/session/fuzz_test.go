package session_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpsession "github.com/fwpsuite/fwp/protocols/emqp/session"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// handshakeBytes is the greeting and the READY of a broker.
func handshakeBytes(messages ...[]byte) []byte {
	properties := zmtp.Metadata{{Name: zmtp.SocketType, Value: []byte(zmtp.ROUTER)}}
	all := zmtp.Ready(properties).Append(zmtp.NewGreeting().Append(nil))
	return append(all, bytes.Join(messages, nil)...)
}

func message(m emqp.Message) []byte { return zmtp.AppendMessage(nil, m.Frames()...) }

// FuzzReader: whatever a broker sends is messages that the document allows, commands, or one error with its rule, at
// an offset within what was sent; and each has a text.
func FuzzReader(f *testing.F) {
	beat := emqp.Heartbeat("c", time.Unix(1e9, 0))
	f.Add(handshakeBytes(message(emqp.Ack("a", "b")), message(beat), message(emqp.Reply("d", "\xff"))))
	f.Add(handshakeBytes(zmtp.Ping(10, []byte("x")).Append(nil), zmtp.Pong([]byte("y")).Append(nil), message(emqp.Kbai("e"))))
	f.Add(handshakeBytes(message(emqp.Ready("f"))))
	f.Add(handshakeBytes(message(emqp.Request("g", "q", nil, "m"))[:20]))
	f.Add(zmtp.Error("no").Append(zmtp.NewGreeting().Append(nil)))
	f.Fuzz(func(t *testing.T, in []byte) {
		p := emqpsession.Codec{Heartbeats: true, Acks: true}
		reader, state := p.Begin(bytes.NewReader(in))
		for {
			m, err := reader.Read()
			if syntax, ok := errors.AsType[*session.SyntaxError](err); ok {
				assert.NotEmpty(t, syntax.Rule)
				assert.LessOrEqual(t, syntax.Offset, int64(len(in)))
			}
			if err != nil {
				return
			}
			if m.Kind == emqpsession.Message {
				_, wrong := emqp.Parse(m.Parts)
				assert.NoError(t, wrong)
			}
			assert.NotEmpty(t, p.Text(m))
			state.Role(m)
			state.Received(m)
			assert.GreaterOrEqual(t, state.Status().OwedMessages, 0)
		}
	})
}

// FuzzState: what a client has sent is the same in however many pieces.
func FuzzState(f *testing.F) {
	f.Add(message(emqp.InformScheduler("a")), 3)
	f.Add(append(message(emqp.Request("b", "q", nil, "m")), zmtp.Ping(0, nil).Append(nil)...), 1)
	f.Add(append(message(emqp.Disconnect("c")), 0xff), 7)
	f.Fuzz(func(t *testing.T, sent []byte, size int) {
		_, expected := emqpsession.Codec{}.Begin(nil)
		_, pieces := emqpsession.Codec{}.Begin(nil)
		expected.Sent(sent)
		for rest := sent; len(rest) > 0; {
			n := min(max(size, 1), len(rest))
			pieces.Sent(rest[:n])
			rest = rest[n:]
		}
		a, b := expected.Status(), pieces.Status()
		a.Command, b.Command = nil, nil // the last write
		assert.Equal(t, a, b)
		assert.Equal(t, expected.(*emqpsession.State).LastMessage(), pieces.(*emqpsession.State).LastMessage())
	})
}
