package play

import "sync"

// service is one of the things that a server does for a new connection: one of those
// below, or the verb of a question that it answers. A probe that fails at a service
// which the server never provided does not show that it no longer serves.
type service string

const (
	connService     service = "(a connection)" // it can be opened
	greetingService service = "(a greeting)"   // the server sends the first message
	welcomeService  service = "(a welcome)"    // the engine's introduction is answered
)

// services lists what a server has done at least once, and what probes have asked for
// without success. It is safe for concurrent use.
type services struct {
	mu   sync.Mutex
	done map[service]bool // false: a probe has failed at it
}

func (s *services) note(name service) { s.set(name, true) }

// set records how a service went, unless it was provided before; it reports whether it was.
func (s *services) set(name service, done bool) (before bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == nil {
		s.done = map[service]bool{}
	}
	before = s.done[name]
	s.done[name] = before || done
	return before
}

// noteFailure records that a probe failed at a service; it reports whether the server has
// never provided it.
func (s *services) noteFailure(name service) bool { return !s.set(name, false) }

// hasFailed reports whether a probe has failed at a service that the server has still
// never provided. Another probe would cost each check a timeout, and show nothing.
func (s *services) hasFailed(name service) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	done, ok := s.done[name]
	return ok && !done
}

func (s *services) hasServed(name service) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done[name]
}

// unservedError is a probe that got no answer.
type unservedError struct {
	service  service // that failed
	words    string
	endsConn bool // the server ended the connection, which it had accepted, without a greeting
}

func (e *unservedError) Error() string { return e.words }
