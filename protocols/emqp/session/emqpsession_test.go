package session_test

import (
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpsession "github.com/fwpsuite/fwp/protocols/emqp/session"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// inBubble runs a test with a broker of one socket, and a connection to it, in virtual time.
func inBubble(t *testing.T, config fakeemqp.Config, test func(t *testing.T, b *fakeemqp.Broker, nc net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		b := fakeemqp.Start(config, place.MustListen(), nil)
		defer b.Close()
		nc := place.MustDial()
		defer nc.Close()
		test(t, b, nc)
	})
}

// begin returns a conversation whose handshake is over.
func begin(t *testing.T, nc net.Conn, s emqpsession.Settings) *session.Conn {
	t.Helper()
	s.Identity = "w"
	opened, p, err := emqpsession.Open(nc, s)
	require.NoError(t, err)
	c := session.New(opened, p, session.Config{})
	assert.Equal(t, session.Greeting, c.Status().Phase)
	r, err := c.Answer(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "READY", string(r.Message.Text))
	assert.Equal(t, session.Answer, r.Role)
	assert.Equal(t, session.Serving, c.Status().Phase)
	return c
}

func send(t *testing.T, c *session.Conn, m emqp.Message) {
	t.Helper()
	require.NoError(t, c.Write(t.Context(), [][]byte{zmtp.AppendMessage(nil, m.Frames()...)}, 0))
}

func next(t *testing.T, c *session.Conn) session.Received {
	t.Helper()
	r, ok := c.Take(t.Context(), time.Now().Add(time.Hour))
	require.True(t, ok)
	return r
}

// A worker's conversation: what the broker sends are notices, and HEARTBEATs keep it alive without showing.
func TestConversation(t *testing.T) {
	t.Parallel()
	inBubble(t, fakeemqp.Config{}, func(t *testing.T, b *fakeemqp.Broker, nc net.Conn) {
		c := begin(t, nc, emqpsession.Settings{Acks: true})
		assert.Nil(t, c.Status().Farewell)
		send(t, c, emqp.InformWorker("i", emqp.Queue{Weight: 10, Name: "default"}))
		r := next(t, c)
		assert.Equal(t, `["", "eMQP/1.0", "ACK", "broker-1", "i"]`, r.String())
		assert.Equal(t, session.Notice, r.Role)
		assert.Equal(t, "INFORM", c.Status().Verb)
		_, ok := c.Take(t.Context(), time.Now().Add(time.Hour))
		assert.False(t, ok)
		assert.Equal(t, 1, b.Counts().Workers, "its HEARTBEATs are answered")
		c.Leave(t.Context())
		synctest.Wait()
		assert.Zero(t, b.Counts().Workers, "it has said KBAI")
	})
}

