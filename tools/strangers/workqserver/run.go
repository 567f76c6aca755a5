package main

import (
	"time"
)

// run adds a job and waits: for a worker until wait is over, and for its result until the time to run is over.
func (s *server) run(sp spec, wait uint64, gone <-chan struct{}) (*outcome, error) {
	sp.foreground = true
	sp.ttl = max(wait, wait+sp.ttr)
	j, err := s.add(sp)
	if err != nil {
		return nil, err
	}
	defer s.forget(j)
	timer := time.NewTimer(millis(wait))
	defer timer.Stop()
	select {
	case <-j.taken:
	case <-j.done:
	case <-gone:
		return nil, errTimeout
	case <-timer.C:
		if s.giveUp(j) {
			return nil, errTimeout
		}
	}
	var early <-chan time.Time
	if s.mutant == 25 {
		early = timer.C
	}
	select {
	case <-j.done:
	case <-gone:
		return nil, errTimeout
	case <-early:
		return nil, errTimeout
	}
	return s.ranTo(j)
}

// giveUp takes a job that no worker wants out of its queue, and tells whether it could.
func (s *server) giveUp(j *job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.state == stateLeased || j.ended() {
		return false
	}
	s.drop(j)
	return true
}

// ranTo tells how a run has ended.
func (s *server) ranTo(j *job) (*outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case j.timedOut:
		return nil, errTimeout
	case j.ended():
		return j.outcome(), nil
	}
	return nil, errNotFound
}

// forget drops the job of a run once its client has the answer.
func (s *server) forget(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.variant == 14 && j.ended() && !j.removed {
		j.lifeTimer = time.AfterFunc(time.Minute, func() { s.expire(j) })
		return
	}
	s.drop(j)
}
