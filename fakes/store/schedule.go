package store

import "time"

// postpone puts a job into the schedule or the retries.
func (st *Store[J, E]) postpone(by E, set Set, h *Held[J]) {
	s, skip := st.ask(Postponing, Step[J, E]{By: by, Job: h.Job, Set: set, Until: h.due})
	if skip {
		return
	}
	h.Job, h.due = s.Job, s.Until
	st.timeline(s.Set).add(h)
	st.keep(h.Job)
	st.arm(h.due)
}

func (st *Store[J, E]) timeline(set Set) *timeline[J] {
	switch set {
	case Retries:
		return &st.retries
	case Dead:
		return &st.buried
	}
	return &st.scheduled
}

// arm makes the clock act at due or earlier.
func (st *Store[J, E]) arm(due time.Time) {
	if !st.armed.IsZero() && !due.Before(st.armed) {
		return
	}
	st.armed = due
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// Run is the clock of the store: it handles what is due and sleeps until the next time. by is passed to the policy. It
// blocks until done is closed.
func (st *Store[J, E]) Run(by E, done <-chan struct{}) {
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
		if wait, some := st.advance(by, start); some {
			timer.Reset(max(wait, 0))
		}
	}
}

// advance handles what is due, and returns the time until there is more, if there is any.
func (st *Store[J, E]) advance(by E, start time.Time) (wait time.Duration, some bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	now := st.now()
	if every := st.config.ScanEvery; every <= 0 || !now.Before(st.armed) {
		st.handle(by, now)
	}
	due, some := st.next()
	st.armed = time.Time{}
	if some {
		due = onGrid(due, start, st.config.ScanEvery)
		st.armed = due
	}
	return due.Sub(now), some
}

// handle handles what is due.
func (st *Store[J, E]) handle(by E, now time.Time) {
	st.enqueueDue(by, Scheduled, now)
	st.enqueueDue(by, Retries, now)
	st.expire(by, now)
}

// next returns the earliest time at which something is due, if anything is.
func (st *Store[J, E]) next() (due time.Time, some bool) {
	for _, l := range [...]*timeline[J]{&st.scheduled, &st.retries, &st.expiry} {
		if h := l.first(); h != nil && (!some || h.due.Before(due)) {
			due, some = h.due, true
		}
	}
	return due, some
}

// Advance sets the clock of the store forward, and handles everything that is due until then, each at its
// time: a reservation that ends on the way, and the retry that follows from it. by is passed to the policy.
func (st *Store[J, E]) Advance(by E, d time.Duration) {
	st.mu.Lock()
	defer st.mu.Unlock()
	until := st.ahead + d
	for {
		due, some := st.next()
		ahead := time.Until(due)
		if !some || ahead > until {
			break
		}
		st.ahead = max(st.ahead, ahead)
		st.handle(by, st.now())
	}
	st.ahead = until
	st.armed = time.Time{}
	st.arm(st.now()) // Run computes its next time anew
}

// Now returns the time of the store's clock.
func (st *Store[J, E]) Now() time.Time {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.now()
}

func (st *Store[J, E]) now() time.Time { return time.Now().Add(st.ahead) }

// onGrid returns the first time of polling at or after due.
func onGrid(due, start time.Time, every time.Duration) time.Time {
	if every <= 0 || !due.After(start) {
		return due
	}
	after := due.Sub(start)
	if past := after % every; past > 0 {
		after += every - past
	}
	return start.Add(after)
}

// enqueueDue enqueues the jobs of a set that are due.
func (st *Store[J, E]) enqueueDue(by E, set Set, now time.Time) {
	for l := st.timeline(set); ; {
		h := l.first()
		if h == nil || h.due.After(now) {
			return
		}
		l.cut(h)
		st.drop(h.Job)
		s, skip := st.ask(ComingDue, Step[J, E]{By: by, Job: h.Job, Set: set, Until: h.due})
		switch h.Job, h.due = s.Job, s.Until; {
		case skip:
		case h.due.After(now):
			l.add(h)
			st.keep(h.Job)
		default:
			st.enqueue(by, st.config.Enqueue(h.Job, now))
		}
	}
}

// expire fails the jobs whose reservations ran out.
func (st *Store[J, E]) expire(by E, now time.Time) {
	for {
		h := st.expiry.first()
		if h == nil || h.due.After(now) {
			return
		}
		st.expiry.cut(h)
		st.failed(Expiring, by, h, st.config.Expire)
	}
}
