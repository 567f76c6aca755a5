package fakes

import "time"

// postpone puts a job into the schedule or the retries. (Work unit state diagram:
// SCHEDULED, RETRIES)
func (st *store) postpone(e *Event, set string, t *timed) {
	e.Set, e.Until = set, t.due
	if st.s.cfg.Hook != nil {
		if st.ask(Scheduled, e, &t.job) {
			return
		}
		t.due = e.Until
	}
	st.timeline(e.Set).add(t)
	st.arm(t.due)
}

func (st *store) timeline(set string) *timeline {
	if set == "retries" {
		return &st.retries
	}
	return &st.scheduled
}

// arm has the clock look at a time no later than this one.
func (st *store) arm(due time.Time) {
	if !st.armed.IsZero() && !due.Before(st.armed) {
		return
	}
	st.armed = due
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// tick is the clock: it does what is due and sleeps until something else will be.
func (st *store) tick(done <-chan struct{}) {
	start := time.Now()
	var e Event // the clock's own: what it brings about has no connection
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-done:
			return
		case <-st.wake:
		case <-timer.C:
		}
		if due, some := st.advance(&e, start); some {
			timer.Reset(max(time.Until(due), 0))
		}
	}
}

// advance does what is due, and gives the time of what comes next, if there is some.
func (st *store) advance(e *Event, start time.Time) (due time.Time, some bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	now := time.Now()
	if every := st.s.cfg.ScanEvery; every <= 0 || !now.Before(st.armed) {
		st.ripe(e, "scheduled", now)
		st.ripe(e, "retries", now)
		st.expired(e, now)
	}
	st.armed = time.Time{}
	for _, l := range [...]*timeline{&st.scheduled, &st.retries, &st.expiry} {
		if t := l.first(); t != nil && (!some || t.due.Before(due)) {
			due, some = t.due, true
		}
	}
	if some {
		due = onGrid(due, start, st.s.cfg.ScanEvery)
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

// ripe enqueues the jobs whose time has come.
func (st *store) ripe(e *Event, set string, now time.Time) {
	for l := st.timeline(set); ; {
		t := l.first()
		if t == nil || t.due.After(now) {
			return
		}
		l.cut(t)
		e.Set, e.Until = set, t.due
		if st.s.cfg.Hook != nil {
			if st.ask(Due, e, &t.job) {
				continue
			}
			if e.Until.After(now) {
				t.due = e.Until
				l.add(t)
				continue
			}
		}
		st.enqueue(e, t.with("enqueued_at", stamp(now)))
	}
}

// expired fails the jobs whose workers kept them for too long. (Work units,
// reserve_for)
func (st *store) expired(e *Event, now time.Time) {
	for {
		t := st.expiry.first()
		if t == nil || t.due.After(now) {
			return
		}
		st.expiry.cut(t)
		st.failed(Expired, e, t, failure{
			errtype: "ReservationExpired",
			message: "neither ACK nor FAIL came within the time that the job was reserved for",
		})
	}
}
