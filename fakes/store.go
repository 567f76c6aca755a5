package fakes

import (
	"sync"
	"time"
)

// store is everything that FLUSH clears. One lock guards it all; under it there is
// nothing but bookkeeping, since commands are read and replies are written outside.
type store struct {
	s *Server

	mu        sync.Mutex
	queues    map[string]*queue
	jobs      int // in all queues
	filled    int // queues that hold jobs
	scheduled timeline
	retries   timeline
	held      map[string]*timed // by jid
	expiry    timeline
	working   int
	dead      []*job
	processed int64
	failures  int64

	armed time.Time     // when the clock looks next; zero: when it is woken
	wake  chan struct{} // holds one
}

func newStore(s *Server) *store {
	return &store{
		s:      s,
		queues: make(map[string]*queue),
		held:   make(map[string]*timed),
		wake:   make(chan struct{}, 1),
	}
}

// push takes in a new job. (PUSH; Work unit state diagram)
func (st *store) push(e *Event, doc *Object) error {
	now := time.Now()
	at, _ := asTime(doc.Get("at"))
	later := at.After(now)
	if !later {
		doc.setTime("enqueued_at", now)
	}
	j := newJob(doc, &st.s.cfg)
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := st.room(j.queue); err != nil {
		return err
	}
	if later {
		st.postpone(e, "scheduled", &timed{job: j, due: j.at})
		return nil
	}
	st.enqueue(e, j)
	return nil
}

func (st *store) room(name string) error {
	cfg, q := &st.s.cfg, st.queues[name]
	if cfg.MaxQueueJobs > 0 && q != nil && q.jobs.len() >= cfg.MaxQueueJobs {
		return refuse(AboutLimit, "the queue is full")
	}
	if cfg.MaxQueues > 0 && st.filled >= cfg.MaxQueues && (q == nil || q.jobs.len() == 0) {
		return refuse(AboutLimit, "there are too many queues")
	}
	return nil
}

// enqueue hands a job whose enqueued_at is set to whoever waits for it, or puts it
// into its queue.
func (st *store) enqueue(e *Event, j *job) {
	if st.s.cfg.Hook != nil {
		if st.ask(Enqueued, e, &j) {
			return
		}
	} else {
		e.Front = false
	}
	st.put(e, j, e.Front)
}

// ask has the hook see a job under the lock, and takes over what it changed.
func (st *store) ask(p Point, e *Event, j **job) (skip bool) {
	skip = st.s.ask(p, e, *j)
	changed := newJob(e.Object, &st.s.cfg)
	changed.failures = (*j).failures
	*j = changed
	return skip
}

func (st *store) put(e *Event, j *job, front bool) {
	q := st.queue(j.queue)
	if first := q.waiting.Front(); first != nil {
		w := first.Value.(*waiter)
		st.part(w)
		w.got <- st.reserve(e, j)
		w.wake()
		return
	}
	if front {
		q.jobs.pushFront(j)
	} else {
		q.jobs.pushBack(j)
	}
	if st.jobs++; q.jobs.len() == 1 {
		st.filled++
	}
}

// take reserves the first job that the queues have, looking in the order given. If
// there is none, the waiter waits on the other queues. (FETCH)
func (st *store) take(e *Event, w *waiter) *timed {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, name := range e.Queues {
		q := st.queues[name]
		if q == nil || q.jobs.len() == 0 {
			continue
		}
		j := q.jobs.pop()
		if st.jobs--; q.jobs.len() == 0 {
			st.filled--
			st.tidy(q)
		}
		return st.reserve(e, j)
	}
	st.join(w, e.Block)
	return nil
}

// leave ends the waiting, and gives what may have come in the last moment. When it
// returns, nobody wakes the connection any more.
func (st *store) leave(w *waiter) *timed {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.part(w)
	select {
	case t := <-w.got:
		return t
	default:
		return nil
	}
}

// again enqueues a job that a hook wants to see twice.
func (st *store) again(e *Event, j *job) {
	st.put(e, j.with("enqueued_at", stamp(time.Now())), false)
}

// flush clears everything; consumers that wait go on waiting. (FLUSH)
func (st *store) flush(e *Event) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.s.ask(Flushed, e, nil) {
		return
	}
	st.clear()
}

// restarted tells the hook.
func (st *store) restarted(reset bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.s.ask(Restarted, &Event{Reset: reset}, nil) {
		st.clear()
	}
}

func (st *store) clear() {
	for _, q := range st.queues {
		q.jobs = ring{}
		st.tidy(q)
	}
	st.scheduled, st.retries, st.expiry = timeline{}, timeline{}, timeline{}
	st.held, st.dead = make(map[string]*timed), nil
	st.jobs, st.filled, st.working = 0, 0, 0
	st.processed, st.failures = 0, 0
}
