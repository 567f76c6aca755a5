package clientrules

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// maxInFlight bounds the commands of one connection that wait for a reply; a client that conforms has one.
const maxInFlight = 1024

// Builder turns the bytes of connections, in both directions, into events. It keeps the beginning of a line and of a
// reply of each open connection, at most MaxMessage bytes each and MaxKeptBytes together. A connection that has more
// than that, or more than a hundred thousand JSON values in one reply, is lost. It is not safe for concurrent use.
//
// Call Server before the bytes are passed on to the client, and Client before they are passed on to the server: then
// the events are in an order that the client's view allows, and a client that waits for a reply is never seen to be
// early.
type Builder struct {
	// KeptBytes counts the bytes that are kept; builders with the same one have MaxKeptBytes together. NewBuilder sets
	// one.
	KeptBytes *atomic.Int64

	sink  func(Event)
	conns map[int]*wire
}

const (
	// MaxKeptBytes bounds the beginnings of lines and of replies of all connections, in bytes.
	MaxKeptBytes = 32 << 20
	// maxValues bounds the JSON values of a line or of a reply: each takes many times its bytes when it is read.
	maxValues = 100_000
	// maxArray is the length of an array from which on it is not read: no reply of the specification is one.
	maxArray = 64 << 10
	// maxHello bounds a greeting and a HELLO, in bytes: what they say is kept as long as the connection.
	maxHello = 64 << 10
)

// exceedsMaxValues reports whether a message may have more values than maxValues.
func exceedsMaxValues(message []byte) bool {
	if len(message) <= maxValues {
		return false
	}
	return bytes.Count(message, []byte{','})+bytes.Count(message, []byte{'['})+bytes.Count(message,
		[]byte{'{'}) > maxValues
}

// countBytes counts what a connection keeps. If all of them keep too much, this one is lost.
func (b *Builder) countBytes(at time.Duration, conn int, w *wire) {
	if b.conns[conn] != w {
		return
	}
	size := len(w.clientBytes) + len(w.serverBytes)
	all := b.KeptBytes.Add(int64(size - w.countedBytes))
	w.countedBytes = size
	if all > MaxKeptBytes {
		b.Lose(at, conn)
	}
}

// drop forgets a connection.
func (b *Builder) drop(conn int, w *wire) {
	delete(b.conns, conn)
	b.KeptBytes.Add(-int64(w.countedBytes))
}

// finish forgets a connection, and returns it if its end is news.
func (b *Builder) finish(conn int) *wire {
	w := b.conns[conn]
	if w == nil {
		return nil
	}
	if b.drop(conn, w); w.isShut {
		return nil
	}
	return w
}

// Release counts out what the connections have that are open, when the builder is not used any more.
func (b *Builder) Release() {
	for conn, w := range b.conns {
		b.drop(conn, w)
	}
}

// NewBuilder returns a Builder that hands each event to sink, in order.
func NewBuilder(sink func(Event)) *Builder {
	return &Builder{KeptBytes: new(atomic.Int64), sink: sink, conns: map[int]*wire{}}
}

// wire is what a Builder knows of one connection.
type wire struct {
	process      int
	clientBytes  []byte        // the beginning of a line
	skippedBytes int           // bytes of a line that is too long, those that are not kept
	startTime    time.Duration // when the first of both came
	readyTime    time.Duration // when the reader waited for more of them, 0 if it does not
	serverBytes  []byte        // the beginning of a reply
	countedBytes int           // bytes of both that are counted
	isGreeted    bool          // the server's first reply has been seen
	isShut       bool          // the server has closed its side
	worker       string        // the wid of its HELLO
	inFlight     []string      // the verbs of commands that are not answered
	// isServerUnread says that the server's bytes are not read any more; isUnmatched, that too many commands wait for
	// their replies, so that these are not assigned.
	isServerUnread, isUnmatched bool
}

// event returns an event of a connection.
func (w *wire) event(at time.Duration, conn int, kind Kind) Event {
	return Event{At: at, Conn: conn, Process: w.process, Worker: w.worker, Kind: kind}
}

