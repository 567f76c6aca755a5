package store

import "slices"

// Pause has a queue give no jobs to consumers, or give them again, also those that wait.
func (st *Store[J, E]) Pause(by E, name string, paused bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	q := st.queue(name)
	q.paused = paused
	for !paused && len(q.jobs) > 0 && q.waiting.Len() > 0 {
		j := q.pop()
		st.removed(q, j)
		st.hand(by, q, j)
	}
	st.forget(q)
}

// Drop removes a queue with its jobs. It is not paused any more.
func (st *Store[J, E]) Drop(name string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	q := st.queue(name)
	q.known, q.paused = false, false
	for len(q.jobs) > 0 {
		st.removed(q, q.pop())
	}
	st.forget(q)
}

// First returns the job that leaves a queue next, and false if the queue is empty.
func (st *Store[J, E]) First(name string) (j J, some bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if q := st.queues[name]; q != nil && len(q.jobs) > 0 {
		return q.jobs[0], true
	}
	return j, false
}

// Move moves the jobs of a set that match, the first that is due first: to Dead, to Nowhere, or, as Queued, to their
// queues. Dead jobs can be moved if the store keeps them.
func (st *Store[J, E]) Move(by E, from Set, match func(J) bool, to Set) {
	st.mu.Lock()
	defer st.mu.Unlock()
	set := st.timeline(from)
	matching := slices.DeleteFunc(slices.Clone(set.items), func(h *Held[J]) bool { return !match(h.Job) })
	slices.SortFunc(matching, func(a, b *Held[J]) int { return a.due.Compare(b.due) })
	for _, h := range matching {
		set.cut(h)
		st.drop(h.Job)
		if from == Dead {
			st.dead--
		}
		switch to {
		case Dead:
			st.bury(h.Job)
		case Queued:
			st.enqueue(by, st.config.Enqueue(h.Job, st.now()))
		}
	}
}

// bury adds a job to those that failed for the last time.
func (st *Store[J, E]) bury(j J) {
	st.dead++
	if st.config.Keep {
		st.buried.add(&Held[J]{Job: j, due: st.now()})
		st.keep(j)
	}
}
