package store

import "time"

// postpone puts a job into the schedule or the retries.
func (st *Store[J, E]) postpone(cause E, set Set, h *TimedJob[J]) {
	s, skip := st.ask(Postponing, Step[J, E]{Cause: cause, Job: h.Job, Set: set, Until: h.dueTime})
	if skip {
		return
	}
	h.Job, h.dueTime = s.Job, s.Until
	st.timeline(s.Set).add(h)
	st.addBytes(h.Job)
	st.arm(h.dueTime)
}

func (st *Store[J, E]) timeline(set Set) *timeline[J] {
	switch set {
	case Retries:
		return &st.retries
	case Dead:
		return &st.deadJobs
	}
	return &st.scheduled
}

// arm makes the clock act at dueTime or earlier.
func (st *Store[J, E]) arm(dueTime time.Time) {
	if !st.nextAction.IsZero() && !dueTime.Before(st.nextAction) {
		return
	}
	st.nextAction = dueTime
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// Run is the clock of the store: it handles what is due and sleeps until the next time. cause is passed to the policy.
// It blocks until done is closed.
func (st *Store[J, E]) Run(cause E, done <-chan struct{}) {
	start := st.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-done:
			return
		case <-st.wake:
		case <-timer.C:
		}
		if wait, ok := st.advance(cause, start); ok {
			timer.Reset(max(wait, 0))
		}
	}
}

// advance handles what is due, and returns the time until there is more, if there is any.
func (st *Store[J, E]) advance(cause E, start time.Time) (wait time.Duration, ok bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	now := st.nowLocked()
	if interval := st.config.ScanEvery; interval <= 0 || !now.Before(st.nextAction) {
		st.handle(cause, now)
	}
	dueTime, ok := st.nextDueTime()
	st.nextAction = time.Time{}
	if ok {
		dueTime = nextScan(dueTime, start, st.config.ScanEvery)
		st.nextAction = dueTime
	}
	return dueTime.Sub(now), ok
}

// handle handles what is due.
func (st *Store[J, E]) handle(cause E, now time.Time) {
	st.enqueueDue(cause, Scheduled, now)
	st.enqueueDue(cause, Retries, now)
	st.expire(cause, now)
}

// nextDueTime returns the earliest time at which something is due, if anything is.
func (st *Store[J, E]) nextDueTime() (dueTime time.Time, ok bool) {
	for _, l := range [...]*timeline[J]{&st.scheduled, &st.retries, &st.expiry} {
		if h := l.first(); h != nil && (!ok || h.dueTime.Before(dueTime)) {
			dueTime, ok = h.dueTime, true
		}
	}
	return dueTime, ok
}

// Advance sets the clock of the store forward, and handles everything that is due until then, each at its time: a
// reservation that ends on the way, and the retry that follows from it. cause is passed to the policy.
func (st *Store[J, E]) Advance(cause E, d time.Duration) {
	st.mu.Lock()
	defer st.mu.Unlock()
	target := st.clockOffset + d
	for {
		dueTime, ok := st.nextDueTime()
		ahead := time.Until(dueTime)
		if !ok || ahead > target {
			break
		}
		st.clockOffset = max(st.clockOffset, ahead)
		st.handle(cause, st.nowLocked())
	}
	st.clockOffset = target
	st.nextAction = time.Time{}
	st.arm(st.nowLocked()) // Run computes its next time anew
}

// Rewind sets the clock of the store back, and reports whether it did: a store with jobs has times that would come
// twice.
func (st *Store[J, E]) Rewind(d time.Duration) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if _, isTimed := st.nextDueTime(); isTimed || st.queuedCount > 0 || len(st.deadJobs.items) > 0 {
		return false
	}
	st.clockOffset -= d
	return true
}

// Now returns the time of the store's clock.
func (st *Store[J, E]) Now() time.Time {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.nowLocked()
}

func (st *Store[J, E]) nowLocked() time.Time { return time.Now().Add(st.clockOffset) }

// nextScan returns the first time of polling at or after due.
func nextScan(dueTime, start time.Time, interval time.Duration) time.Time {
	if interval <= 0 || !dueTime.After(start) {
		return dueTime
	}
	after := dueTime.Sub(start)
	if remainder := after % interval; remainder > 0 {
		after += interval - remainder
	}
	return start.Add(after)
}

// enqueueDue enqueues the jobs of a set that are due.
func (st *Store[J, E]) enqueueDue(cause E, set Set, now time.Time) {
	for l := st.timeline(set); ; {
		h := l.first()
		if h == nil || h.dueTime.After(now) {
			return
		}
		l.cut(h)
		st.subtractBytes(h.Job)
		s, skip := st.ask(ComingDue, Step[J, E]{Cause: cause, Job: h.Job, Set: set, Until: h.dueTime})
		switch h.Job, h.dueTime = s.Job, s.Until; {
		case skip:
		case h.dueTime.After(now):
			l.add(h)
			st.addBytes(h.Job)
		default:
			st.enqueue(cause, st.config.Enqueue(h.Job, now))
		}
	}
}

// expire fails the jobs whose reservations ran out.
func (st *Store[J, E]) expire(cause E, now time.Time) {
	for {
		h := st.expiry.first()
		if h == nil || h.dueTime.After(now) {
			return
		}
		st.expiry.cut(h)
		st.endByFailure(Expiring, cause, h, st.config.Expire)
	}
}