// Open notes a new connection with a number of its own. Process is 0 if it is not known.
func (b *Builder) Open(at time.Duration, conn, process int) {
	w := &wire{process: process}
	b.conns[conn] = w
	b.sink(w.event(at, conn, ConnOpen))
}

// Client takes bytes that the client sent. Those of a connection that is not open are ignored.
func (b *Builder) Client(at time.Duration, conn int, data []byte) {
	w := b.conns[conn]
	if w == nil {
		return
	}
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			if len(w.clientBytes) == 0 {
				w.startTime = at
			}
			w.readyTime = 0
			w.keep(data)
			break
		}
		b.line(at, conn, w, data[:end+1])
		if b.conns[conn] != w {
			return // it is lost
		}
		data = data[end+1:]
	}
	b.countBytes(at, conn, w)
}

// keep keeps the beginning of a line.
func (w *wire) keep(data []byte) {
	room := max(0, MaxMessage-len(w.clientBytes))
	if len(data) > room {
		w.skippedBytes += len(data) - room
		data = data[:room]
	}
	w.clientBytes = append(w.clientBytes, data...)
}

func (b *Builder) line(at time.Duration, conn int, w *wire, rest []byte) {
	e := w.event(at, conn, Line)
	if w.isShut {
		e.Kind = LineAfterClose
	}
	if len(w.clientBytes) > 0 {
		w.keep(rest)
		rest = w.clientBytes
	}
	if w.skippedBytes > 0 || exceedsMaxValues(rest) {
		readLongLine(&e, rest[:min(len(rest), maxShown)], len(rest)+w.skippedBytes)
	} else {
		readLine(&e, rest)
	}
	w.skippedBytes, w.readyTime = 0, 0 // a client may rest between two lines
	w.clientBytes = reuse(w.clientBytes)
	if e.Verb() == fwp.HELLO {
		if e.Size > maxHello {
			b.Lose(at, conn)
			return
		}
		w.worker = e.Text("wid")
		e.Worker = w.worker
	}
	if len(w.inFlight) < maxInFlight {
		w.inFlight = append(w.inFlight, e.Command.Verb)
	} else {
		w.isUnmatched = true
	}
	b.sink(e)
}

// reuse returns an empty slice, on the same memory unless that is large.
func reuse(b []byte) []byte {
	if cap(b) > 4<<10 {
		return nil
	}
	return b[:0]
}

// Server takes bytes that the server sent.
func (b *Builder) Server(at time.Duration, conn int, data []byte) {
	w := b.conns[conn]
	if w == nil || w.isServerUnread {
		return
	}
	pending := data
	if len(w.serverBytes) > 0 {
		w.serverBytes = append(w.serverBytes, data...)
		pending = w.serverBytes
	}
	for len(pending) > 0 {
		r, n, err := fwp.Decode(pending, MaxMessage)
		isShort := errors.Is(err, fwp.ErrShort)
		if isShort && pending[0] == '*' && len(pending) > maxArray ||
			err == nil && (exceedsMaxValues(pending[:n]) || !w.isGreeted && n > maxHello) {
			b.Lose(at, conn)
			return
		}
		if isShort {
			break
		}
		if err != nil {
			b.emitBroken(at, conn, w, err)
			return
		}
		b.reply(at, conn, w, r.Clone())
		pending = pending[n:]
	}
	w.serverBytes = append(reuse(w.serverBytes), pending...)
	b.countBytes(at, conn, w)
}

func (b *Builder) emitBroken(at time.Duration, conn int, w *wire, err error) {
	w.isServerUnread, w.serverBytes = true, nil
	b.countBytes(at, conn, w)
	e := w.event(at, conn, BrokenReply)
	if !errors.As(err, &e.Syntax) {
		e.Syntax = &fwp.SyntaxError{Expected: "a reply", Got: err.Error()}
	}
	if e.IsExtra = w.isGreeted && (w.isUnmatched || len(w.inFlight) == 0); w.isGreeted && !e.IsExtra {
		e.ReplyVerb = w.inFlight[0]
	}
	b.sink(e)
}

