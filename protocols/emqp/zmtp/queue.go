package zmtp

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
)

// store counts the octets in the queues of one direction of a socket.
type store struct {
	mu      sync.Mutex
	octets  int
	limit   int
	total   *atomic.Int64 // of several stores together, which limit is for then; nil: of this one alone
	changed chan struct{} // closed and replaced whenever anything changes
}

func newStore(limit int, total *atomic.Int64) *store {
	return &store{limit: limit, total: total, changed: make(chan struct{})}
}

// change tells all that wait; mu is held.
func (s *store) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// queue has the messages of one peer in one direction.
type queue[T any] struct {
	*store
	list     []entry[T]
	limit    int   // messages
	closeErr error // why nothing is put any more
}

type entry[T any] struct {
	value  T
	octets int
}

func newQueue[T any](s *store, limit int) *queue[T] { return &queue[T]{store: s, limit: limit} }

// hasRoom reports whether a message finds room; mu is held. One that is larger than all the memory finds it where no
// other waits.
func (q *queue[T]) hasRoom(n int) bool {
	size := q.octets
	if q.total != nil {
		size = int(q.total.Load())
	}
	return len(q.list) < q.limit && (size == 0 || size+n <= q.store.limit)
}

// tryPut puts a message, or returns ErrFull.
func (q *queue[T]) tryPut(v T, octets int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closeErr != nil:
		return q.closeErr
	case !q.hasRoom(octets):
		return ErrFull
	}
	q.list = append(q.list, entry[T]{v, octets})
	q.count(octets)
	q.change()
	return nil
}

// count counts octets that are put or taken; mu is held.
func (q *queue[T]) count(n int) {
	q.octets += n
	if q.total != nil {
		q.total.Add(int64(n))
	}
}

// put waits until there is room.
func (q *queue[T]) put(ctx context.Context, v T, octets int) error {
	for {
		q.mu.Lock()
		changed := q.changed
		q.mu.Unlock()
		if err := q.tryPut(v, octets); err != ErrFull { //nolint:errorlint // it is never wrapped
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// get waits for a message and takes it. What was put before the queue was closed can still be taken.
func (q *queue[T]) get(ctx context.Context) (v T, err error) {
	for {
		q.mu.Lock()
		changed, closeErr := q.changed, q.closeErr
		v, ok := q.take()
		q.mu.Unlock()
		switch {
		case ok:
			return v, nil
		case closeErr != nil:
			return v, closeErr
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return v, context.Cause(ctx)
		}
	}
}

// take takes the first message if there is one; mu is held.
func (q *queue[T]) take() (v T, ok bool) {
	if len(q.list) == 0 {
		return v, false
	}
	first := q.list[0]
	q.list[0] = entry[T]{}
	q.list = q.list[1:]
	q.count(-first.octets)
	q.change()
	return first.value, true
}

// close lets nothing more in; drop gives up what is there as well.
func (q *queue[T]) close(err error, drop bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closeErr = cmp.Or(q.closeErr, err)
	for drop {
		if _, ok := q.take(); !ok {
			break
		}
	}
	q.change()
}

func octets(parts [][]byte) int {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	return n
}
