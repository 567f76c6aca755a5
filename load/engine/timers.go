package engine

import "time"

// timers is a binary heap of the links that have a wake, the earliest first. Each link
// knows its place, so that its wake can be changed.
type timers []*Link

// next returns the earliest wake, 0 if there is none.
func (h timers) next() time.Duration {
	if len(h) == 0 {
		return 0
	}
	return h[0].wake
}

// isDue reports whether the wake of the first link has come.
func (h timers) isDue(now time.Duration) bool { return len(h) > 0 && h[0].wake <= now }

// set changes the wake of k; 0 takes it out.
func (h *timers) set(k *Link, wake time.Duration) {
	before := k.wake
	k.wake = wake
	switch {
	case wake == before:
	case wake == 0:
		h.remove(k.place)
	case before == 0:
		*h = append(*h, k)
		h.up(k, len(*h)-1)
	case wake < before:
		h.up(k, k.place)
	default:
		h.down(k, k.place)
	}
}

// remove closes the gap at place i with the last link.
func (h *timers) remove(i int) {
	last := len(*h) - 1
	k := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	if i < last {
		h.up(k, i)
		h.down(k, k.place)
	}
}

// up puts k at place i or, past later ones, nearer to the top.
func (h timers) up(k *Link, i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent].wake <= k.wake {
			break
		}
		h.put(h[parent], i)
		i = parent
	}
	h.put(k, i)
}

// down puts k at place i or, past earlier ones, farther from the top.
func (h timers) down(k *Link, i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if right := child + 1; right < len(h) && h[right].wake < h[child].wake {
			child = right
		}
		if k.wake <= h[child].wake {
			break
		}
		h.put(h[child], i)
		i = child
	}
	h.put(k, i)
}

func (h timers) put(k *Link, i int) {
	h[i] = k
	k.place = i
}
