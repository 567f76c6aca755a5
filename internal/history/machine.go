package history

import "time"

// phase is where a job is.
type phase uint8

const (
	phaseAbsent  phase = iota // not pushed yet
	phaseQueued               // scheduled or in its queue for the first time
	phaseWaiting              // failed, or held for too long: among the retries or back in its queue
	phaseHeld                 // delivered, and neither acknowledged nor failed
	phaseGone                 // acknowledged, flushed, discarded or dead
)

// state is where a job can be after some of its calls. A state has the earliest times at
// which it can be reached: later ones allow nothing more, since no step has a deadline.
type state struct {
	now    time.Duration
	since  time.Duration // held: when it was delivered; queued or waiting: the earliest time of its next delivery
	fails  int64         // how often it failed
	holder int32         // that holds it
	phase  phase
	isLate bool // waiting: it is not known since when
}

// machine is the states of a job in the specification (Work unit state diagram), with
// all that its readings allow.
type machine struct {
	reserve  time.Duration // a reservation ends not before (FWP-WU-05)
	earliest time.Duration // it is not delivered before (FWP-STATE-11)
	backoff  time.Duration // how long a job that failed waits (FWP-STATE-06)
	retries  int64         // how often it may be tried again (FWP-RETRY-03)

	// lax is a rule that is not applied, to find out which rule a job has broken.
	lax rule

	// allowsEnd adds the effects that only make it possible that the job is gone. They are
	// needed where the end of the job is evaluated.
	allowsEnd bool
}

// rule is one of those that a job can break.
type rule uint8

const (
	noRule       rule = iota
	ruleRetries       // a job is not delivered after its last retry
	ruleBackoff       // a job that failed waits for the backoff
	ruleAck           // an ACK ends the job
	ruleFlush         // a FLUSH ends the job
	ruleHeld          // a job that is held is not delivered
	ruleSchedule      // a job is not delivered before its at
	rulePush          // a job is delivered after its PUSH
)

// steps are the states that a call may lead to. If there are none it is impossible.
type steps struct {
	n    int
	list [4]state
}

func (s *steps) add(to state) {
	s.list[s.n] = to
	s.n++
}

// step returns the states after a call.
func (m *machine) step(from state, c *call) (to steps) {
	if m.lax == rulePush && from.phase == phaseAbsent {
		from.phase, from.since = phaseQueued, m.earliest
	}
	from.now = max(from.now, c.begin)
	if from.now > c.end {
		return to
	}
	switch c.op {
	case Push:
		m.push(from, c, &to)
	case Fetch:
		m.deliver(from, c, &to)
	case Ack:
		m.ack(from, c, &to)
	case Fail:
		m.fail(from, c, &to)
	default:
		m.flush(from, c, &to)
	}
	return to
}

func (m *machine) push(from state, c *call, to *steps) {
	if !c.isSure {
		to.add(from)
	}
	if from.phase == phaseAbsent {
		from.phase, from.since = phaseQueued, m.earliest
	}
	to.add(from)
}

// deliver delivers the job to the holder of c. One that was held was held for too long.
// (FWP-STATE-04, FWP-STATE-05, FWP-STATE-07)
func (m *machine) deliver(from state, c *call, to *steps) {
	at := from.since
	switch from.phase {
	case phaseAbsent, phaseGone:
		return
	case phaseHeld:
		at += m.reserve
	}
	if m.lax == ruleSchedule && from.phase == phaseQueued || m.lax == ruleHeld && from.phase == phaseHeld {
		at = from.now
	}
	next := from
	next.now = max(from.now, at)
	if next.now > c.end {
		return
	}
	next.phase, next.since, next.holder, next.isLate = phaseHeld, next.now, c.holder, false
	to.add(next)
	if m.allowsEnd && from.phase == phaseHeld && next.fails < m.retries {
		next.fails++ // the end of a reservation may count as a failure
		to.add(next)
	}
}

// answer adds the states in which an ACK or a FAIL has no effect. isHolder reports whether c
// is of the holder, isPossible whether there is a job at all.
func (m *machine) answer(from state, c *call, to *steps) (isHolder, isPossible bool) {
	isHolder = c.isSure && from.phase == phaseHeld && from.holder == c.holder
	if isHolder {
		m.addLate(from, c, to)
	} else {
		to.add(from)
	}
	return isHolder, from.phase != phaseAbsent && from.phase != phaseGone
}

// ack purges the job if its holder sends it. From others, or without a reply, it may
// do so as well. (FWP-ACK-02; AMB-21)
func (m *machine) ack(from state, c *call, to *steps) {
	isHolder, isPossible := m.answer(from, c, to)
	switch {
	case !isPossible:
	case m.lax == ruleAck:
		from.phase = phaseWaiting
		to.add(from)
	case isHolder || m.allowsEnd:
		from.phase = phaseGone
		to.add(from)
	}
}

// fail is one failure more if the holder sends it. From others, or without a reply,
// it may be. (FWP-STATE-06; AMB-21)
func (m *machine) fail(from state, c *call, to *steps) {
	if _, isPossible := m.answer(from, c, to); !isPossible {
		return
	}
	from.isLate = !c.isSure
	if from.phase == phaseHeld || m.allowsEnd {
		next := from
		next.since = max(next.since, next.now+m.wait()) // its at still counts
		to.add(m.addFailure(next))
	}
	if at := from.since + m.reserve; from.phase == phaseHeld && m.allowsEnd && max(from.now, at) <= c.end {
		from.now = max(from.now, at)
		from.since = from.now + m.wait()
		to.add(m.addFailure(m.addFailure(from))) // held for too long, and failed while it waited
	}
}

// wait returns how long a job that failed waits.
func (m *machine) wait() time.Duration {
	if m.lax == ruleBackoff {
		return 0
	}
	return m.backoff
}

// addFailure counts a failure: the job waits for its next try, or this was its last one.
// (FWP-RETRY-01, FWP-RETRY-02, FWP-RETRY-03)
func (m *machine) addFailure(from state) state {
	if from.phase == phaseGone {
		return from
	}
	if from.fails >= m.retries && m.lax != ruleRetries {
		from.phase = phaseGone
		return from
	}
	from.fails++
	from.phase = phaseWaiting
	return from
}

// addLate adds the states after an ACK or FAIL of the holder when the reservation has run
// out: it has no effect. (FWP-STATE-07)
func (m *machine) addLate(from state, c *call, to *steps) {
	from.since += m.reserve
	from.now = max(from.now, from.since)
	if from.now > c.end {
		return
	}
	next := from
	next.phase = phaseWaiting
	to.add(next)
	if m.allowsEnd {
		to.add(m.addFailure(from)) // an end of a reservation may count as a failure
	}
}

// flush removes the job. (FWP-FLUSH-02)
func (m *machine) flush(from state, c *call, to *steps) {
	if from.phase == phaseAbsent || !c.isSure {
		to.add(from)
	}
	switch {
	case from.phase == phaseAbsent:
	case m.lax == ruleFlush:
		to.add(from)
	case c.isSure || m.allowsEnd:
		from.phase = phaseGone
		to.add(from)
	}
}
