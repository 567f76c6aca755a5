package main

import (
	"time"
)

// The states of a job, as inspect shows them.
const (
	stateNew = iota
	stateCompleted
	stateFailed
	statePending
	stateLeased
)

// spec is what a client asks for with add, schedule or run.
type spec struct {
	id          string
	name        string
	ttr         uint64
	ttl         uint64
	payload     []byte
	priority    int64
	maxAttempts uint64
	maxFails    uint64
	at          time.Time // zero unless scheduled
	foreground  bool
}

type job struct {
	spec
	attempts uint64
	fails    uint64
	state    int
	created  time.Time
	result   []byte
	key      int64 // the priority with which it stands in its queue
	seq      int64 // the place among jobs of the same priority

	lease      int // counts leases, so that an old timer knows that it is late
	leaseTimer *time.Timer
	lifeTimer  *time.Timer
	wakeTimer  *time.Timer
	asleep     bool          // scheduled, and its time has not come
	taken      chan struct{} // closed when first leased
	done       chan struct{} // closed when it has ended or was removed
	closed     bool
	timedOut   bool
	removed    bool
	watchers   int // result commands that wait for it
}

func newJob(sp spec) *job {
	return &job{
		spec:    sp,
		key:     sp.priority,
		created: time.Now(),
		taken:   make(chan struct{}),
		done:    make(chan struct{}),
	}
}

// ended tells whether no further processing will occur.
func (j *job) ended() bool {
	return j.state == stateCompleted || j.state == stateFailed
}

// finish wakes everybody who waits for the end of the job.
func (j *job) finish() {
	if !j.closed {
		j.closed = true
		close(j.done)
	}
}

// stopTimers stops whatever would still happen to a job that is gone.
func (j *job) stopTimers() {
	for _, t := range []*time.Timer{j.leaseTimer, j.lifeTimer, j.wakeTimer} {
		if t != nil {
			t.Stop()
		}
	}
}
