package store

import "slices"

// Pause has a queue give no jobs to consumers, or give them again, also those that wait.
func (st *Store[J, E]) Pause(cause E, name string, isPaused bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	q := st.queue(name)
	q.isPaused = isPaused
	for !isPaused && len(q.jobs) > 0 && q.waiting.Len() > 0 {
		j := q.pop()
		st.countRemoved(q, j)
		st.hand(cause, q, j)
	}
	st.forget(q)
}

// Drop removes a queue with its jobs. It is not paused any more.
func (st *Store[J, E]) Drop(name string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.drop(name)
}

func (st *Store[J, E]) drop(name string) {
	q := st.queue(name)
	q.isKnown, q.isPaused = false, false
	for len(q.jobs) > 0 {
		st.countRemoved(q, q.pop())
	}
	st.forget(q)
}

// ClearQueue is Drop, and removes the scheduled, retried, held and dead jobs of the queue too.
func (st *Store[J, E]) ClearQueue(cause E, name string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	isOfQueue := func(j J) bool { return j.Queue() == name }
	for _, set := range []Set{Scheduled, Retries, Dead} {
		st.move(cause, set, isOfQueue, Nowhere)
	}
	for _, h := range slices.Clone(st.expiry.items) {
		if isOfQueue(h.Job) {
			st.release(h)
		}
	}
	st.drop(name)
}

// First returns the job that leaves a queue next, and false if the queue is empty.
func (st *Store[J, E]) First(name string) (j J, ok bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if q := st.queues[name]; q != nil && len(q.jobs) > 0 {
		return q.jobs[0], true
	}
	return j, false
}

// Move moves the jobs of a set that match, in the order in which they are due: to Dead, to Nowhere, or, as Queued, to
// their queues. Dead jobs can be moved if the store keeps them.
func (st *Store[J, E]) Move(cause E, from Set, match func(J) bool, to Set) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.move(cause, from, match, to)
}

func (st *Store[J, E]) move(cause E, from Set, match func(J) bool, to Set) {
	set := st.timeline(from)
	matching := slices.DeleteFunc(slices.Clone(set.items), func(h *TimedJob[J]) bool { return !match(h.Job) })
	slices.SortFunc(matching, func(a, b *TimedJob[J]) int { return a.dueTime.Compare(b.dueTime) })
	for _, h := range matching {
		set.cut(h)
		st.subtractBytes(h.Job)
		if from == Dead {
			st.deadCount--
		}
		switch to {
		case Dead:
			st.bury(h.Job)
		case Queued:
			st.enqueue(cause, st.config.Enqueue(h.Job, st.nowLocked()))
		}
	}
}

// bury adds a job to those that failed for the last time.
func (st *Store[J, E]) bury(j J) {
	st.deadCount++
	if st.config.RetainDead {
		st.deadJobs.add(&TimedJob[J]{Job: j, dueTime: st.nowLocked()})
		st.addBytes(j)
	}
}
