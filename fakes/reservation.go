package fakes

import "time"

// reserve holds a job for the consumer that it goes to. (Work unit state diagram:
// WORKING)
func (st *store) reserve(e *Event, j *job) *timed {
	t := &timed{job: j, due: time.Now().Add(j.reserve), index: -1}
	e.Until = t.due
	if st.s.ask(Reserved, e, j) {
		return t
	}
	t.due = e.Until
	t.next = st.held[j.jid] // nothing keeps producers from using a jid twice
	st.held[j.jid] = t
	st.expiry.add(t)
	st.working++
	st.arm(t.due)
	return t
}

// release ends a reservation; it tells whether there was one.
func (st *store) release(t *timed) bool {
	switch at := st.held[t.jid]; {
	case at == t && t.next == nil:
		delete(st.held, t.jid)
	case at == t:
		st.held[t.jid] = t.next
	default:
		for at != nil && at.next != t {
			at = at.next
		}
		if at == nil {
			return false
		}
		at.next = t.next
	}
	st.expiry.cut(t)
	st.working--
	return true
}

// giveBack puts a job that no consumer got back to where it was.
func (st *store) giveBack(e *Event, t *timed) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.s.ask(GivenBack, e, t.job) && st.release(t) {
		st.put(e, t.job, true)
	}
}

// ack purges the job. (ACK)
func (st *store) ack(e *Event, jid string) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	t := st.held[jid]
	if t == nil {
		return refuse(AboutJob, "no such job is being worked on")
	}
	if st.s.ask(Acked, e, t.job) {
		return nil
	}
	st.release(t)
	st.processed++
	if e.Again {
		e.Again = false
		st.again(e, t.job)
	}
	return nil
}

// fail moves the job to where its retries send it. (FAIL)
func (st *store) fail(e *Event, jid string, f failure) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	t := st.held[jid]
	if t == nil {
		return refuse(AboutJob, "no such job is being worked on")
	}
	if st.failed(Failed, e, t, f) {
		st.processed++
	}
	return nil
}

// failed is what FAIL and the end of a reservation have in common. It tells whether
// it came to pass. (Work units, retry; Work unit state diagram)
func (st *store) failed(p Point, e *Event, t *timed, f failure) bool {
	now := time.Now()
	failures := t.failures + 1
	e.Until = now.Add(max(st.s.cfg.RetryDelay(failures), time.Second))
	e.Set = verdict(t.retry, failures)
	j := t.with("failure", f.json(t.job, failures, now, e.Set, e.Until, &st.s.cfg))
	j.failures = failures
	if st.s.cfg.Hook != nil && st.ask(p, e, &j) {
		return false
	}
	st.release(t)
	st.failures++
	switch e.Set {
	case "retries":
		st.postpone(e, e.Set, &timed{job: j, due: e.Until})
	case "dead":
		st.dead = append(st.dead, j)
	}
	return true
}

// verdict names the set that a job goes to after so many failures, "" if it is
// thrown away. Numbers below -1 mean nothing in the text and count as -1.
func verdict(retry int64, failures int) string {
	switch {
	case retry == 0:
		return ""
	case retry < 0 || int64(failures) > retry:
		return "dead"
	}
	return "retries"
}
