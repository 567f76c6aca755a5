package main

import (
	"errors"
	"time"
)

// complete takes the result of a worker that has succeeded.
func (s *server) complete(id string, result []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.reported(id)
	if err != nil || j.ended() {
		return err
	}
	s.end(j, stateCompleted, result)
	return nil
}

// fail takes the result of a worker that has failed; the job is tried again if max-fails allows it.
func (s *server) fail(id string, result []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, err := s.reported(id)
	if err != nil || j.ended() && (s.mutant != 34 || j.state == stateFailed) {
		return err
	}
	j.fails++
	last := j.fails >= j.maxFails || j.exhausted() && s.mutant != 15
	if last || j.foreground {
		s.end(j, stateFailed, result)
		return nil
	}
	if s.mutant != 35 || j.result == nil {
		j.result = result
	}
	s.queueOf(j.name).remove(j)
	j.asleep = false
	s.requeue(j)
	return nil
}

// reported finds the job of a report. The first report of a job stands: later ones change nothing.
func (s *server) reported(id string) (*job, error) {
	j := s.jobs[id]
	switch {
	case j == nil:
		return nil, errNotFound
	case s.variant == 12 && j.ended():
		return nil, errors.New("the job has ended")
	case s.variant == 13 && j.attempts == 0:
		return nil, errors.New("the job was never leased")
	}
	return j, nil
}

// outcome is a result as it is sent to a client.
type outcome struct {
	id      string
	success bool
	result  []byte
}

func (j *job) outcome() *outcome {
	return &outcome{id: j.id, success: j.state == stateCompleted, result: j.result}
}

// result waits for the end of a job.
func (s *server) result(id string, wait uint64, gone <-chan struct{}) (*outcome, error) {
	s.mu.Lock()
	j := s.jobs[id]
	if j == nil {
		s.mu.Unlock()
		return nil, errNotFound
	}
	if j.ended() || s.mutant == 29 && j.fails > 0 && j.state == statePending {
		defer s.mu.Unlock()
		return j.outcome(), nil
	}
	done := (<-chan struct{})(j.done)
	if j.watchers++; s.mutant == 28 && j.watchers > 1 {
		done = nil
	}
	s.mu.Unlock()

	timer := time.NewTimer(millis(wait))
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		return nil, errTimeout
	case <-gone:
		return nil, errTimeout
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.ended() {
		return j.outcome(), nil
	}
	if s.variant == 8 {
		s.mu.Unlock()
		<-timer.C
		s.mu.Lock()
		return nil, errTimeout
	}
	return nil, errNotFound
}