func (b *Builder) reply(at time.Duration, conn int, w *wire, r fwp.Reply) {
	e := w.event(at, conn, Reply)
	e.Reply = r
	switch {
	case !w.isGreeted:
		w.isGreeted, e.IsGreeting = true, true
	case len(w.inFlight) == 0:
		e.IsExtra = true
	case !w.isUnmatched:
		e.ReplyVerb = w.inFlight[0]
		w.inFlight = append(w.inFlight[:0], w.inFlight[1:]...)
		if e.ReplyVerb == fwp.FETCH && r.Kind == fwp.BulkString {
			e.Job = readJob(r.Text)
		}
	}
	b.sink(e)
}

// Shut notes that the server has closed its side of the connection, in order, and reads on: lines of the client are
// events of kind LineAfterClose until Close, which is no event then.
func (b *Builder) Shut(at time.Duration, conn int) {
	if w := b.conns[conn]; w != nil && !w.isShut {
		w.isShut = true
		e := w.event(at, conn, ConnClose)
		e.Closer, e.IsReset, e.ServerReads = Server, len(w.serverBytes) > 0, true
		b.sink(e)
	}
}

// Close notes that a side closed the connection; reset says that it did not do so in order. Later bytes are ignored.
func (b *Builder) Close(at time.Duration, conn int, by Side, reset bool) {
	w := b.finish(conn)
	if w == nil {
		return
	}
	isUnfinished := by == Client && len(w.clientBytes) > 0 || by == Server && len(w.serverBytes) > 0
	e := w.event(at, conn, ConnClose)
	e.Closer, e.IsReset = by, reset || isUnfinished
	if by == Client && !reset {
		w.fillUnfinished(&e)
	}
	b.sink(e)
}

// fillUnfinished fills in what is there of a line that is not over.
func (w *wire) fillUnfinished(e *Event) {
	e.Raw, e.Size = bytes.Clone(w.clientBytes[:min(len(w.clientBytes), maxShown)]), len(w.clientBytes)+w.skippedBytes
	if e.SendTime = e.At - w.startTime; w.readyTime > 0 {
		e.IdleTime = e.At - w.readyTime
	}
}

// Ready notes that what the client has sent by now was passed on, and more is waited for: a client that sends the rest
// of a line much later was not kept from it. Without it none is taken to be idle.
func (b *Builder) Ready(at time.Duration, conn int) {
	if w := b.conns[conn]; w != nil && len(w.clientBytes) > 0 {
		w.readyTime = at
	}
}

// End notes that nothing more is recorded, while connections are open: an event of kind UnfinishedLine for each on
// which a line is not over.
func (b *Builder) End(at time.Duration) {
	for _, conn := range slices.Sorted(maps.Keys(b.conns)) {
		if w := b.conns[conn]; len(w.clientBytes) > 0 && !w.isShut {
			e := w.event(at, conn, UnfinishedLine)
			w.fillUnfinished(&e)
			b.sink(e)
		}
	}
}

// Lose notes that bytes of a connection were lost, so that nothing about it, or about its worker, can be judged.
func (b *Builder) Lose(at time.Duration, conn int) {
	if w := b.finish(conn); w != nil {
		b.sink(w.event(at, conn, ByteLoss))
	}
}

// LoseAll is Lose for each connection that is open, in the order of their numbers.
func (b *Builder) LoseAll(at time.Duration) {
	for _, conn := range slices.Sorted(maps.Keys(b.conns)) {
		b.Lose(at, conn)
	}
}

// Process notes what happened to a client's process: an event of kind ProcessStart, ProcessSignal or ProcessExit. It
// fills in the time and the number.
func (b *Builder) Process(at time.Duration, process int, e Event) {
	e.At, e.Process = at, process
	b.sink(e)
}
