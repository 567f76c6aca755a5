package record

import (
	"sync"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// what is what happened to a connection.
type what uint8

const (
	opened what = iota + 1
	fromClient
	fromServer
	ready // for more of the client's line
	closed
	lost // bytes did not fit into the queue: the connection is not judged any more
)

// item is something that happened to a connection. The data is valid until the next take of the queue.
type item struct {
	at    time.Duration
	conn  int
	what  what
	by    clientrules.Side
	reset bool
	data  []byte
}

// queue has what is to be judged. Two batches take turns, so that nothing is allocated once they are large enough.
type queue struct {
	mu      sync.Mutex
	ready   chan struct{}
	limit   int
	filling batch
	spare   batch
	skipped map[int]bool // connections that have lost bytes
	ended   bool
	endedAt time.Duration
	late    chan struct{} // closed when what is left is not judged any more
}

// hurry is how long what has passed is judged after the end of a recording.
const hurry = 5 * time.Second

type batch struct {
	items []item
	bytes []byte
}

// itemSize is about how much memory an item takes beside its data: a peer may send byte by byte.
const itemSize = 96

func newQueue(limit int) *queue {
	return &queue{ready: make(chan struct{}, 1), limit: limit, skipped: map[int]bool{}, late: make(chan struct{})}
}

// put adds an item, whose data it copies. It does not block.
func (q *queue) put(i item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return
	}
	if q.skipped[i.conn] {
		if i.what == closed {
			delete(q.skipped, i.conn)
		}
		return
	}
	if len(q.filling.bytes)+len(i.data)+(len(q.filling.items)+1)*itemSize > q.limit {
		q.skipped[i.conn] = true
		i = item{at: i.at, conn: i.conn, what: lost}
	}
	before := len(q.filling.bytes)
	q.filling.bytes = append(q.filling.bytes, i.data...)
	i.data = q.filling.bytes[before:]
	q.filling.items = append(q.filling.items, i)
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// end says that nothing more counts after a time.
func (q *queue) end(at time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ended {
		q.ended, q.endedAt = true, at
		time.AfterFunc(hurry, func() { close(q.late) })
	}
	q.wake()
}

// keptBytes is how much memory a batch keeps between two uses.
const keptBytes = 1 << 20

// take returns what there is, in order, and whether that was all. It does not block.
func (q *queue) take() (items []item, ended bool, at time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	full := q.filling
	q.filling = q.spare
	if cap(q.filling.bytes)+cap(q.filling.items)*itemSize > keptBytes {
		q.filling = batch{}
	}
	q.filling.items, q.filling.bytes = q.filling.items[:0], q.filling.bytes[:0]
	q.spare = full
	return full.items, q.ended, q.endedAt
}
