package fakes

import (
	"errors"
	"fmt"
)

// Close stops listening, closes every connection, and returns when all goroutines of the
// server have ended. Calling it again does nothing.
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
}

// Restart is an orderly restart: the server stops listening, closes every connection,
// and listens again at the same address with the same store. It returns when clients can
// connect again, or the error why they cannot.
func (s *Server) Restart() error { return s.restart(false) }

// Kill is Restart with every connection reset.
func (s *Server) Kill() error { return s.restart(true) }

func (s *Server) restart(reset bool) error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.store == nil {
		return errors.New("restart: the server was never started")
	}
	s.stop(reset)
	s.store.Restarted(&Event{Reset: reset})
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
