package main

import (
	"net"
	"sync"
	"time"
)

// fetchWait is how long a FETCH may wait for a job.
const fetchWait = 2 * time.Second

// sweepEvery is the pause between two looks at schedules, retries and reservations.
const sweepEvery = 100 * time.Millisecond

type config struct {
	password string
	dir      string
	mutant   int
	variant  int
	wait     time.Duration
}

// A server holds everything; mu guards all that is below it, in the store, and in the connections.
type server struct {
	config
	listener net.Listener
	done     chan struct{}
	running  sync.WaitGroup

	mu       sync.Mutex
	shift    time.Duration // tests move the clock with it
	conns    map[*conn]bool
	workers  map[string]*worker
	enlisted int
	accepted int
	nonce    nonce // of the newest connection
	commands int
	store    store
	journal  *journal
}

func newServer(cfg config, address string) (*server, error) {
	s := &server{
		config:  cfg,
		done:    make(chan struct{}),
		conns:   map[*conn]bool{},
		workers: map[string]*worker{},
		store:   newStore(),
	}
	if s.variant == 13 {
		s.wait = s.wait * 8 / 10
	}
	if err := s.openJournal(); err != nil {
		return nil, err
	}
	var err error
	if s.listener, err = net.Listen("tcp", address); err != nil {
		return nil, err
	}
	s.running.Add(2)
	go s.accept()
	go s.sweepForever()
	return s, nil
}

func (s *server) address() string { return s.listener.Addr().String() }

func (s *server) now() time.Time { return time.Now().Add(s.shift) }

func (s *server) accept() {
	defer s.running.Done()
	for {
		nc, err := s.listener.Accept()
		if err != nil {
			return
		}
		c := newConn(s, nc)
		s.mu.Lock()
		s.conns[c] = true
		s.accepted++
		s.mu.Unlock()
		s.running.Add(1)
		go c.serve()
	}
}

func (s *server) sweepForever() {
	defer s.running.Done()
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
			s.mu.Lock()
			s.sweep()
			s.mu.Unlock()
		}
	}
}

// stop ends all connections, waits for them, and closes the journal.
func (s *server) stop() error {
	close(s.done)
	err := s.listener.Close()
	s.mu.Lock()
	for c := range s.conns {
		c.hangUp()
	}
	s.mu.Unlock()
	s.running.Wait()
	if s.journal != nil {
		return s.journal.close()
	}
	return err
}
