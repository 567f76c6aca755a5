package main

import (
	"errors"
	"time"
)

// The errors that are answered as -NOT-FOUND and -TIMEOUT; all others are answered as -CLIENT-ERROR.
var (
	errNotFound = errors.New("not found")
	errTimeout  = errors.New("timeout")
)

// add takes a new job, at once or at its scheduled time.
func (s *server) add(sp spec) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.jobs[sp.id]
	if s.mutant == 8 && old != nil && old.state == stateLeased {
		old = nil
	}
	if old != nil || s.reserved[sp.id] {
		if s.variant == 1 && !sp.foreground {
			return old, nil
		}
		return nil, errors.New("duplicate job id")
	}
	j := newJob(sp)
	s.jobs[sp.id] = j
	if s.mutant == 37 {
		s.reserved[sp.id] = true
	}
	if sp.foreground {
		s.latestRun[sp.name] = j
		s.enqueue(j)
		return j, nil
	}
	s.startLife(j)
	if !sp.at.IsZero() && time.Until(sp.at)+millis(sp.ttl) <= 0 {
		s.evicted++
		s.drop(j)
		return j, nil
	}
	if until := time.Until(sp.at); until > 0 {
		q := s.queueOf(j.name)
		q.scheduled = append(q.scheduled, j)
		j.asleep = true
		j.wakeTimer = time.AfterFunc(until, func() { s.wake(j) })
		return j, nil
	}
	s.enqueue(j)
	return j, nil
}

// startLife arms the time to live, which for a scheduled job counts from its time.
func (s *server) startLife(j *job) {
	life := millis(j.ttl)
	if s.mutant == 12 {
		life = time.Duration(j.ttl) * time.Millisecond
	}
	if !j.at.IsZero() {
		life += time.Until(j.at)
	}
	j.lifeTimer = time.AfterFunc(life, func() { s.expire(j) })
}

// wake moves a scheduled job to those that are ready.
func (s *server) wake(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.removed || !j.asleep {
		return
	}
	q := s.queueOf(j.name)
	if s.mutant == 22 && q.scheduled[0] != j {
		j.wakeTimer.Reset(time.Until(q.scheduled[0].at) + time.Millisecond)
		return
	}
	j.asleep = false
	q.remove(j)
	s.enqueue(j)
}

// expire deletes a job at the end of its time to live.
func (s *server) expire(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.removed || s.mutant == 11 && j.state == stateCompleted {
		return
	}
	if !j.ended() || s.mutant == 9 {
		s.evicted++
	}
	s.drop(j)
}

// drop forgets a job, and wakes those who wait for it.
func (s *server) drop(j *job) {
	if j.removed {
		return
	}
	j.removed = true
	j.asleep = false
	j.stopTimers()
	s.queueOf(j.name).remove(j)
	if s.jobs[j.id] == j {
		delete(s.jobs, j.id)
	}
	j.finish()
}

// end marks a job as completed or failed, with its result.
func (s *server) end(j *job, state int, result []byte) {
	if j.leaseTimer != nil {
		j.leaseTimer.Stop()
	}
	if s.mutant != 33 {
		s.queueOf(j.name).remove(j)
	}
	j.asleep = false
	j.state = state
	if s.mutant != 35 || j.result == nil {
		j.result = result
	}
	if s.mutant == 27 && j.foreground && s.latestRun[j.name] != j {
		time.AfterFunc(millis(j.ttr), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			j.timedOut = true
			j.finish()
		})
		return
	}
	j.finish()
}

// delete forgets a job by its id.
func (s *server) delete(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[id]
	if j == nil {
		return errNotFound
	}
	q := s.queueOf(j.name)
	if s.mutant == 36 && len(q.ready) > 0 && j.state != stateLeased && !j.asleep && !j.ended() {
		j = q.ready[0]
	}
	if s.mutant == 24 && j.asleep {
		q.ghosts++
	}
	s.drop(j)
	return nil
}
