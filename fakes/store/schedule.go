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

// arm has the clock look at a time no later than this one.
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

// Run is the clock of the store: it does what is due and sleeps until something else will be. by stands for the command
// in what it causes. It blocks until done is closed.
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

// advance does what is due, and returns the time of what comes next, if there is some.
func (st *Store[J, E]) advance(by E, start time.Time) (due time.Time, some bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	now := time.Now()
	if every := st.config.ScanEvery; every <= 0 || !now.Before(st.armed) {
		st.ripen(by, Scheduled, now)
		st.ripen(by, Retries, now)
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

// onGrid is the first look at or after a time, when looks are taken only so often.
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

// ripen enqueues the jobs whose time has come.
func (st *Store[J, E]) ripen(by E, set Set, now time.Time) {
	for l := st.timeline(set); ; {
		h := l.first()
		if h == nil || h.due.After(now) {
			return
		}
		l.cut(h)
		s, skip := st.ask(Ripening, Step[J, E]{By: by, Job: h.Job, Set: set, Until: h.due})
		switch h.Job, h.due = s.Job, s.Until; {
		case skip:
		case h.due.After(now):
			l.add(h)
		default:
			st.enqueue(by, st.config.Enqueue(h.Job, now))
		}
	}
}

// expire fails the jobs whose workers kept them for too long.
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
