package transcript

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Log keeps a conversation. It is safe for concurrent use.
type Log struct {
	began time.Time

	mu     sync.Mutex
	events []Event
}

// NewLog returns a log of what happens from now on.
func NewLog() *Log { return &Log{began: time.Now()} }

// Add adds an event that happens now.
func (l *Log) Add(conn string, kind Kind, b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, Event{time.Since(l.began), conn, kind, slices.Clone(b)})
}

// Events returns what has happened by time, and by connection at the same time, since which of two is first there may
// be chance. So is how bytes fall into reads: what a side sends at one time is one event.
func (l *Log) Events() (events []Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.Clone(l.events)
	slices.SortStableFunc(all, func(a, b Event) int {
		if a.At != b.At {
			return int(a.At - b.At)
		}
		return strings.Compare(a.Conn, b.Conn)
	})
	for _, e := range all {
		if n := len(events) - 1; n >= 0 && e.Kind != Other && len(e.Bytes) > 0 {
			if last := &events[n]; last.At == e.At && last.Conn == e.Conn && last.Kind == e.Kind {
				last.Bytes = slices.Concat(last.Bytes, e.Bytes)
				continue
			}
		}
		events = append(events, e)
	}
	return events
}

// read logs what a side sends, until it ends the connection or this side does.
func (l *Log) read(conn string, nc io.Reader, from, end Kind) {
	for buffer := make([]byte, 64<<10); ; {
		n, err := nc.Read(buffer)
		if n > 0 {
			l.Add(conn, from, buffer[:n])
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, syscall.ECONNRESET):
			l.Add(conn, end, []byte("reset"))
		case errors.Is(err, io.EOF):
			l.Add(conn, end, []byte("fin"))
		}
		return
	}
}

// Talk holds a conversation with a server as its clients.
type Talk struct {
	*Log

	Dial  func() net.Conn
	Wait  func()      // until the server has done what it does now
	Other func(Event) // does what the kind Other says; "open" is known
	conns map[string]net.Conn
}

// Hold does what the events say of clients, each at its time, and has the server answer. A connection is opened at its
// first use.
func (t *Talk) Hold(events []Event) {
	for _, e := range events {
		if d := time.Until(t.began.Add(e.At)); d > 0 {
			time.Sleep(d)
			t.Wait() // what the server does by then comes first
		}
		switch {
		case e.Kind == Client:
			t.Send(e.Conn, e.Bytes)
		case e.Kind == ClientEnd:
			nc := t.conn(e.Conn)
			t.Add(e.Conn, ClientEnd, e.Bytes)
			t.end(nc, string(e.Bytes))
		case e.Kind == Other && string(e.Bytes) == "open":
			t.conn(e.Conn)
		case e.Kind == Other:
			t.Other(e)
		}
		t.Wait()
	}
}

// Send has a client send bytes.
func (t *Talk) Send(conn string, b []byte) {
	nc := t.conn(conn)
	t.Add(conn, Client, b)
	_, _ = nc.Write(b) // a server may have closed it
}

// conn returns a connection.
func (t *Talk) conn(name string) net.Conn {
	if t.conns == nil {
		t.conns = map[string]net.Conn{}
	}
	if t.conns[name] == nil {
		nc := t.Dial()
		t.conns[name] = nc
		go t.read(name, nc, Server, ServerEnd)
		t.Wait() // for a greeting
	}
	return t.conns[name]
}

func (t *Talk) end(nc net.Conn, how string) {
	switch tcp := nc.(interface {
		CloseWrite() error
		SetLinger(sec int) error
	}); how {
	case "fin":
		_ = tcp.CloseWrite()
		return
	case "reset":
		_ = tcp.SetLinger(0)
	}
	nc.Close()
}

// Close closes the connections.
func (t *Talk) Close() {
	for _, nc := range t.conns {
		nc.Close()
	}
}
