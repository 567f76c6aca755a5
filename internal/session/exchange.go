package session

import "slices"

// Exchange is the [State] of a protocol whose clients speak first, and whose servers owe one message to each command.
// It is made by its literal; a protocol with more to a conversation embeds it.
type Exchange struct {
	// Parse returns the verb of the first command in b, and how many bytes it takes: 0 while it is not complete. last
	// says that the command ends the conversation, and has no answer.
	Parse func(b []byte) (verb string, n int, last bool)
	Phase Phase
	// Introduces reports whether the answer to a command introduces the client: then the phase is [Serving]. It may be
	// nil.
	Introduces func(verb string, m Message) bool
	// Farewell is what a client sends before it closes; nil: it just closes.
	Farewell []byte

	begun []byte   // of a command that is not complete
	asked []byte   // the last command
	verb  string   // of that
	owed  []string // the verbs of the commands that are not answered
}

// Sent implements [State].
func (s *Exchange) Sent(b []byte) {
	for s.begun = append(s.begun, b...); len(s.begun) > 0; {
		verb, n, last := s.Parse(s.begun)
		if n == 0 {
			return
		}
		s.asked, s.begun, s.verb = slices.Clone(s.begun[:n]), s.begun[n:], verb
		if last {
			s.Phase = Over
			continue
		}
		s.owed = append(s.owed, verb)
	}
}

// Begun returns what was sent of a command that is not complete.
func (s *Exchange) Begun() []byte { return s.begun }

// Answering returns the verb of the command that the next message answers, "" for none.
func (s *Exchange) Answering() string {
	if len(s.owed) == 0 {
		return ""
	}
	return s.owed[0]
}

// Turn implements [State].
func (s *Exchange) Turn(Message) Turn {
	if len(s.owed) == 0 {
		return Unasked
	}
	return Answer
}

// Received implements [State].
func (s *Exchange) Received(m Message) {
	if s.Phase == Greeting && s.Introduces != nil && s.Introduces(s.Answering(), m) {
		s.Phase = Serving
	}
	if len(s.owed) > 0 {
		s.owed = s.owed[1:]
	}
}

// Status implements [State].
func (s *Exchange) Status() Status {
	status := Status{Phase: s.Phase, Owed: len(s.owed), Verb: s.verb, Asked: s.asked, Begun: len(s.begun) > 0}
	if s.Phase == Serving {
		status.Farewell = s.Farewell
	}
	return status
}
