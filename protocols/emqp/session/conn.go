package session

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// Settings are those of one connection.
type Settings struct {
	Identity   string // announced in READY; empty: none is
	Heartbeats bool   // HEARTBEATs of the broker are messages of the conversation, and whoever uses that answers them
	Silent     bool   // HEARTBEATs of the broker are neither answered nor messages of the conversation
	Acks       bool   // ACKs of the broker are messages of the conversation
}

// Open returns a connection on which our greeting and READY are sent, and the protocol for the conversation on it.
// PINGs of the broker are answered as they are read, and one for a broker of ZMTP 3.0 in its place. So are its
// HEARTBEATs, once we have sent an INFORM, unless they are messages of the conversation. An answer is written between
// two messages, never inside of one, and not at all after something that is not ZMTP was written. A write of an INFORM
// returns when the broker has acknowledged it, but half a second later at the latest: the document asks for no ACK.
//
// Open blocks until greeting and READY are written. A tester that wants to write these by itself does without Open.
func Open(nc net.Conn, s Settings) (net.Conn, session.Codec, error) {
	c := &conn{
		ponger: ponger{Conn: nc}, answersBeats: !s.Heartbeats && !s.Silent, in: newStream(), out: newStream(),
		sentIDs: &sentIDs{ids: map[string]chan struct{}{}},
	}
	if _, err := c.Write(handshake(s.Identity)); err != nil {
		return nil, nil, fmt.Errorf("send greeting and READY: %w", err)
	}
	return c, Codec{Heartbeats: s.Heartbeats, Acks: s.Acks, sentIDs: c.sentIDs}, nil
}

// handshake is what a DEALER sends first: its greeting and READY.
func handshake(identity string) []byte {
	properties := zmtp.Metadata{{Name: zmtp.SocketType, Value: []byte(zmtp.DEALER)}}
	if identity != "" {
		properties = append(properties, zmtp.Property{Name: zmtp.Identity, Value: []byte(identity)})
	}
	return zmtp.Ready(properties).Append(zmtp.NewGreeting().Append(nil))
}

// sentIDs has the ids of the messages that were sent on a connection, each with a channel that is closed when the
// broker has acknowledged it. It is safe for concurrent use.
type sentIDs struct {
	mu       sync.Mutex
	ids      map[string]chan struct{}
	isWorker atomic.Bool // an INFORM of a worker was sent
}

// add notes an id and returns its channel.
func (s *sentIDs) add(id string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids[id] == nil {
		s.ids[id] = make(chan struct{})
	}
	return s.ids[id]
}

// acknowledge notes an ACK. It returns false if no message with the id was sent.
func (s *sentIDs) acknowledge(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	done, ok := s.ids[id]
	if !ok {
		return false
	}
	select {
	case <-done:
	default:
		close(done)
	}
	return true
}

// conn follows both directions.
type conn struct {
	ponger
	answersBeats bool    // HEARTBEATs are answered
	in           *stream // only the goroutine that reads uses it
	sentIDs      *sentIDs

	mu          sync.Mutex
	out         *stream
	hasInformed bool
	answers     []byte // answers that are written when the message that is being written is complete
	count       int    // of our HEARTBEATs
}

// maxAnswers is how many bytes of answers wait for the end of a message of ours.
const maxAnswers = 4 << 10

// answerTimeout is how long a peer that does not read can hold up the answers, and the reading of what it sends.
const answerTimeout = 10 * time.Second

// ackTimeout is how long a write of an INFORM waits for the ACK.
const ackTimeout = 500 * time.Millisecond

// NetConn returns the connection below.
func (c *conn) NetConn() net.Conn { return c.Conn }

// Read reads, and answers what has to be answered.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.read(p, c.in.isBetween())
	for item := range c.in.feed(p[:n]) {
		if item.Kind == zmtp.IsGreeting {
			c.setVersion(item.Greeting.Version)
		}
		if item.Kind == zmtp.IsCommand && item.Command.Name == zmtp.PING {
			_, context, _ := zmtp.ParsePing(item.Command.Data) // the stream's reader has checked it
			c.answer(zmtp.Pong(context).Append(nil))
		}
		if item.Kind != zmtp.IsMessage {
			continue
		}
		m, wrong := emqp.Parse(item.Parts)
		for wrong != nil && item.Parts != nil { // what comes of it is the same
			item.Parts = emqp.Mend(item.Parts)
			m, wrong = emqp.Parse(item.Parts)
		}
		switch {
		case wrong != nil:
		case m.Command == emqp.ACK:
			c.sentIDs.acknowledge(string(m.Fields[0]))
		case m.Command == emqp.HEARTBEAT && c.answersBeats:
			c.beat()
		}
	}
	return n, err
}

// beat answers a HEARTBEAT. (Heartbeating)
func (c *conn) beat() {
	c.mu.Lock()
	c.count++
	hasInformed, id := c.hasInformed, fmt.Sprint("heartbeat-", c.count)
	c.mu.Unlock()
	if hasInformed {
		c.sentIDs.add(id)
		c.answer(zmtp.AppendMessage(nil, emqp.Heartbeat(id, time.Now()).Frames()...))
	}
}

// answer writes what is no part of the conversation. If that fails, the next write of the conversation fails too.
func (c *conn) answer(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.answers)+len(b) <= maxAnswers {
		c.answers = append(c.answers, b...)
	}
	c.flush()
}

// flush writes the answers that wait, if they may stand here; mu is held.
func (c *conn) flush() {
	if c.out.isBetween() && len(c.answers) > 0 {
		c.SetWriteDeadline(time.Now().Add(answerTimeout)) // that of the last write of others may be over
		_, _ = c.Conn.Write(c.answers)
		c.answers = nil
	}
}

// Write writes b, and then the answers that wait.
func (c *conn) Write(b []byte) (int, error) {
	n, ack, err := c.write(b)
	if err != nil || ack == nil {
		return n, err
	}
	timer := time.NewTimer(ackTimeout)
	defer timer.Stop()
	select {
	case <-ack:
	case <-timer.C:
	}
	return n, nil
}

// write is Write without the wait. It returns a channel that is closed when the last INFORM in b is acknowledged, nil
// if there is none.
func (c *conn) write(b []byte) (n int, ack <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for item := range c.out.feed(b) { // before the answer can be read
		if len(b) == len(item.Command.Append(nil)) && c.answerPing(item) {
			return len(b), nil, nil
		}
		if m, wrong := emqp.Parse(item.Parts); wrong == nil {
			done := c.sentIDs.add(m.ID)
			if m.Command == emqp.INFORM {
				c.hasInformed, ack = true, done
				c.sentIDs.isWorker.Store(string(m.Fields[1]) == emqp.TypeWorker)
			}
		} else if len(item.Parts) > 3 { // a broker may acknowledge what is malformed
			c.sentIDs.add(string(item.Parts[3]))
		}
	}
	n, err = c.Conn.Write(b)
	if n < len(b) {
		c.out.isBroken = true
	}
	if err == nil {
		c.flush()
	}
	return n, ack, err
}

// CloseWrite shuts down our side.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return fmt.Errorf("close the writing side: %w", net.ErrClosed)
}
