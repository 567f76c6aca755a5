package scenarios

import (
	"sync/atomic"

	"github.com/fwpsuite/fwp/fwp"
)

// service is one of the things that a server does for a new connection. A server that
// never did it has not ceased to do it: a probe that fails there finds nobody dead.
type service uint32

const (
	opening   service = 1 << iota // a connection can be opened
	greets                        // something comes first
	welcoming                     // a HELLO as the engine sends it is answered
	informing                     // INFO is answered
	hearing                       // BEAT is answered
)

// services is what a server has done at least once, and what probes have asked for in
// vain. It is safe for concurrent use.
type services struct{ done, vain atomic.Uint32 }

func (s *services) note(what service) {
	if !s.known(what) {
		s.done.Or(uint32(what))
	}
}

// missing notes that a probe failed at something; it reports whether the server has
// never done that.
func (s *services) missing(what service) bool {
	if s.known(what) {
		return false
	}
	s.vain.Or(uint32(what))
	return true
}

// hopeless reports whether a probe has failed at something that the server has still
// not done. To ask for it again would cost each check a timeout, and tell nothing.
func (s *services) hopeless(what service) bool {
	return s.vain.Load()&uint32(what) != 0 && !s.known(what)
}

func (s *services) known(what service) bool { return s.done.Load()&uint32(what) != 0 }

// replied notes what a reply to a command shows. An error shows nothing: it may be all
// that the server ever says to it. In which state it came is the connection's after it.
func (s *services) replied(verb string, r fwp.Reply, after fwp.State) {
	if r.Kind == fwp.ErrorReply {
		return
	}
	if what, asked := questions[verb]; asked && (what != welcoming || after == fwp.Identified) {
		s.note(what)
	}
}

// questions are the commands with which the engine asks whether a server serves.
var questions = map[string]service{fwp.HELLO: welcoming, fwp.INFO: informing, fwp.BEAT: hearing}

// unservedError is a probe that got no answer.
type unservedError struct {
	what  service // that failed
	words string
}

func (e *unservedError) Error() string { return e.words }
