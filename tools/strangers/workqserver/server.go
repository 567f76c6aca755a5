package main

import (
	"net"
	"sync"
	"time"
)

// server holds everything that clients share. All fields below mu are guarded by it.
type server struct {
	mutant  int
	variant int
	started time.Time

	mu      sync.Mutex
	jobs    map[string]*job
	queues  map[string]*queue
	order   []string // names of queues in the order in which they were made
	waiters []*waiter
	clients int
	evicted int
	seq     int64

	reserved  map[string]bool // ids that an earlier command has used up; only mutants 6 and 37 fill it
	latestRun map[string]*job // the last run of a name; only mutant 27 reads it
}

func newServer(mutant, variant int) *server {
	return &server{
		mutant:    mutant,
		variant:   variant,
		started:   time.Now(),
		jobs:      map[string]*job{},
		queues:    map[string]*queue{},
		reserved:  map[string]bool{},
		latestRun: map[string]*job{},
	}
}

// serve accepts connections until the listener is closed.
func (s *server) serve(l net.Listener) error {
	for {
		nc, err := l.Accept()
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.clients++
		s.mu.Unlock()
		go func() {
			newConn(s, nc).loop()
			nc.Close()
			s.mu.Lock()
			s.clients--
			s.mu.Unlock()
		}()
	}
}

// queueOf returns the queue of a name, and makes it if it is not there.
func (s *server) queueOf(name string) *queue {
	q := s.queues[name]
	if q == nil {
		q = &queue{name: name}
		s.queues[name] = q
		s.order = append(s.order, name)
	}
	return q
}

// millis turns milliseconds into a duration, and anything beyond a hundred years into a hundred years.
func millis(ms uint64) time.Duration {
	const most = 100 * 365 * 24 * time.Hour
	if ms > uint64(most/time.Millisecond) {
		return most
	}
	return time.Duration(ms) * time.Millisecond
}
