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
	st.arm(h.due)
}

func (st *Store[J, E]) timeline(set Set) *timeline[J] {
	if set == Retries {
		return &st.retries
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
	start := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-done:
			return
		case <-st.wake:
		case <-timer.C:
		}
		if due, some := st.advance(by, start); some {
			timer.Reset(max(time.Until(due), 0))
		}
	}
}

// advance handles what is due, and returns the next time, if there is one.
func (st *Store[J, E]) advance(by E, start time.Time) (due time.Time, some bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	now := time.Now()
	if every := st.config.ScanEvery; every <= 0 || !now.Before(st.armed) {
		st.enqueueDue(by, Scheduled, now)
		st.enqueueDue(by, Retries, now)
		st.expire(by, now)
	}
	st.armed = time.Time{}
	for _, l := range [...]*timeline[J]{&st.scheduled, &st.retries, &st.expiry} {
		if h := l.first(); h != nil && (!some || h.due.Before(due)) {
			due, some = h.due, true
		}
	}
	if some {
		due = onGrid(due, start, st.config.ScanEvery)
		st.armed = due
	}
	return due, some
}

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
		s, skip := st.ask(ComingDue, Step[J, E]{By: by, Job: h.Job, Set: set, Until: h.due})
		switch h.Job, h.due = s.Job, s.Until; {
		case skip:
		case h.due.After(now):
			l.add(h)
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
