package law

import (
	"sync"
	"time"
)

// History is what the plays on one server have in common: the jobs that were pushed, which of them have ended, the
// values that may not come twice, and what the server may count. Each law enters what it has judged, and so judges what
// comes of another play; what clients do that are not seen is open. It is safe for concurrent use. A nil History knows
// nothing.
type History struct {
	mu     sync.Mutex
	jobs   map[string]PushedJob
	values map[string]string // with what each is of
	counts counts
}

// counts is what a server may count that no other client uses. The zero value, of any other server, tells nothing.
type counts struct {
	exclusive       bool
	conns, maxConns int
	lapses          map[string]time.Time
}

// PushedJob is a job that a play has pushed.
type PushedJob struct {
	Queue  string
	Clause string // that forbids to deliver it, because it has ended; "" if it has not, as far as is known
}

// NewHistory returns a History that knows nothing yet.
func NewHistory() *History {
	return &History{jobs: map[string]PushedJob{}, values: map[string]string{}}
}

// NewExclusiveHistory returns a History that was started for the plays, and that no other client uses: what it counts
// is theirs.
func NewExclusiveHistory() *History {
	s := NewHistory()
	s.counts = counts{exclusive: true, lapses: map[string]time.Time{}}
	return s
}

// maxPushed is how many jobs, and how many values, are kept: a run may go on for as long as it likes.
const maxPushed = 200_000

// locked calls a function while no other goroutine uses the History, if it knows anything.
func (s *History) locked(f func()) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// AddJob records a job before its PUSH is sent; the queue is empty if it is not known. Of an id that was pushed before,
// no job can be told.
func (s *History) AddJob(id, queue string) {
	s.locked(func() {
		if len(s.jobs) >= maxPushed {
			clear(s.jobs)
		}
		if _, ok := s.jobs[id]; ok {
			queue = ""
		}
		s.jobs[id] = PushedJob{Queue: queue}
	})
}

// EndJob records that a job has ended, and the clause that forbids to deliver it.
func (s *History) EndJob(id, clause string) {
	s.locked(func() {
		if j, ok := s.jobs[id]; ok {
			s.jobs[id] = PushedJob{j.Queue, clause}
		}
	})
}

// EndAllJobs records that all jobs have ended.
func (s *History) EndAllJobs(clause string) {
	s.locked(func() {
		for id, j := range s.jobs {
			s.jobs[id] = PushedJob{j.Queue, clause}
		}
	})
}

// Killed records that nothing is promised of the end of any job.
func (s *History) Killed() {
	s.EndAllJobs("")
	s.Restarted()
}

// Restarted records that the server may begin again with the values that may not come twice: by a counter, say.
func (s *History) Restarted() { s.locked(func() { clear(s.values) }) }

// Job returns the job with an id; false if none was pushed. It has no queue if that is not known, or if several had the
// id: then nothing can be told of it.
func (s *History) Job(id string) (j PushedJob, ok bool) {
	s.locked(func() { j, ok = s.jobs[id] })
	if j.Queue == "" {
		j.Clause = ""
	}
	return j, ok
}

// Repeats records a value that may come again only of the same thing, and reports whether it was there of another one.
// Where a thing has no name, each is another one.
func (s *History) Repeats(value, owner string) (isRepeat bool) {
	s.locked(func() {
		if len(s.values) >= maxPushed {
			clear(s.values)
		}
		before, ok := s.values[value]
		s.values[value] = owner
		isRepeat = ok && (owner == "" || before != owner)
	})
	return isRepeat
}

// AddConns records that n connections were opened; below zero: that they have ended.
func (s *History) AddConns(n int) {
	s.locked(func() {
		s.counts.conns += n
		s.counts.maxConns = max(s.counts.maxConns, s.counts.conns)
	})
}

// MaxConns returns how many connections of plays were open at a time, at the most; false if there may have been others.
func (s *History) MaxConns() (n int, ok bool) {
	s.locked(func() { n, ok = s.counts.maxConns, s.counts.exclusive })
	return n, ok
}

// SetLapse records from when on the time of a job may be over, before the job is sent. The zero time: it has ended
// before that.
func (s *History) SetLapse(key string, at time.Time) {
	s.locked(func() {
		switch {
		case !s.counts.exclusive:
		case at.IsZero():
			delete(s.counts.lapses, key)
		default:
			s.counts.lapses[key] = at
		}
	})
}

// Lapsed returns of how many jobs the time may be over by now; false if there may have been others.
func (s *History) Lapsed(now time.Time) (n int, ok bool) {
	s.locked(func() {
		ok = s.counts.exclusive
		for _, at := range s.counts.lapses {
			if !at.After(now) {
				n++
			}
		}
	})
	return n, ok
}
