package store

import (
	"container/heap"
	"time"
)

// Held is a job with the time at which it is due: of a job that a worker holds, the end of its reservation.
type Held[J Job] struct {
	Job J

	due   time.Time
	index int      // in its timeline, -1 if it is in none
	next  *Held[J] // reservations: an older one of the same id
}

// timeline is a heap by due time, used through its methods add, cut and first.
type timeline[J Job] struct{ items []*Held[J] }

func (l *timeline[J]) add(h *Held[J]) { heap.Push((*byTime[J])(l), h) }

func (l *timeline[J]) cut(h *Held[J]) {
	if h.index >= 0 {
		heap.Remove((*byTime[J])(l), h.index)
	}
}

// first returns the earliest one, nil if there is none.
func (l *timeline[J]) first() *Held[J] {
	if len(l.items) == 0 {
		return nil
	}
	return l.items[0]
}

type byTime[J Job] timeline[J]

func (b *byTime[J]) Len() int           { return len(b.items) }
func (b *byTime[J]) Less(i, j int) bool { return b.items[i].due.Before(b.items[j].due) }

func (b *byTime[J]) Swap(i, j int) {
	b.items[i], b.items[j] = b.items[j], b.items[i]
	b.items[i].index, b.items[j].index = i, j
}

func (b *byTime[J]) Push(x any) {
	h := x.(*Held[J])
	h.index = len(b.items)
	b.items = append(b.items, h)
}

func (b *byTime[J]) Pop() any {
	last := len(b.items) - 1
	h := b.items[last]
	b.items[last] = nil
	b.items = b.items[:last]
	h.index = -1
	return h
}
