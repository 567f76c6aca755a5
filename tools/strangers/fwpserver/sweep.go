package main

import (
	"math/rand/v2"
	"time"
)

// failJob counts a failure: the job is discarded, dead, or tried again later.
func (s *server) failJob(j *job, f *failure) {
	j.fails++
	s.store.failures++
	if f != nil && (s.mutant != 44 || j.failure == nil) {
		f.Count = j.fails
		s.cutBacktrace(j, f)
		j.failure = f
	}
	limit := j.retry
	if s.mutant == 54 && limit > 0 {
		limit++
	}
	switch {
	case limit == 0:
		s.purge(j)
	case s.mutant == 55 && limit < 0:
		s.delay(j)
	case j.fails > limit:
		s.store.dead = append(s.store.dead, j)
		s.note(j, "dead")
	default:
		s.delay(j)
	}
}

// delay puts a failed job aside for a while.
func (s *server) delay(j *job) {
	j.due = s.now().Add(s.backOff(j.fails))
	if s.mutant == 36 && j.fails == 2 {
		j.due = j.due.Add(1000 * time.Hour)
	}
	s.store.retries = append(s.store.retries, j)
	s.note(j, "retries")
}

func (s *server) backOff(fails int64) time.Duration {
	switch s.variant {
	case 16:
		n := min(fails-1, 30)
		return time.Duration(15+n*n*n*n+rand.Int64N(30)*(n+1)) * time.Second
	case 17:
		return time.Second
	}
	return min(time.Hour, 4*time.Second<<min(fails-1, 12))
}

// sweep moves on whatever time has moved on.
func (s *server) sweep() {
	now := s.now()
	s.promoteScheduled(now)
	s.promoteRetries(now)
	s.expire(now)
	if s.mutant == 30 {
		s.closeSilent(now)
	}
}

// closeSilent forgets that the BEAT of one connection counts for all of the worker's connections.
func (s *server) closeSilent(now time.Time) {
	for c := range s.conns {
		w := c.worker
		if w != nil && now.Sub(c.lastHeard) > time.Minute && w.beatBy != c && now.Sub(w.beatAt) < time.Minute {
			c.hangUp()
		}
	}
}

func (s *server) promoteScheduled(now time.Time) {
	opened := map[string]bool{}
	for _, j := range s.store.scheduled {
		if s.mutant == 39 && !j.due.After(now) {
			opened[j.queue] = true
		}
	}
	var due, left []*job
	for _, j := range s.store.scheduled {
		if j.due.After(now) && !opened[j.queue] {
			left = append(left, j)
		} else {
			due = append(due, j)
		}
	}
	s.store.scheduled = left
	for _, j := range due {
		s.enqueue(j, false)
	}
}

func (s *server) promoteRetries(now time.Time) {
	var due, left []*job
	for _, j := range s.store.retries {
		if j.due.After(now) {
			left = append(left, j)
		} else {
			due = append(due, j)
		}
	}
	s.store.retries = left
	for _, j := range due {
		s.damageRetry(j)
		s.enqueue(j, true)
	}
}

// expire takes back what has been held for too long.
func (s *server) expire(now time.Time) {
	var late []*job
	for _, jobs := range s.store.working {
		for _, j := range jobs {
			if !j.deadline.After(now) {
				late = append(late, j)
			}
		}
	}
	for _, j := range late {
		holder := j.holder
		s.release(j)
		f := &failure{Type: "ReservationExpired", Message: "the reservation has expired", At: now}
		if s.mutant == 45 {
			f = nil
		}
		switch {
		case s.variant == 18 && j.retry > 0 && j.fails < j.retry:
			j.fails++
			f.Count = j.fails
			j.failure = f
			s.enqueue(j, true)
		default:
			s.failJob(j, f)
		}
		if s.mutant == 29 && holder != nil && holder.worker != nil {
			holder.hangUp()
		}
	}
}