// Whoever takes HEARTBEATs over sees them, and has to answer them.
func TestHeartbeatsTakenOver(t *testing.T) {
	t.Parallel()
	config := fakeemqp.Config{Interval: 3 * time.Second, Timeout: 10 * time.Second}
	inBubble(t, config, func(t *testing.T, b *fakeemqp.Broker, nc net.Conn) {
		c := begin(t, nc, emqpsession.Settings{Heartbeats: true, Acks: true})
		send(t, c, emqp.InformWorker("i"))
		next(t, c)
		for range 3 {
			assert.Contains(t, next(t, c).String(), `"HEARTBEAT"`)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Zero(t, b.Counts().Workers)
		require.NoError(t, c.End(session.Closed))
	})
}

// A READY names the Socket-Type first, however the broker orders and spells its properties.
func TestPropertiesInAnyOrder(t *testing.T) {
	t.Parallel()
	properties := zmtp.Metadata{{Name: "X-Version", Value: []byte("7")}, {Name: "SOCKET-TYPE", Value: []byte("ROUTER")}}
	config := fakeemqp.Config{Router: zmtp.RouterConfig{Config: zmtp.Config{Properties: properties}}}
	inBubble(t, config, func(t *testing.T, _ *fakeemqp.Broker, nc net.Conn) {
		c := session.New(nc, emqpsession.Codec{Raw: true}, session.Config{})
		greeting := zmtp.Ready(zmtp.Metadata{{Name: zmtp.SocketType, Value: []byte(zmtp.DEALER)}})
		require.NoError(t, c.Write(t.Context(), [][]byte{greeting.Append(zmtp.NewGreeting().Append(nil))}, 0))
		assert.Equal(t, "READY Socket-Type ROUTER X-Version 7", next(t, c).String())
		require.NoError(t, c.End(session.Closed))
	})
}

// Answers are not written into a message that is sent in pieces.
func TestAnswersBetweenMessages(t *testing.T) {
	t.Parallel()
	config := fakeemqp.Config{Interval: time.Second, Router: zmtp.RouterConfig{Config: zmtp.Config{Ping: time.Second}}}
	inBubble(t, config, func(t *testing.T, _ *fakeemqp.Broker, nc net.Conn) {
		c := begin(t, nc, emqpsession.Settings{Acks: true})
		send(t, c, emqp.InformScheduler("i"))
		next(t, c)
		m := zmtp.AppendMessage(nil, emqp.Request("r", "q", nil, "text").Frames()...)
		var pieces [][]byte
		for i := range m {
			pieces = append(pieces, m[i:i+1])
		}
		require.NoError(t, c.Write(t.Context(), pieces, 40*time.Millisecond))
		assert.Equal(t, `["", "eMQP/1.0", "ACK", "broker-`, next(t, c).String()[:32])
		c.Leave(t.Context())
	})
}

// What the broker breaks ends the conversation, with rule and offset; DISCONNECT and KBAI end it in order.
func TestEnds(t *testing.T) {
	t.Parallel()
	config := fakeemqp.Config{Hook: func(e *fakeemqp.Event) {
		if e.IsFromBroker && string(e.Frames[2]) == emqp.ACK && string(e.Frames[4]) == "second" {
			e.Frames = [][]byte{{}, {0xff}}
		}
	}}
	inBubble(t, config, func(t *testing.T, _ *fakeemqp.Broker, nc net.Conn) {
		c := begin(t, nc, emqpsession.Settings{Acks: true})
		send(t, c, emqp.InformWorker("i"))
		next(t, c)
		send(t, c, emqp.Disconnect("d"))
		assert.Equal(t, session.Ended, c.Status().Phase)
		assert.Contains(t, next(t, c).String(), `"KBAI"`)
		require.NoError(t, c.End(session.Reset))
	})
}

func TestReaderRefuses(t *testing.T) {
	t.Parallel()
	ready := zmtp.Ready(nil).Append(zmtp.NewGreeting().Append(nil))
	for name, c := range map[string]struct {
		in   []byte
		want string
	}{
		"reserved": {slices.Concat(ready, []byte{0x80, 0}),
			`reply syntax (reserved): byte 72: expected flags whose bits 7 to 3 are zero, got "\x80\x00"`},
		"ERROR": {zmtp.Error("no").Append(zmtp.NewGreeting().Append(nil)), "ERROR no"},
		"half": {slices.Concat(ready, []byte{0, 9, 'a'}),
			"an unfinished reply: a frame of 9 octets, 1 octets received"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				place := memnet.NewPlace()
				l := place.MustListen()
				defer l.Close()
				nc := place.MustDial()
				peer, err := l.Accept()
				require.NoError(t, err)
				defer peer.Close()
				_, err = peer.Write(c.in)
				require.NoError(t, err)
				conn := session.New(nc, emqpsession.Codec{Raw: true}, session.Config{})
				r, err := conn.Answer(t.Context())
				require.NoError(t, err)
				if string(r.Message.Text) == zmtp.READY {
					r, err = conn.Answer(t.Context())
					require.NoError(t, err)
				}
				assert.Equal(t, c.want, r.String())
				require.NoError(t, conn.End(session.Closed))
			})
		})
	}
}

// What the document does not let a broker send ends the conversation, with the rule.
func TestMessagesThatBreakTheDocument(t *testing.T) {
	t.Parallel()
	for rule, frames := range map[string][][]byte{
		emqpsession.RulePrefix + string(emqp.RuleVersion): {{}, {0xff}},
		emqpsession.RuleDirection:                         emqp.Ready("r").Frames(),
		emqpsession.RuleAcknowledged:                      emqp.Ack("x", "never sent").Frames(),
		emqpsession.RuleUnique:                            emqp.Ack("broker-1", "i").Frames(),
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			acks := 0
			config := fakeemqp.Config{Hook: func(e *fakeemqp.Event) {
				if e.IsFromBroker && string(e.Frames[2]) == emqp.ACK {
					if acks++; acks > 1 {
						e.Frames = frames
					}
				}
			}}
			inBubble(t, config, func(t *testing.T, _ *fakeemqp.Broker, nc net.Conn) {
				c := begin(t, nc, emqpsession.Settings{})
				send(t, c, emqp.InformWorker("i"))
				send(t, c, emqp.Request("j", "q", nil, ""))
				r := next(t, c)
				require.NotNil(t, r.Broken)
				assert.Equal(t, rule, r.Broken.Rule)
				require.NoError(t, c.End(session.Closed))
			})
		})
	}
}

