package client

import (
	"time"
)

// timetable is a heap of entries by due time, stable for equal times.
type timetable[T any] struct {
	entries []entry[T] // a binary heap
	count   uint64
}

type entry[T any] struct {
	at    time.Duration
	turn  uint64
	value T
}

func (e *entry[T]) before(other *entry[T]) bool {
	return e.at < other.at || e.at == other.at && e.turn < other.turn
}

func (t *timetable[T]) len() int { return len(t.entries) }

// next is the instant of the soonest entry; 0 if there is none.
func (t *timetable[T]) next() time.Duration {
	if len(t.entries) == 0 {
		return 0
	}
	return t.entries[0].at
}

// isDue reports whether the time of the soonest entry has come.
func (t *timetable[T]) isDue(now time.Duration) bool {
	return len(t.entries) > 0 && t.entries[0].at <= now
}

func (t *timetable[T]) add(at time.Duration, value T) {
	t.count++
	e := entry[T]{at, t.count, value}
	t.entries = append(t.entries, e)
	i := len(t.entries) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&t.entries[parent]) {
			break
		}
		t.entries[i] = t.entries[parent]
		i = parent
	}
	t.entries[i] = e
}

// take removes the soonest entry. There must be one.
func (t *timetable[T]) take() (time.Duration, T) {
	first := t.entries[0]
	last := len(t.entries) - 1
	lastEntry := t.entries[last]
	t.entries[last] = entry[T]{} // keeps nothing alive
	t.entries = t.entries[:last]
	if last > 0 {
		t.sink(lastEntry)
	}
	return first.at, first.value
}

// sink finds the place of an entry from the top down.
func (t *timetable[T]) sink(e entry[T]) {
	i := 0
	for {
		child := 2*i + 1
		if child >= len(t.entries) {
			break
		}
		if right := child + 1; right < len(t.entries) && t.entries[right].before(&t.entries[child]) {
			child = right
		}
		if !t.entries[child].before(&e) {
			break
		}
		t.entries[i] = t.entries[child]
		i = child
	}
	t.entries[i] = e
}

// queue is first in, first out. Its memory grows to the most that it ever held, and
// stays.
type queue[T any] struct {
	ring  []T
	first int
	n     int
}

func (q *queue[T]) len() int { return q.n }

func (q *queue[T]) push(item T) {
	if q.n == len(q.ring) {
		ring := make([]T, max(4, 2*len(q.ring)))
		for i := range q.n {
			ring[i] = q.ring[(q.first+i)%len(q.ring)]
		}
		q.ring, q.first = ring, 0
	}
	q.ring[(q.first+q.n)%len(q.ring)] = item
	q.n++
}

// pop removes the oldest item; false if there is none.
func (q *queue[T]) pop() (item T, ok bool) {
	if q.n == 0 {
		return item, false
	}
	var none T
	item, q.ring[q.first] = q.ring[q.first], none
	q.first = (q.first + 1) % len(q.ring)
	q.n--
	return item, true
}
