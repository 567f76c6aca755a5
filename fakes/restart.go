package fakes

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/internal/wait"
)

// Close stops listening, closes every connection, and returns when all goroutines of the
// server have ended and its store is in [Config.Dir]. Calling it again does nothing.
func (s *Server) Close() {
	s.life.Lock()
	defer s.life.Unlock()
	s.mu.Lock()
	first := !s.closed && s.stopped != nil
	s.closed = true
	s.mu.Unlock()
	if first {
		close(s.stopped)
	}
	s.stop(false)
	s.clock.Wait()
	if first {
		s.save()
		s.store.Release()
	}
}

// Restart is an orderly restart: the server stops listening, closes every connection,
// and listens again at the same address with the same store. It returns when clients can
// connect again, or the error why they cannot.
func (s *Server) Restart() error { return s.restart(false) }

// Kill is Restart with every connection reset.
func (s *Server) Kill() error { return s.restart(true) }

func (s *Server) restart(reset bool) error {
	if err := s.Down(reset); err != nil {
		return err
	}
	return s.Up()
}

// Down is the first half of a Restart or, if reset is true, of a Kill: until Up nothing listens. The error is that
// the server was never started.
func (s *Server) Down(reset bool) error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.store == nil {
		return errors.New("restart: the server was never started")
	}
	if s.cfg.Farewell > 0 && !reset {
		s.leaving.Store(true)
		wait.Until(s.stopped, s.cfg.Farewell)
		defer s.leaving.Store(false)
	}
	s.stop(reset)
	s.store.Restarted(&Event{Reset: reset})
	s.reload(reset)
	return nil
}

// Up is the second half: the server listens again at the same address. It returns when clients can connect again, or
// the error why they cannot.
func (s *Server) Up() error {
	s.life.Lock()
	defer s.life.Unlock()
	if err := s.listen(); err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	return nil
}

// stop ends the listener and all connections, and waits for them.
func (s *Server) stop(reset bool) {
	s.mu.Lock()
	ln := s.ln
	s.ln = nil
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	if ln != nil {
		ln.Close()
	}
	for _, c := range conns {
		c.end(reset)
	}
	s.serving.Wait()
}

// Reset removes all jobs and counts, and takes back every [Server.Signal]. Connections stay.
func (s *Server) Reset() {
	s.store.Clear(&Event{})
	s.workers.reset()
}

// Advance sets the server's clock forward: what would have been due in this time, such as a scheduled job, a retry or
// the end of a reservation, happens before it returns, each at its time. Waits of clients, such as that of a FETCH,
// are not shortened.
func (s *Server) Advance(d time.Duration) { s.store.Advance(&Event{}, d) }

// Now returns the time of the server's clock.
func (s *Server) Now() time.Time { return s.store.Now() }

// StoredJob is a job that the server has.
type StoredJob struct {
	JID   string
	Place string          // "queue", "scheduled", "retries", "working", or "dead" if Config.Like keeps those
	Queue string          // the queue that it is in, was in or will be in
	Due   time.Time       // when it is enqueued, its reservation ends, or it died; zero for a job in its queue
	Unit  json.RawMessage // the work unit as it would be delivered now

	// Failures is how often it has failed.
	Failures int
	// After, of a job in a [Snapshot], is how long after its start the server reads it.
	After time.Duration `json:"-"`
}

// Jobs returns the jobs that the server has: those in queues in their order, by the names of the queues, then the
// scheduled, retried and held ones in the order of their times. Dead jobs are only counted, see INFO, unless
// Config.Like keeps them.
func (s *Server) Jobs() []StoredJob {
	var all []StoredJob
	for _, stored := range s.store.Jobs() {
		place := string(stored.Set)
		switch {
		case stored.Due.IsZero():
			place = "queue"
		case stored.Set == store.Nowhere:
			place = "working"
		}
		all = append(all, StoredJob{
			JID: stored.Job.jid, Place: place, Queue: stored.Job.queue, Due: stored.Due, Unit: stored.Job.doc().Append(nil),
			Failures: stored.Job.failures,
		})
	}
	return all
}
