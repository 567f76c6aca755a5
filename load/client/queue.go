package client

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
		grown := make([]T, max(4, 2*len(q.ring)))
		for i := range q.n {
			grown[i] = q.ring[(q.first+i)%len(q.ring)]
		}
		q.ring, q.first = grown, 0
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
