package session

import (
	"os"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// State is the state of one connection, as its client knows it. The document makes no message the answer to another, so
// the broker owes its READY of ZMTP and a PONG for each PING; whatever else it sends is a notice.
type State struct {
	isReady    bool // the broker's READY was received
	pings      int  // PINGs that were sent and not answered
	isRefused  bool // its ERROR was
	isEnding   bool // DISCONNECT or KBAI was sent or received
	isInformed bool // INFORM was sent
	out        *stream
	last       emqp.Message // the last message that was sent
	verb       string       // of it, or PING
	lastWrite  []byte       // the bytes of the last write
}

func newState(raw bool) *State {
	s := &State{out: newStream()}
	if !raw {
		s.Sent(handshake(""))
	}
	return s
}

// HasInformed reports whether an INFORM was sent: HEARTBEATs are valid from then on. (Heartbeating)
func (s *State) HasInformed() bool { return s.isInformed }

// IsRefused reports whether the broker has declined the connection with an ERROR.
func (s *State) IsRefused() bool { return s.isRefused }

// LastMessage returns the last message that was sent as the document has it, the zero Message if there is none.
func (s *State) LastMessage() emqp.Message { return s.last }

// Sent implements [session.State].
func (s *State) Sent(b []byte) {
	s.lastWrite = b
	for item := range s.out.feed(b) {
		if item.Command.Name == zmtp.PING {
			s.pings, s.verb = s.pings+1, zmtp.PING
		}
		m, err := emqp.Parse(item.Parts)
		if err != nil {
			continue
		}
		s.last, s.verb = m, m.Command
		s.isInformed = s.isInformed || m.Command == emqp.INFORM
		s.isEnding = s.isEnding || m.Command == emqp.DISCONNECT || m.Command == emqp.KBAI
	}
}

// Role implements [session.State].
func (s *State) Role(m session.Message) session.MessageRole {
	handshake := m.Kind == Refusal || m.Kind == Ready
	pong := m.Kind == Pong
	switch {
	case handshake && !s.isReady, pong && s.pings > 0:
		return session.Answer
	case handshake, pong:
		return session.Unasked
	}
	return session.Notice
}

// Received implements [session.State].
func (s *State) Received(m session.Message) {
	switch m.Kind {
	case Refusal:
		s.isRefused = true
	case Ready:
		s.isReady = true
	case Pong:
		s.pings = max(s.pings-1, 0)
	case Message:
		got, err := emqp.Parse(m.Parts)
		s.isEnding = s.isEnding || err == nil && (got.Command == emqp.DISCONNECT || got.Command == emqp.KBAI)
	}
}

// Status implements [session.State]. The farewell of a peer that has informed is KBAI, so that the broker sends it
// nothing more. (DISCONNECT and KBAI)
func (s *State) Status() session.Status {
	status := session.Status{Verb: s.verb, Command: s.lastWrite, Phase: session.Serving, OwedMessages: s.pings}
	switch {
	case s.isEnding || s.isRefused:
		status.Phase = session.Ended
	case !s.isReady:
		status.Phase, status.OwedMessages = session.Greeting, 1
	case s.isInformed:
		status.Farewell = zmtp.AppendMessage(nil, emqp.Kbai("farewell").Frames()...)
	}
	return status
}

// stream follows what is written on a connection, in pieces of any size.
type stream struct {
	rest     []byte
	reader   *zmtp.Reader
	isBroken bool // what was written cannot be followed any more
}

func newStream() *stream {
	s := &stream{}
	s.reader = zmtp.NewReader(s, zmtp.Limits{Message: 64 << 20}) // more than the suite ever writes
	return s
}

// Read returns what there is, and a deadline behind it, after which a Reader continues.
func (s *stream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// feed takes what is written, and yields the items that are complete by then.
func (s *stream) feed(b []byte) func(yield func(zmtp.Item) bool) {
	return func(yield func(zmtp.Item) bool) {
		for s.rest = b; !s.isBroken; {
			item, err := s.reader.Read()
			if err != nil {
				s.isBroken = err != os.ErrDeadlineExceeded //nolint:errorlint // its own
				return
			}
			if !yield(item) {
				return
			}
		}
	}
}

// isBetween reports whether what was written ends where a message may begin.
func (s *stream) isBetween() bool { return !s.isBroken && s.reader.Buffered() == 0 }
