package fakes

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/internal/base/machine"
)

// closePatience is how long a server that is closed waits for its goroutines.
const closePatience = 10 * time.Second

// Close stops listening and closes every connection. It returns when all goroutines of the server have ended and its
// jobs are in [Config.Dir]. If a hook does not return, Close does after 10 s, and stores nothing. Another call does
// nothing.
func (s *Server) Close() {
	s.life.Lock()
	defer s.life.Unlock()
	s.mu.Lock()
	isFirst := !s.isClosed && s.done != nil
	s.isClosed = true
	s.mu.Unlock()
	if isFirst {
		close(s.done)
	}
	s.stop(false)
	if s.hasEnded() && isFirst {
		s.save()
		s.store.ReleaseBytes()
	}
}

// hasEnded waits for the goroutines of a server that is closed, and reports whether they have ended: a hook that waits
// for ever may hold the lock of the store.
func (s *Server) hasEnded() bool {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.serving.Wait()
		s.clock.Wait()
	}()
	return !machine.Wait(ended, closePatience)
}

// Restart is an orderly restart: the server stops listening, closes every connection, and listens again at the same
// address with the same jobs. It blocks until clients can connect again, or returns the error.
func (s *Server) Restart() error { return s.restart(false) }

// Kill is [Server.Restart], but resets every connection.
func (s *Server) Kill() error { return s.restart(true) }

func (s *Server) restart(reset bool) error {
	if err := s.Down(reset); err != nil {
		return err
	}
	return s.Up()
}

// Down is the first half of a Restart, or of a Kill if reset is true. Nothing listens until [Server.Up]. It returns
// an error if the server was never started.
func (s *Server) Down(reset bool) error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.store == nil {
		return errors.New("restart: the server was never started")
	}
	if s.cfg.RefusalTime > 0 && !reset {
		s.isLeaving.Store(true)
		machine.Wait(s.done, s.cfg.RefusalTime)
		defer s.isLeaving.Store(false)
	}
	s.stop(reset)
	s.serving.Wait()
	s.store.Restarted(&Event{ResetsConn: reset})
	s.reload(reset)
	return nil
}

// Up is the second half of a Restart or a Kill: the server listens again at the same address. It blocks until clients
// can connect again, or returns the error.
func (s *Server) Up() error {
	s.life.Lock()
	defer s.life.Unlock()
	if err := s.listen(); err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	return nil
}

// stop ends the listener and all connections. Their goroutines end soon.
func (s *Server) stop(reset bool) {
	s.mu.Lock()
	ln := s.ln
	s.ln = nil
	s.mu.Unlock()
	if ln != nil {
		ln.Close()
	}
	s.disconnect(reset)
}

// Disconnect closes all connections, and goes on listening.
func (s *Server) Disconnect() { s.disconnect(false) }

func (s *Server) disconnect(reset bool) {
	s.mu.Lock()
	conns := slices.Collect(maps.Keys(s.conns))
	s.mu.Unlock()
	for _, c := range conns {
		c.end(reset)
	}
}

// Reset removes all jobs and counts, and the effect of each [Server.Signal]. Connections stay open.
func (s *Server) Reset() {
	s.store.Clear(&Event{})
	s.workers.reset()
}

// ResetQueue removes the jobs of a queue, wherever they are, and the pause of the queue. Counts stay.
func (s *Server) ResetQueue(name string) { s.store.ClearQueue(&Event{}, name) }

// Rewind moves the server's clock back by d, and reports whether it did: only a server without jobs can, since times
// would come twice.
func (s *Server) Rewind(d time.Duration) bool { return s.store.Rewind(d) }

// Advance moves the server's clock forward by d. Everything that is due in this time happens before Advance returns,
// in order: scheduled jobs, retries and the ends of reservations. It does not shorten the waits of clients, such as
// that of a FETCH.
func (s *Server) Advance(d time.Duration) { s.store.Advance(&Event{}, d) }

// Now returns the time of the server's clock.
func (s *Server) Now() time.Time { return s.store.Now() }

// StoredJob is a job of the server.
type StoredJob struct {
	JID   string
	Place string          // "queue", "scheduled", "retries", "working", or "dead" if a Config.Extension stores those
	Queue string          // the queue that it is in, was in or will be in
	Due   time.Time       // when it is enqueued, when its reservation ends, or when it died; zero in a queue
	Unit  json.RawMessage // the work unit as a FETCH would return it now

	// Failures is how often the job has failed.
	Failures int
	// After is how long after its start the server reads a job of a [Snapshot].
	After time.Duration `json:"-"`
}

// Jobs returns all jobs: first those in queues, in their order and sorted by the names of the queues; then the
// scheduled, retried and reserved jobs, sorted by time. Dead jobs are only counted, see INFO, unless a
// [Config.Extension] stores them.
func (s *Server) Jobs() []StoredJob {
	var all []StoredJob
	for _, storedJob := range s.store.Jobs() {
		place := string(storedJob.Set)
		switch {
		case storedJob.DueTime.IsZero():
			place = "queue"
		case storedJob.Set == store.Nowhere:
			place = "working"
		}
		all = append(all, StoredJob{
			JID: storedJob.Job.jid, Place: place, Queue: storedJob.Job.queue, Due: storedJob.DueTime,
			Unit:     storedJob.Job.unit().Append(nil),
			Failures: storedJob.Job.failures,
		})
	}
	return all
}
