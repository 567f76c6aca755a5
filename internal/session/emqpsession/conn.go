package emqpsession

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/zmtp"
)

// Open returns a connection on which our greeting and READY are sent, and PINGs of the peer are answered as they are
// read; so are its HEARTBEATs, once we have sent an INFORM, unless heartbeats is set. An answer is written between
// two messages, never inside of one, and not at all after something that is not ZMTP was written. identity may be
// empty. It blocks until greeting and READY are written.
//
// A tester that wants to write these by itself does without Open.
func Open(nc net.Conn, identity string, heartbeats bool) (net.Conn, error) {
	c := &conn{Conn: nc, heartbeats: heartbeats, in: newStream(), out: newStream()}
	if _, err := c.Write(opening(identity)); err != nil {
		return nil, fmt.Errorf("send greeting and READY: %w", err)
	}
	return c, nil
}

// opening is what a DEALER sends first: its greeting and READY.
func opening(identity string) []byte {
	properties := zmtp.Metadata{{Name: zmtp.SocketType, Value: []byte(zmtp.DEALER)}}
	if identity != "" {
		properties = append(properties, zmtp.Property{Name: zmtp.Identity, Value: []byte(identity)})
	}
	return zmtp.Ready(properties).Append(zmtp.NewGreeting().Append(nil))
}

// conn follows both directions.
type conn struct {
	net.Conn
	heartbeats bool
	in         *stream // only the goroutine that reads uses it

	mu       sync.Mutex
	out      *stream
	informed bool
	waiting  []byte // answers that are written when the message that is being written is complete
	beats    int
}

// mostWaiting is how many bytes of answers wait for the end of a message of ours.
const mostWaiting = 4 << 10

// patience is how long a peer that does not read can hold up the answers, and the reading of what it sends.
const patience = 10 * time.Second

// NetConn returns the connection below.
func (c *conn) NetConn() net.Conn { return c.Conn }

// Read reads, and answers what has to be answered.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for item := range c.in.feed(p[:n]) {
		if item.Kind == zmtp.IsCommand && item.Command.Name == zmtp.PING {
			_, context, _ := zmtp.ParsePing(item.Command.Data) // the stream's reader has checked it
			c.answer(zmtp.Pong(context).Append(nil))
		}
		if item.Kind == zmtp.IsMessage && !c.heartbeats && isHeartbeat(item.Parts) {
			c.beat()
		}
	}
	return n, err
}

// beat answers a HEARTBEAT. (Heartbeating)
func (c *conn) beat() {
	c.mu.Lock()
	c.beats++
	informed, id := c.informed, fmt.Sprint("heartbeat-", c.beats)
	c.mu.Unlock()
	if informed {
		c.answer(zmtp.AppendMessage(nil, emqp.Heartbeat(id, time.Now()).Frames()...))
	}
}

// answer writes what is no part of the conversation. Whoever writes next finds out if it fails.
func (c *conn) answer(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting)+len(b) <= mostWaiting {
		c.waiting = append(c.waiting, b...)
	}
	c.flush()
}

// flush writes the answers that wait, if they may stand here; mu is held.
func (c *conn) flush() {
	if c.out.between() && len(c.waiting) > 0 {
		c.SetWriteDeadline(time.Now().Add(patience)) // that of the last write of others may be over
		_, _ = c.Conn.Write(c.waiting)
		c.waiting = nil
	}
}

// Write writes b, and then the answers that wait.
func (c *conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.Conn.Write(b)
	for item := range c.out.feed(b[:n]) {
		m, wrong := emqp.Parse(item.Parts)
		c.informed = c.informed || wrong == nil && m.Command == emqp.INFORM
	}
	if err == nil {
		c.flush()
	}
	return n, err
}

// CloseWrite shuts down our side.
func (c *conn) CloseWrite() error {
	if half, can := c.Conn.(interface{ CloseWrite() error }); can {
		return half.CloseWrite()
	}
	return fmt.Errorf("close the writing side: %w", net.ErrClosed)
}
