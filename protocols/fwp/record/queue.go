package record

import (
	"sync"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// itemKind is what happened to a connection.
type itemKind uint8

const (
	connOpen itemKind = iota + 1
	clientData
	serverData
	clientReady // for more of the client's line
	connClose
	dataLoss // bytes did not fit into the queue: the connection is not judged any more
)

// item is something that happened to a connection. The data is valid until the next take of the queue.
type item struct {
	at      time.Duration
	conn    int
	kind    itemKind
	closer  clientrules.Side
	isReset bool
	data    []byte
}

// queue has what is to be judged. Two batches take turns, so that nothing is allocated once they are large enough.
type queue struct {
	mu         sync.Mutex
	ready      chan struct{}
	limit      int
	filling    batch
	spare      batch
	lossyConns map[int]bool // connections that have lost bytes
	hasEnded   bool
	endTime    time.Duration
	expired    chan struct{} // closed when what is left is not judged any more
}

// drainLimit is how long what has passed is judged after the end of a recording.
const drainLimit = 5 * time.Second

type batch struct {
	items []item
	bytes []byte
}

// itemSize is about how much memory an item takes beside its data: a peer may send byte by byte.
const itemSize = 96

func newQueue(limit int) *queue {
	return &queue{ready: make(chan struct{}, 1), limit: limit, lossyConns: map[int]bool{}, expired: make(chan struct{})}
}

// put adds an item, whose data it copies. It does not block.
func (q *queue) put(i item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.hasEnded {
		return
	}
	if q.lossyConns[i.conn] {
		if i.kind == connClose {
			delete(q.lossyConns, i.conn)
		}
		return
	}
	if len(q.filling.bytes)+len(i.data)+(len(q.filling.items)+1)*itemSize > q.limit {
		q.lossyConns[i.conn] = true
		i = item{at: i.at, conn: i.conn, kind: dataLoss}
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
	if !q.hasEnded {
		q.hasEnded, q.endTime = true, at
		time.AfterFunc(drainLimit, func() { close(q.expired) })
	}
	q.wake()
}

// maxBatchBytes is how much memory a batch keeps between two uses.
const maxBatchBytes = 1 << 20

// take returns what there is, in order, and whether that was all. It does not block.
func (q *queue) take() (items []item, hasEnded bool, at time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	full := q.filling
	q.filling = q.spare
	if cap(q.filling.bytes)+cap(q.filling.items)*itemSize > maxBatchBytes {
		q.filling = batch{}
	}
	q.filling.items, q.filling.bytes = q.filling.items[:0], q.filling.bytes[:0]
	q.spare = full
	return full.items, q.hasEnded, q.endTime
}
