package main

import (
	"math/rand/v2"
	"slices"
	"time"
)

// waiter is a lease command that waits for a job.
type waiter struct {
	names []string
	got   chan *job // takes one job without blocking
}

func (w *waiter) wants(name string) bool {
	return slices.Contains(w.names, name)
}

// lease returns a job of one of the names, or nil when the wait was in vain.
func (s *server) lease(names []string, wait uint64, gone <-chan struct{}) *job {
	s.mu.Lock()
	if q := s.choose(names); q != nil {
		defer s.mu.Unlock()
		return s.take(q)
	}
	if s.mutant == 30 {
		names = names[len(names)-1:]
	}
	w := &waiter{names: names, got: make(chan *job, 1)}
	s.waiters = append(s.waiters, w)
	s.mu.Unlock()

	timer := time.NewTimer(millis(wait))
	defer timer.Stop()
	select {
	case j := <-w.got:
		return j
	case <-timer.C:
		return s.leave(w, false)
	case <-gone:
		return s.leave(w, true)
	}
}

// leave ends a wait. A job that came at the last moment is still taken, or put back if no one is there.
func (s *server) leave(w *waiter, gone bool) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mutant != 31 || gone {
		s.waiters = slices.DeleteFunc(s.waiters, func(o *waiter) bool { return o == w })
	}
	select {
	case j := <-w.got:
		if !gone || j == nil || j.foreground {
			return j
		}
		j.attempts--
		s.requeue(j)
	default:
	}
	return nil
}

// choose picks one of the queues that have a job, each with the same chance.
func (s *server) choose(names []string) *queue {
	var full []*queue
	for _, name := range names {
		if q := s.queues[name]; q != nil && len(q.ready) > 0 {
			full = append(full, q)
		}
	}
	if len(full) == 0 {
		return nil
	}
	return full[rand.IntN(len(full))]
}

// take leases the first job of a queue and starts its time to run.
func (s *server) take(q *queue) *job {
	j := q.ready[0]
	q.ready = slices.Delete(q.ready, 0, 1)
	if j.lease == 0 {
		close(j.taken)
	}
	j.attempts++
	j.state = stateLeased
	j.lease++
	n := j.lease
	j.leaseTimer = time.AfterFunc(millis(j.ttr), func() { s.timeToRunOver(j, n) })
	if s.mutant == 10 && j.lifeTimer != nil {
		j.lifeTimer.Reset(millis(j.ttl))
	}
	return j
}

// timeToRunOver ends a lease that no client has reported in time.
func (s *server) timeToRunOver(j *job, lease int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.removed || j.state != stateLeased || j.lease != lease && s.mutant != 32 {
		return
	}
	if j.foreground {
		j.timedOut = true
		s.drop(j)
		return
	}
	if s.mutant == 18 && j.maxFails > 0 {
		j.fails++
		if j.fails >= j.maxFails {
			s.end(j, stateFailed, nil)
			return
		}
	}
	if j.exhausted() {
		if s.mutant != 17 {
			s.end(j, stateFailed, nil)
		}
		return
	}
	if s.mutant == 19 {
		j.key = 0
	}
	s.requeue(j)
}

// exhausted tells whether a job may not be attempted again.
func (j *job) exhausted() bool {
	return j.maxAttempts > 0 && j.attempts >= j.maxAttempts
}

// requeue makes a job ready once more.
func (s *server) requeue(j *job) {
	if j.leaseTimer != nil && s.mutant != 32 {
		j.leaseTimer.Stop()
	}
	j.state = statePending
	s.enqueue(j)
}
