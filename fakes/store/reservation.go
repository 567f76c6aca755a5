package store

// reserve holds a job for the consumer that it goes to.
func (st *Store[J, E]) reserve(by E, j J) *Held[J] {
	h := &Held[J]{Job: j, index: -1}
	s, skip := st.ask(Reserving, Step[J, E]{By: by, Job: j, Until: st.now().Add(j.Reserve())})
	if skip {
		return h
	}
	h.due = s.Until
	st.hold(h)
	return h
}

// hold adds a reservation.
func (st *Store[J, E]) hold(h *Held[J]) {
	id := h.Job.ID()
	h.next = st.held[id] // producers may use an id twice
	st.held[id] = h
	st.expiry.add(h)
	st.keep(h.Job)
	st.working++
	st.arm(h.due)
}

// release ends a reservation; it reports whether there was one.
func (st *Store[J, E]) release(h *Held[J]) bool {
	id := h.Job.ID()
	switch at := st.held[id]; {
	case at == h && h.next == nil:
		delete(st.held, id)
	case at == h:
		st.held[id] = h.next
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
	st.drop(h.Job)
	st.working--
	return true
}

// Held returns the latest reservation of a job, nil if it is not held.
func (st *Store[J, E]) Held(id string) *Held[J] {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.held[id]
}

// GiveBack returns a job that was not delivered to the head of its queue.
func (st *Store[J, E]) GiveBack(by E, h *Held[J]) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if _, skip := st.ask(Returning, Step[J, E]{By: by, Job: h.Job}); !skip && st.release(h) {
		st.put(by, h.Job, true)
	}
}

// Finish removes a job that a worker is done with. The error is [ErrNotHeld].
func (st *Store[J, E]) Finish(by E, id string) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	h := st.held[id]
	if h == nil {
		return ErrNotHeld
	}
	s, skip := st.ask(Finishing, Step[J, E]{By: by, Job: h.Job})
	if skip {
		return nil
	}
	st.release(h)
	st.processed++
	if s.Again {
		st.repeat(by, h.Job)
	}
	return nil
}

// Fail moves a job that a worker failed to the set of its fate. The error is [ErrNotHeld].
func (st *Store[J, E]) Fail(by E, id string, fate Fate[J]) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	h := st.held[id]
	if h == nil {
		return ErrNotHeld
	}
	if st.failed(Failing, by, h, fate) {
		st.processed++
	}
	return nil
}

// failed ends a reservation by a failure or by its time. It reports false if the policy skips that.
func (st *Store[J, E]) failed(p Point, by E, h *Held[J], fate Fate[J]) bool {
	j, set, due := fate(h.Job, st.now())
	s, skip := st.ask(p, Step[J, E]{By: by, Job: j, Set: set, Until: due})
	if skip {
		return false
	}
	st.release(h)
	st.failures++
	switch s.Set {
	case Retries:
		st.postpone(by, Retries, &Held[J]{Job: s.Job, due: s.Until})
	case Dead:
		st.bury(s.Job)
	}
	return true
}
