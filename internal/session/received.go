package session

import "time"

// Received is one message, the end of the connection, bytes that break the grammar, or
// nothing within the time of a wait.
type Received struct {
	At      time.Time
	Message Message      // if it is whole, see [Received.Whole]
	Ending  Ending       // Fin or Reset if the peer ended the connection, else Open
	Broken  *SyntaxError // bytes that break the grammar, or nil

	GaveUp  bool   // the wait was given up before a whole message was there
	Pending string // what the unfinished message needed then, empty if none had begun
	Rule    string // the rule that the peer breaks if it never completes it
	Coming  bool   // more of it was still arriving when the wait was given up

	Turn     Turn   // of a whole message
	Asked    []byte // the command that was sent last before a whole message was taken
	Owed     int    // how many messages the peer owed then, this one included
	Trailing int    // bytes that were read together with a message and stood behind it

	text  func(Message) string
	taken chan struct{} // closed when the user of the connection has it; nil if little is waiting
}

// Whole reports whether a complete message was received.
func (r Received) Whole() bool { return r.Ending == Open && r.Broken == nil && !r.GaveUp }

// Bytes reports whether the peer sent something: a message, a part of one, or
// what breaks the grammar.
func (r Received) Bytes() bool { return r.Ending == Open && (!r.GaveUp || r.Pending != "") }

// String returns a message as a transcript has it, and anything else in words.
func (r Received) String() string {
	switch {
	case r.Ending == Fin:
		return "the connection was closed (orderly, FIN)"
	case r.Ending == Reset:
		return "the connection was reset"
	case r.Broken != nil:
		return r.Broken.Error()
	case r.GaveUp && r.Coming:
		return "a reply that was still coming: " + r.Pending
	case r.GaveUp && r.Pending != "":
		return "an unfinished reply: " + r.Pending
	case r.GaveUp:
		return "no reply"
	case r.text == nil:
		return ""
	}
	return r.text(r.Message)
}

// Ending is how a connection ends.
type Ending uint8

// The endings. A peer ends a connection with Fin or Reset; Closed is the ending of a
// connection that we ended, or an ending of either kind.
const (
	Open     Ending = iota
	Closed          // <close>
	Fin             // <fin>: orderly
	Reset           // <reset>
	HalfShut        // <half-close>: we send no more, but read on
)

// String returns the ending as transcripts write it.
func (e Ending) String() string {
	return [...]string{"open", "<close>", "<fin>", "<reset>", "<half-close>"}[e]
}
