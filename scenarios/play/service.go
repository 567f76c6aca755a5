package play

import "sync"

// service is one of the things that a server does for a new connection: one of those
// below, or the verb of a question that it answers. A probe that fails at a service
// which the server never provided does not show that it no longer serves.
type service string

const (
	opening   service = "(a connection)" // it can be opened
	greets    service = "(a greeting)"   // the server sends the first message
	welcoming service = "(a welcome)"    // the engine's introduction is answered
)

// services lists what a server has done at least once, and what probes have asked for
// without success. It is safe for concurrent use.
type services struct {
	mu   sync.Mutex
	done map[service]bool // false: a probe has failed at it
}

func (s *services) note(what service) { s.set(what, true) }

// set records how a service went, unless it was provided before; it reports whether it was.
func (s *services) set(what service, done bool) (before bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == nil {
		s.done = map[service]bool{}
	}
	before = s.done[what]
	s.done[what] = before || done
	return before
}

// failed records that a probe failed at a service; it reports whether the server has
// never provided it.
func (s *services) failed(what service) bool { return !s.set(what, false) }

// failedBefore reports whether a probe has failed at a service that the server has still
// never provided. Another probe would cost each check a timeout, and show nothing.
func (s *services) failedBefore(what service) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	done, asked := s.done[what]
	return asked && !done
}

func (s *services) known(what service) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done[what]
}

// unservedError is a probe that got no answer.
type unservedError struct {
	what  service // that failed
	words string
	ended bool // the server ended the connection, which it had accepted, without a greeting
}

func (e *unservedError) Error() string { return e.words }
