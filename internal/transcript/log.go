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
	l.events = append(l.events, Event{At: time.Since(l.began), Conn: conn, Kind: kind, Bytes: slices.Clone(b)})
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

// Tap returns a connection of which the log has what is read, from one side, and what is written, to it.
func (l *Log) Tap(nc net.Conn, conn string, from Kind) net.Conn { return &tap{nc, l, conn, from} }

type tap struct {
	net.Conn

	log  *Log
	name string
	from Kind // Client or Server
}

// Read logs what it returns.
func (t *tap) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	if n > 0 {
		t.log.Add(t.name, t.from, b[:n])
	}
	switch {
	case errors.Is(err, syscall.ECONNRESET):
		t.log.Add(t.name, t.from+toEnd, []byte("reset"))
	case errors.Is(err, io.EOF):
		t.log.Add(t.name, t.from+toEnd, []byte("fin"))
	}
	return n, err
}

// Write logs what it is called with.
func (t *tap) Write(b []byte) (int, error) {
	t.log.Add(t.name, Client+Server-t.from, b)
	return t.Conn.Write(b)
}

// end ends the connection, and logs it.
func (t *tap) end(ending []byte) {
	t.log.Add(t.name, Client+Server-t.from+toEnd, ending)
	switch tcp := t.Conn.(interface { // of TCP, or of memnet
		CloseWrite() error
		SetLinger(sec int) error
	}); string(ending) {
	case "fin":
		_ = tcp.CloseWrite()
	case "reset":
		_ = tcp.SetLinger(0)
		fallthrough
	default:
		t.Close()
	}
}

// Clients holds a conversation with a server as its clients.
type Clients struct {
	*Log

	Dial  func() net.Conn
	Wait  func()      // until the server has done what it does now
	Other func(Event) // does what the kind Other says; "open" is known
	conns map[string]*tap
}

// Hold does what the events say of clients, each at its time, and has the server answer. A connection is opened at its
// first use.
func (t *Clients) Hold(events []Event) {
	for _, e := range events {
		if d := time.Until(t.began.Add(e.At)); d > 0 {
			time.Sleep(d)
			t.Wait() // what the server does by then comes first
		}
		switch {
		case e.Kind == Client:
			t.Send(e.Conn, e.Bytes)
		case e.Kind == ClientEnd:
			t.conn(e.Conn).end(e.Bytes)
		case e.Kind == Other && string(e.Bytes) == "open":
			t.conn(e.Conn)
		case e.Kind == Other:
			t.Other(e)
		}
		t.Wait()
	}
}

// Send has a client send bytes.
func (t *Clients) Send(conn string, b []byte) {
	_, _ = t.conn(conn).Write(b) // a server may have closed it
}

// conn returns a connection.
func (t *Clients) conn(name string) *tap {
	if t.conns == nil {
		t.conns = map[string]*tap{}
	}
	if t.conns[name] == nil {
		nc := &tap{t.Dial(), t.Log, name, Server}
		t.conns[name] = nc
		go func() { _, _ = io.Copy(io.Discard, nc) }()
		t.Wait() // for a greeting
	}
	return t.conns[name]
}

// Close closes the connections.
func (t *Clients) Close() {
	for _, nc := range t.conns {
		nc.Close()
	}
}
