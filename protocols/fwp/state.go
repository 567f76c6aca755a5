package fwp

import "fmt"

// State is the state of a connection for its client. (Client Lifecycle)
type State uint8

// The states, in the only order in which a connection passes through them. Quiet
// and Terminating are for consumers; states may be skipped, never entered again.
const (
	NotIdentified State = iota // connected, HELLO not yet accepted
	Identified                 // HELLO accepted
	Quiet                      // must fetch no more
	Terminating                // must end within 30 seconds
	Ended                      // END sent
)

var stateNames = [...]string{
	NotIdentified: "not identified",
	Identified:    "identified",
	Quiet:         "quiet",
	Terminating:   "terminating",
	Ended:         "ended",
}

// String returns the specification's name of the state: "not identified" and so on.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// Allows reports whether a client that conforms may send this verb in state s.
//
//   - Not identified: HELLO alone, since it must be the first.
//   - Identified: every verb. The specification does not forbid a second HELLO.
//   - Quiet: every verb except FETCH (SHOULD NOT) and END (it MUST NOT terminate).
//   - Terminating: every verb except FETCH (MUST NOT).
//   - Ended: none.
//
// Other words are never allowed. The client's role, on which BEAT depends, is not taken
// into account. (Client Lifecycle; HELLO Command; END Command)
func (s State) Allows(verb string) bool {
	if !isVerb(verb) {
		return false
	}
	switch s {
	case NotIdentified:
		return verb == HELLO
	case Identified:
		return true
	case Quiet:
		return verb != FETCH && verb != END
	case Terminating:
		return verb != FETCH
	default:
		return false
	}
}

// Next returns the state after verb was sent in state s and r was the reply.
//
//   - HELLO answered with the simple string OK: not identified becomes identified.
//   - BEAT answered with {"state":"quiet"} or {"state":"terminate"}, as a bulk or as
//     a simple string: the state so named, never an earlier one than s.
//   - END: ended, whatever the reply is, even an error or none (the zero Reply),
//     because the client must not send anything after it.
//
// Everything else, such as an error reply, leaves s as it is.
// (Client Lifecycle; Client Commands; BEAT Command)
func (s State) Next(verb string, r Reply) State {
	switch {
	case s == Ended || verb == END:
		return Ended
	case verb == HELLO && s == NotIdentified && r.Kind == SimpleString && string(r.Text) == "OK":
		return Identified
	case verb == BEAT && s != NotIdentified:
		return max(s, beatState(r))
	}
	return s
}

// beatState returns the state that a reply to BEAT requests, or the zero state.
func beatState(r Reply) State {
	if r.Kind != BulkString && r.Kind != SimpleString {
		return NotIdentified
	}
	all, err := members(r.Text)
	if err != nil {
		return NotIdentified
	}
	switch name, _ := stringValue(all["state"]); name {
	case "quiet":
		return Quiet
	case "terminate":
		return Terminating
	}
	return NotIdentified
}
