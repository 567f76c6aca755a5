package workq

import (
	"math"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// Job is a job as it was added.
type Job struct {
	UUID, Name   string
	Payload      []byte
	TTR, TTL     time.Duration
	Priority     int64
	MaxAttempts  uint64 // 0: unlimited
	MaxFails     uint64
	DueTime      time.Time // of a scheduled job, else zero
	CreationTime time.Time
	Foreground   bool // of run: it has no time to live, and ends with its command

	commandTTL uint64 // milliseconds, as the command has them: TTL may be less
}

// State is the state of a job as inspect shows it. (inspect job by id, Keys)
type State int

// The states.
const (
	New State = iota
	Completed
	FailedForGood
	Pending
	LeasedByWorker
)

// entry is a job in the server. The lock of the server guards all but Job and serial, which do not change.
type entry struct {
	Job
	serial      string // its id in the store, where the id of a client may come again
	attempts    uint64
	fails       uint64
	state       State
	result      []byte
	timer       *time.Timer   // of the time to live
	leaseSignal chan struct{} // closed when a worker has it for the first time
	endSignal   chan struct{} // closed when it is completed, failed for good, or removed
}

// ID, Queue and Reserve are what the store needs to know.
func (e *entry) ID() string { return e.serial }

func (e *entry) Queue() string          { return e.Name }
func (e *entry) Reserve() time.Duration { return e.TTR }

func (e *entry) stop() {
	if e.timer != nil {
		e.timer.Stop()
	}
}

func (e *entry) isOver() bool { return e.state == Completed || e.state == FailedForGood }

// end records how a job ended; the lock is held.
func (e *entry) end(state State, result []byte) {
	if !e.isOver() {
		e.state, e.result = state, result
		close(e.endSignal)
	}
}

// milliseconds returns a duration, which has a limit of its own.
func milliseconds(n uint64) time.Duration {
	const limit = math.MaxInt64 / uint64(time.Millisecond) / 4
	return time.Duration(min(n, limit)) * time.Millisecond //nolint:gosec // at most a quarter of what it can be
}

// newJob returns the job that a command adds.
func newJob(c workq.Command, now time.Time) Job {
	j := Job{
		UUID: c.ID, Name: c.Name(), Payload: c.Block, TTR: milliseconds(c.TTR), TTL: milliseconds(c.TTL),
		Priority: c.Priority, MaxAttempts: c.MaxAttempts, MaxFails: c.MaxFails, CreationTime: now.UTC(),
		Foreground: c.Verb == workq.Run, commandTTL: c.TTL,
	}
	if c.Verb == workq.Schedule {
		j.DueTime, _ = workq.Time(c.Time) // the reader has checked it
	}
	return j
}

// Put adds a job as a command add does that was read, without a connection, and reports whether there was none with its
// id.
func (s *Server) Put(c workq.Command) bool { return s.put(c) != nil }

// put adds a job, and returns nil if there is one with its id.
func (s *Server) put(c workq.Command) *entry {
	ask := s.ask(Event{Point: Adding, Command: c, Job: new(newJob(c, time.Now()))})
	e := &entry{Job: *ask.Job, leaseSignal: make(chan struct{}), endSignal: make(chan struct{})}
	s.mu.Lock()
	if s.jobs[e.UUID] != nil {
		s.mu.Unlock()
		return nil
	}
	s.serial++
	e.serial = strconv.Itoa(s.serial)
	if ask.Skip {
		s.mu.Unlock()
		return e
	}
	s.jobs[e.UUID] = e
	if s.config.RetainQueues {
		s.names[e.Name] = true
	}
	if !e.Foreground {
		life := e.TTL
		if !e.DueTime.IsZero() { // it starts on the scheduled time
			life += min(max(time.Until(e.DueTime), -life), math.MaxInt64-max(0, life)) // at most 292 years
		}
		e.timer = time.AfterFunc(life, func() { s.evict(e) })
	}
	s.mu.Unlock()
	dueTime := e.DueTime
	if !dueTime.After(time.Now()) {
		dueTime = time.Time{}
	}
	_ = s.store.Push(struct{}{}, e, dueTime) // it has no limits
	return e
}

// evict removes a job whose time to live is over. (add, ttl)
func (s *Server) evict(e *entry) {
	s.mu.Lock()
	if s.isClosed || s.jobs[e.UUID] != e {
		s.mu.Unlock()
		return
	}
	isIncomplete := !e.isOver()
	s.mu.Unlock()
	if s.ask(Event{Point: Evicted, Job: &e.Job}).Skip {
		return
	}
	if s.drop(e) && isIncomplete {
		s.mu.Lock()
		s.evictions++
		s.mu.Unlock()
	}
}

// drop removes a job from wherever it is. It returns false if it was removed before.
func (s *Server) drop(e *entry) bool {
	s.mu.Lock()
	if s.jobs[e.UUID] != e {
		s.mu.Unlock()
		return false
	}
	delete(s.jobs, e.UUID)
	e.stop()
	if !e.isOver() {
		close(e.endSignal)
		e.state = FailedForGood
	}
	s.mu.Unlock()
	s.store.Remove(e.serial)
	return true
}

// find returns the job with an id, nil if there is none.
func (s *Server) find(id string) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs[id]
}

// recordLease records that a worker has a job. It returns false if the job has ended or was removed.
func (s *Server) recordLease(e *entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs[e.UUID] != e || e.isOver() {
		return false
	}
	if e.attempts == 0 {
		close(e.leaseSignal)
	}
	e.attempts++
	e.state = LeasedByWorker
	return true
}

// expire is the fate of a job whose lease is over: it goes back to its queue, unless it has no attempts left. The job
// of a run ends. (add, ttr and max-attempts; run, ttr)
func (s *Server) expire(e *entry, now time.Time) (*entry, store.Set, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.jobs[e.UUID] != e, e.isOver():
		return e, store.Nowhere, now
	case e.Foreground, e.MaxAttempts > 0 && e.attempts >= e.MaxAttempts:
		e.end(FailedForGood, nil)
		return e, store.Nowhere, now
	}
	e.state = Pending
	return e, store.Retries, now
}

// policy calls the hook for the steps of the store.
type policy struct{ server *Server }

// Ask implements [store.Policy].
func (p policy) Ask(at store.Point, step *store.Step[*entry, struct{}]) (skip bool) {
	if p.server.config.Hook == nil {
		return false
	}
	e := Event{Job: nil, Until: step.Until}
	switch {
	case at == store.Reserving:
		e.Point = Leased
	case at == store.Expiring:
		e.Point = Expired
	case at == store.ComingDue && step.Set == store.Scheduled:
		e.Point = ComingDue
	default:
		return false
	}
	if step.Job != nil {
		e.Job = &step.Job.Job
	}
	answered := p.server.ask(e)
	step.Until = answered.Until
	return answered.Skip
}
