package history

import (
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// This file holds the life of a job a second time, written for a checker that others
// wrote, and shares no code with the judge. A state of the model has the earliest
// instant at which it can be, since reservations and at are about time and not only
// about order.

// modelCall is a call as the model sees it.
type modelCall struct {
	kind      string // push, bring, ack, fail, flush, take (a FETCH without a reply), nothing, end
	client    string
	isSure    bool
	call, ret time.Duration
}

// modelState is one of the states in which the job can be.
type modelState struct {
	place  string // "", queue, retries, held, taken (by a FETCH without a reply), gone
	client string
	fails  int64
	free   time.Duration // from when on it can be delivered; while it is held: since when
	isLate bool          // it is not known since when
	now    time.Duration
}

// jobModel has what belongs to the job.
type jobModel struct {
	retries              int64 // below 0: nothing is known
	reserve, at, backoff time.Duration
	lateAt               time.Duration // from when on it must be in its queue
	overdueQueue         bool
	overdueRetries       bool
	overdueHeld          bool
}

func (m jobModel) porcupine() porcupine.Model {
	nondeterministic := porcupine.NondeterministicModel{
		Init: func() []any { return []any{modelState{}} },
		Step: func(state, input, _ any) []any {
			c, _ := input.(modelCall)
			s, _ := state.(modelState)
			var to []any
			for _, from := range m.expired(s, c) {
				from.now = max(from.now, c.call)
				for _, next := range m.apply(from, c) {
					if next.now <= c.ret && !slices.Contains(to, any(next)) {
						to = append(to, next)
					}
				}
			}
			return to
		},
	}
	return nondeterministic.ToModel()
}

// expired adds to a state what it can be when its reservation has run out before the
// call has its effect.
func (m jobModel) expired(s modelState, c modelCall) []modelState {
	states := []modelState{s}
	if s.place != "held" && s.place != "taken" {
		return states
	}
	out := s
	out.isLate = s.place == "taken"
	out.place, out.client = "retries", ""
	out.free += m.reserve
	out.now = max(out.now, out.free, c.call)
	return append(states, out, m.failed(out))
}

func (m jobModel) failed(s modelState) modelState {
	s.client = ""
	s.fails++
	s.place = "retries"
	if m.retries >= 0 && s.fails > m.retries {
		return modelState{place: "gone", now: s.now}
	}
	return s
}

func (m jobModel) apply(s modelState, c modelCall) []modelState {
	purged := modelState{place: "gone", now: s.now}
	inside := s.place != "" && s.place != "gone"
	switch c.kind {
	case "push":
		queued := s
		queued.place, queued.free = "queue", m.at
		if c.isSure {
			return []modelState{queued}
		}
		return []modelState{s, queued}
	case "bring":
		return m.bring(s, c)
	case "take":
		return append(m.take(s, c), s)
	case "ack", "flush":
		must := c.isSure && (c.kind == "flush" || s.place == "held" && s.client == c.client)
		switch {
		case !inside:
			return []modelState{s}
		case must:
			return []modelState{purged}
		}
		return []modelState{s, purged}
	case "fail":
		if !inside {
			return []modelState{s}
		}
		worse := m.failed(s)
		worse.free, worse.isLate = max(s.free, s.now+m.backoff), !c.isSure
		if worse.place == "gone" {
			worse = purged
		}
		if c.isSure && s.place == "held" && s.client == c.client {
			return []modelState{worse}
		}
		return []modelState{s, worse}
	case "nothing":
		if s.place == "queue" && s.now >= m.lateAt {
			return nil
		}
		return []modelState{s}
	}
	return m.end(s)
}

func (m jobModel) bring(s modelState, c modelCall) []modelState {
	if s.place != "queue" && s.place != "retries" {
		return nil
	}
	s.now = max(s.now, s.free)
	s.place, s.client, s.free, s.isLate = "held", c.client, s.now, false
	return []modelState{s}
}

func (m jobModel) take(s modelState, c modelCall) []modelState {
	states := m.bring(s, c)
	for i := range states {
		states[i].place, states[i].client = "taken", ""
	}
	return states
}

func (m jobModel) end(s modelState) []modelState {
	bad := s.place == "queue" && m.overdueQueue ||
		s.place == "retries" && m.overdueRetries && !s.isLate && m.retries >= 0 ||
		s.place == "held" && m.overdueHeld && m.retries >= 0
	if bad {
		return nil
	}
	return []modelState{s}
}

// endOfTime is later than every time of a small history.
const endOfTime = 1_000_000 * time.Hour

// porcupineSays asks the other checker whether the history of a job can be explained.
// With empties, FETCHes that found nothing are part of it.
func porcupineSays(h *History, jid string, empties bool) bool {
	m := jobModel{retries: 25, reserve: 1800 * time.Second, backoff: h.Limits.Backoff}
	queue := "default"
	var pushed time.Duration
	var last time.Duration
	for _, e := range h.Events {
		if e.JID != jid || e.Outcome == Refused || e.Op == Fetch && e.Outcome != OK {
			continue
		}
		if e.Outcome != NoReply {
			last = max(last, e.Return)
		}
		if e.Op != Push {
			continue
		}
		m, queue, pushed = modelOf(h, e), e.queue(), e.Return
	}
	var operations []porcupine.Operation
	final := -1
	for i, e := range h.Events {
		later := final < 0 || e.Call >= h.Events[final].Call
		if later && e.Op == Fetch && e.Outcome == Empty && slices.Contains(e.queueNames(), queue) {
			final = i
		}
		if c, concerned := modelled(e, jid, queue, empties); concerned {
			operations = append(operations, operation(c))
		}
	}
	if h.Drained && final >= 0 && pushed >= 0 {
		e := h.Events[final]
		m.overdueQueue = e.Call > max(last, m.lateAt)
		m.overdueRetries = e.Call > last+h.Limits.Patience
		m.overdueHeld = e.Call > last+h.Limits.Patience+m.reserve+h.Limits.MaxLead
		operations = append(operations, operation(modelCall{kind: "end", call: e.Call, ret: e.Return}))
	}
	return porcupine.CheckOperations(m.porcupine(), operations)
}

func modelOf(h *History, e Event) jobModel {
	m := jobModel{retries: 25, reserve: 1800 * time.Second, backoff: h.Limits.Backoff}
	if e.Retry != nil {
		switch m.retries = *e.Retry; {
		case m.retries == -1:
			m.retries = 0
		case m.retries < -1:
			m.retries = -1
		}
	}
	if e.ReserveFor != nil {
		m.reserve = time.Duration(max(60, *e.ReserveFor)) * time.Second
	}
	m.reserve -= h.Limits.MaxLead
	if e.At > 0 {
		m.at, m.lateAt = e.At-h.Limits.MaxLead, max(e.At, e.Return)+h.Limits.MaxDelay
	}
	return m
}

func operation(c modelCall) porcupine.Operation {
	return porcupine.Operation{Input: c, Call: int64(c.call), Return: int64(c.ret)}
}

// modelled says what an event is to a job.
func modelled(e Event, jid, queue string, empties bool) (modelCall, bool) {
	c := modelCall{client: e.Worker, isSure: e.Outcome == OK, call: e.Call, ret: e.Return}
	if e.Outcome == NoReply {
		c.ret = endOfTime
	}
	switch {
	case e.Outcome == Refused:
		return c, false
	case e.Op == Flush:
		c.kind = "flush"
	case e.Op == Fetch && e.Outcome == NoReply && slices.Contains(e.queueNames(), queue):
		c.kind = "take"
	case e.Op == Fetch && e.Outcome == Empty && empties && slices.Contains(e.queueNames(), queue):
		c.kind = "nothing"
	case e.JID != jid || e.Op == Fetch && e.Outcome != OK:
		return c, false
	default:
		c.kind = map[Op]string{Push: "push", Fetch: "bring", Ack: "ack", Fail: "fail"}[e.Op]
	}
	return c, true
}
