package fakes

import (
	"container/heap"
	"time"
)

// timed is a job that something will happen to at a certain time.
type timed struct {
	*job
	due   time.Time
	index int    // in its timeline, -1 if it is in none
	next  *timed // reservations: an older one of the same jid
}

// timeline gives what is due next. It is a heap, used through its methods add, cut
// and first.
type timeline struct{ items []*timed }

func (l *timeline) add(t *timed) { heap.Push((*byTime)(l), t) }

func (l *timeline) cut(t *timed) {
	if t.index >= 0 {
		heap.Remove((*byTime)(l), t.index)
	}
}

// first is the earliest one, nil if there is none.
func (l *timeline) first() *timed {
	if len(l.items) == 0 {
		return nil
	}
	return l.items[0]
}

type byTime timeline

func (h *byTime) Len() int           { return len(h.items) }
func (h *byTime) Less(i, j int) bool { return h.items[i].due.Before(h.items[j].due) }

func (h *byTime) Swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	h.items[i].index, h.items[j].index = i, j
}

func (h *byTime) Push(x any) {
	t := x.(*timed)
	t.index = len(h.items)
	h.items = append(h.items, t)
}

func (h *byTime) Pop() any {
	last := len(h.items) - 1
	t := h.items[last]
	h.items[last] = nil
	h.items = h.items[:last]
	t.index = -1
	return t
}
