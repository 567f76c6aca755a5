package history

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// effect is what the server does with a call of worker n at an instant.
func (s *simulation) effect(e *Event, n int, now time.Duration) Outcome {
	s.expire(now)
	j := s.jobs[e.JID]
	switch e.Op {
	case Push:
		return s.pushed(e, now)
	case Fetch:
		return s.fetched(e, n, now)
	case Ack:
		return s.acked(j, n, now)
	case Fail:
		return s.failed(j, n, now)
	default:
		if !s.plant("flush ignored") {
			clear(s.jobs)
		}
		return OK
	}
}

func (s *simulation) pushed(e *Event, now time.Duration) Outcome {
	j := &simulatedJob{retries: 25, reserve: 60 * time.Second, place: "queue", queue: e.Queue, dueAt: now}
	if e.Retry != nil {
		j.retries = max(0, *e.Retry)
	}
	if e.At > 0 && !s.plant("at ignored") {
		j.dueAt = max(now, e.At-s.history.Limits.MaxLead) + s.seconds(0, 9)
	}
	if s.chance(5) || s.bug == "refused and enqueued" && s.chance(50) {
		if s.plant("refused and enqueued") {
			s.jobs[e.JID] = j
		}
		return Refused
	}
	if !s.plant("push lost") {
		s.jobs[e.JID] = j
	}
	return OK
}

func (s *simulation) fetched(e *Event, n int, now time.Duration) Outcome {
	if s.plant("empty") {
		return Empty
	}
	if s.bug == "invented" && s.chance(10) {
		s.planted = true
		e.JID = "unknown"
		return OK
	}
	for _, queue := range e.Queues {
		jids := slices.Sorted(maps.Keys(s.jobs))
		s.Shuffle(len(jids), func(a, b int) { jids[a], jids[b] = jids[b], jids[a] })
		for _, jid := range jids {
			j := s.jobs[jid]
			if j.queue != queue || j.dueAt > now || j.place != "queue" && j.place != "retries" && !j.twin {
				continue
			}
			j.twin = s.plant("delivered twice")
			j.place, j.worker = "held", n
			reserve := j.reserve
			if s.plant("reservation halved") {
				reserve /= 2
			}
			j.dueAt = now + reserve
			if !j.twin && s.chance(70) {
				j.dueAt += s.seconds(0, 20)
			} else if j.twin {
				j.dueAt = now
			}
			e.JID = jid
			return OK
		}
	}
	return Empty
}

// expire takes back what was held for too long.
func (s *simulation) expire(now time.Duration) {
	for _, jid := range slices.Sorted(maps.Keys(s.jobs)) {
		j := s.jobs[jid]
		if j.place != "held" || j.dueAt > now || j.twin {
			continue
		}
		if s.plant("expired lost") {
			delete(s.jobs, jid)
			continue
		}
		j.place, j.dueAt = "retries", j.dueAt+s.seconds(0, 20)
		if s.counting {
			s.countFailure(j, j.dueAt)
		}
	}
}

// countFailure counts a failure.
func (s *simulation) countFailure(j *simulatedJob, now time.Duration) {
	j.fails++
	j.place, j.dueAt, j.twin = "retries", now+5*time.Second+s.seconds(0, 40), false
	if s.plant("no back-off") {
		j.dueAt = now
	}
	if j.fails > j.retries && !s.plant("retry not counted") || s.plant("retry lost") {
		j.place = "gone"
	}
}

func (s *simulation) acked(j *simulatedJob, n int, now time.Duration) Outcome {
	switch {
	case j == nil || j.place == "gone":
		return []Outcome{OK, Refused}[s.IntN(2)]
	case j.place == "held" && j.worker == n:
		if s.plant("ack ignored") {
			j.place, j.dueAt = "queue", now
			return OK
		}
		if s.chance(4) {
			return Refused
		}
	case !s.generous:
		return []Outcome{OK, Refused}[s.IntN(2)]
	}
	j.place, j.twin = "gone", j.twin && s.chance(50)
	return OK
}

func (s *simulation) failed(j *simulatedJob, n int, now time.Duration) Outcome {
	switch {
	case j == nil || j.place == "gone":
		return []Outcome{OK, Refused}[s.IntN(2)]
	case j.place == "held" && j.worker == n:
		if s.chance(4) {
			return Refused
		}
	case !s.generous || j.place != "held":
		return []Outcome{OK, Refused}[s.IntN(2)]
	}
	s.countFailure(j, now)
	return OK
}

// mutate changes one thing in a history, which may then be right or wrong.
func (s *simulation) mutate(h *History) {
	if len(h.Events) == 0 {
		return
	}
	e := &h.Events[s.IntN(len(h.Events))]
	other := &h.Events[s.IntN(len(h.Events))]
	shift := s.seconds(0, 60) - 30*time.Second
	switch s.IntN(7) {
	case 0:
		e.Call = max(0, e.Call+shift)
		if e.Outcome != NoReply {
			e.Return = max(e.Return, e.Call)
		}
	case 1:
		if e.Outcome != NoReply {
			e.Return = max(e.Call, e.Return+shift)
		}
	case 2:
		if e.Op == Fetch && e.Outcome == OK {
			e.JID = fmt.Sprintf("job-%d", s.IntN(3))
		}
	case 3:
		if e.Op != Fetch {
			e.Outcome, e.Return = []Outcome{OK, Refused}[s.IntN(2)], max(e.Return, e.Call+time.Second)
		}
	case 4:
		e.Worker = other.Worker
	case 5:
		copied := *e
		copied.Call += s.seconds(0, 20)
		if copied.Outcome != NoReply {
			copied.Return = max(copied.Return, copied.Call) + s.seconds(0, 10)
		}
		if copied.Op != Push {
			h.Events = append(h.Events, copied)
		}
	default:
		*e = e.withoutReply()
	}
	slices.SortStableFunc(h.Events, func(a, b Event) int { return int(a.Call - b.Call) })
}
