package main

import (
	"log"
	"time"
)

// state is the stage of the worker's life. It only ever grows.
type state int

const (
	running state = iota
	quiet
	terminating
)

// String is the protocol's word for the state.
func (s state) String() string {
	return [...]string{"running", "quiet", "terminate"}[s]
}

// enter goes to a later state; an earlier one is ignored.
func (w *worker) enter(next state) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if next == terminating && (w.state != terminating || mutant == 34) {
		w.deadline = time.Now().Add(w.graceTime())
	}
	if next <= w.state {
		return
	}
	log.Printf("entering the state %s", next)
	w.state = next
	w.quieted = w.quieted || next == quiet
	if next == terminating {
		close(w.terminating)
	}
}

// graceTime is how long jobs may go on after terminate.
func (w *worker) graceTime() time.Duration {
	if variant == 12 {
		return 0
	}
	return span(grace)
}

// graceEnd is when the lingering jobs are given up.
func (w *worker) graceEnd() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.deadline
}

// current is the present state.
func (w *worker) current() state {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// alive says whether the fetchers go on, be it idle.
func (w *worker) alive() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if mutant == 38 && !w.quieted && len(w.hand.list()) > 0 && time.Now().Before(w.deadline) {
		return true
	}
	return w.state != terminating
}

// fetching says whether the worker takes new jobs.
func (w *worker) fetching() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if mutant == 38 && !w.quieted {
		return true
	}
	return w.state == running
}

// revive takes quiet back.
func (w *worker) revive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == quiet {
		w.state = running
	}
}
