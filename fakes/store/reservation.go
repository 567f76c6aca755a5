package store

// reserve holds a job for the consumer that it goes to.
func (st *Store[J, E]) reserve(cause E, j J) *TimedJob[J] {
	h := &TimedJob[J]{Job: j, index: -1}
	s, skip := st.ask(Reserving, Step[J, E]{Cause: cause, Job: j, Until: st.nowLocked().Add(j.Reserve())})
	if skip {
		return h
	}
	h.dueTime = s.Until
	st.addReservation(h)
	return h
}

// addReservation adds a reservation.
func (st *Store[J, E]) addReservation(h *TimedJob[J]) {
	id := h.Job.ID()
	h.next = st.reservations[id] // producers may use an id twice
	st.reservations[id] = h
	st.expiry.add(h)
	st.addBytes(h.Job)
	st.workingJobs++
	st.arm(h.dueTime)
}

// release ends a reservation; it reports whether there was one.
func (st *Store[J, E]) release(h *TimedJob[J]) bool {
	id := h.Job.ID()
	switch at := st.reservations[id]; {
	case at == h && h.next == nil:
		delete(st.reservations, id)
	case at == h:
		st.reservations[id] = h.next
	default:
		for at != nil && at.next != h {
			at = at.next
		}
		if at == nil {
			return false
		}
		at.next = h.next
	}
	st.expiry.cut(h)
	st.subtractBytes(h.Job)
	st.workingJobs--
	return true
}

// Reservation returns the latest reservation of a job, nil if it is not held.
func (st *Store[J, E]) Reservation(id string) *TimedJob[J] {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.reservations[id]
}

// GiveBack returns a job that was not delivered to the head of its queue.
func (st *Store[J, E]) GiveBack(cause E, h *TimedJob[J]) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if _, skip := st.ask(Returning, Step[J, E]{Cause: cause, Job: h.Job}); !skip && st.release(h) {
		st.put(cause, h.Job, true)
	}
}

// Finish removes a job that a worker is done with. The error is [ErrNotHeld].
func (st *Store[J, E]) Finish(cause E, id string) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	h := st.reservations[id]
	if h == nil {
		return ErrNotHeld
	}
	s, skip := st.ask(Finishing, Step[J, E]{Cause: cause, Job: h.Job})
	if skip {
		return nil
	}
	st.release(h)
	st.processed++
	if s.Requeue {
		st.repeat(cause, h.Job)
	}
	return nil
}

// Fail moves a job that a worker failed to the set of its fate. The error is [ErrNotHeld].
func (st *Store[J, E]) Fail(cause E, id string, fate Fate[J]) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	h := st.reservations[id]
	if h == nil {
		return ErrNotHeld
	}
	if st.endByFailure(Failing, cause, h, fate) {
		st.processed++
	}
	return nil
}

// endByFailure ends a reservation by a failure or by its time. It reports false if the policy skips that.
func (st *Store[J, E]) endByFailure(p Point, cause E, h *TimedJob[J], fate Fate[J]) bool {
	j, set, dueTime := fate(h.Job, st.nowLocked())
	s, skip := st.ask(p, Step[J, E]{Cause: cause, Job: j, Set: set, Until: dueTime})
	if skip {
		return false
	}
	st.release(h)
	st.failures++
	switch s.Set {
	case Retries:
		st.postpone(cause, Retries, &TimedJob[J]{Job: s.Job, dueTime: s.Until})
	case Dead:
		st.bury(s.Job)
	}
	return true
}