// TestReadingOn: behind a message whose id alone is wrong, or that is certain in spite of its frames, the conversation
// goes on.
func TestReadingOn(t *testing.T) {
	t.Parallel()
	acks := func(id string) func([][]byte) [][]byte {
		return func([][]byte) [][]byte { return emqp.Ack("broker-1", id).Frames() }
	}
	for rule, change := range map[string]func([][]byte) [][]byte{
		emqpsession.RuleAcknowledged: acks("never sent"), emqpsession.RuleUnique: acks("i"),
		emqpsession.RulePrefix + string(emqp.RuleEmpty): func(f [][]byte) [][]byte { return f[1:] },
		emqpsession.RulePrefix + string(emqp.RuleVersion): func(f [][]byte) [][]byte {
			return append([][]byte{{}, []byte("EMQP/1.0")}, f[2:]...)
		},
		emqpsession.RulePrefix + string(emqp.RuleFrames): func(f [][]byte) [][]byte { // and of another version
			return append([][]byte{{}, []byte("EMQP/1.0")}, append(f[2:], []byte("OK"))...)
		},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			config := fakeemqp.Config{Hook: func(e *fakeemqp.Event) {
				if e.IsFromBroker && string(e.Frames[2]) == emqp.ACK {
					e.Frames = change(e.Frames)
				}
			}}
			inBubble(t, config, func(t *testing.T, _ *fakeemqp.Broker, nc net.Conn) {
				opened, p, err := emqpsession.Open(nc, emqpsession.Settings{Acks: true})
				require.NoError(t, err)
				c := session.New(opened, p, session.Config{ToleratesLapses: true})
				_, err = c.Answer(t.Context())
				require.NoError(t, err)
				var lapses []string
				for range 2 {
					send(t, c, emqp.InformWorker("i"))
					if r := next(t, c); assert.Nil(t, r.Broken) && r.Message.Lapse != nil {
						lapses = append(lapses, r.Message.Lapse.Rule)
					}
				}
				assert.Contains(t, lapses, rule)
				require.NoError(t, c.End(session.Closed))
			})
		})
	}
}

// TestHidden: a PUBLISH to anybody, an UNSCHEDULE to a worker, and one that a scheduler has got before, are no part of
// the conversation.
func TestHidden(t *testing.T) {
	t.Parallel()
	for peer, want := range map[string]string{"worker": emqp.KBAI, "scheduler": emqp.UNSCHEDULE} {
		t.Run(peer, func(t *testing.T) {
			t.Parallel()
			commands := []string{emqp.PUBLISH, emqp.UNSCHEDULE, emqp.UNSCHEDULE, emqp.KBAI}
			config := fakeemqp.Config{Hook: func(e *fakeemqp.Event) {
				if e.IsFromBroker && string(e.Frames[2]) == emqp.ACK {
					fields := [][]byte{[]byte("q"), nil, []byte("x")}
					if commands[0] == emqp.KBAI {
						fields = nil
					}
					e.Frames = emqp.Message{Command: commands[0], ID: commands[0], Fields: fields}.Frames()
					commands = commands[1:]
				}
			}}
			inBubble(t, config, func(t *testing.T, _ *fakeemqp.Broker, nc net.Conn) {
				c := begin(t, nc, emqpsession.Settings{Acks: true})
				inform := emqp.InformWorker("i")
				if peer == emqp.TypeScheduler {
					inform = emqp.InformScheduler("i")
				}
				for range 4 {
					send(t, c, inform)
				}
				assert.Equal(t, want, string(next(t, c).Message.Parts[2]))
				if want != emqp.KBAI {
					assert.Equal(t, emqp.KBAI, string(next(t, c).Message.Parts[2]))
				}
				require.NoError(t, c.End(session.Closed))
			})
		})
	}
}

// A broker that acknowledges nothing holds up an INFORM for half a second.
func TestInformWithoutAck(t *testing.T) {
	t.Parallel()
	config := fakeemqp.Config{Hook: func(e *fakeemqp.Event) { e.Drop = e.IsFromBroker }}
	inBubble(t, config, func(t *testing.T, _ *fakeemqp.Broker, nc net.Conn) {
		c := begin(t, nc, emqpsession.Settings{})
		before := time.Now()
		send(t, c, emqp.InformWorker("i"))
		assert.Equal(t, 500*time.Millisecond, time.Since(before))
		require.NoError(t, c.Write(t.Context(), [][]byte{zmtp.Ping(0, []byte("x")).Append(nil)}, 0))
		assert.Equal(t, 1, c.Status().OwedMessages)
		assert.Equal(t, "PING", c.Status().Verb)
		r := next(t, c)
		assert.Equal(t, "PONG x", r.String())
		assert.Equal(t, session.Answer, r.Role)
		require.NoError(t, c.End(session.Closed))
	})
}
