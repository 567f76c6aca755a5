package session

import (
	"fmt"
	"io"
	"time"
)

// Codec is what a conversation needs to know of its protocol. It is safe for
// concurrent use.
type Codec interface {
	// Begin returns the two halves of a new conversation: a reader of the
	// peer's messages from the given stream, and the state. They may share data, under a
	// lock of their own: State.Sent is called before the bytes are written,
	// so a Reader can know which command it reads the answer to.
	Begin(from io.Reader) (Reader, State)

	// Text returns a message as a transcript writes it, on one line and shortened.
	Text(m Message) string
}

// Message is one message of a peer.
type Message struct {
	Kind  byte     // the protocol's mark of its type, such as '+'; 0 means no message
	Text  []byte   // its text, or its only block
	Parts [][]byte // its blocks or frames, where there can be several

	ArrivalTime time.Duration // from its first byte to its last, where that is known

	IsHidden bool // it is no part of the conversation: only an Observer gets it

	// Lapse is a breach of the grammar that leaves no doubt what the message is and where it ends, or an answer of a kind
	// that its command does not have and whose meaning is certain: the message is then what it means, and the rule begins
	// with [ImpossibleReply]. It is nil if there is none. Only a Reader that tolerates lapses has such messages, see
	// [Config.ToleratesLapses].
	Lapse *SyntaxError
}

// ImpossibleReply begins the Rule of a Lapse in which an answer is of another kind than those of its command: the verb
// of the command follows.
const ImpossibleReply = "foreign-reply:"

// size is the number of bytes that the message keeps in memory.
func (m Message) size() int {
	n := len(m.Text)
	for _, p := range m.Parts {
		n += len(p)
	}
	return n
}

// Reader reads the messages of a peer, strictly. Only the goroutine that reads
// the connection uses it.
type Reader interface {
	// Read blocks until a message is complete and returns it; the memory belongs to
	// the caller. Its errors are io.EOF between two messages, a *[SyntaxError],
	// after which Read is not called again, and those of the stream, unchanged;
	// after a deadline Read is called again and continues where it stopped.
	Read() (Message, error)

	// Pending returns what an unfinished message still needs, in words, and the
	// rule of the grammar that a peer breaks if it never completes it. Both are empty
	// between two messages.
	Pending() (words, rule string)

	// Buffered returns how many bytes were read that are not part of a returned
	// message.
	Buffered() int

	// TolerateLapses has it go on where a peer breaks the grammar and the message is certain nevertheless. It is called
	// before the first Read.
	TolerateLapses()
}

// State is the state of one conversation, with what is owed. It is used by one goroutine at a time.
type State interface {
	// Sent records bytes that are about to be written: the bytes of one write
	// or, of a line that is cut into segments, all of them.
	Sent(b []byte)

	// Role returns what a message is to the conversation as it stands: Answer,
	// Notice or Unasked. It changes nothing.
	Role(m Message) MessageRole

	// Received records the next message of the peer.
	Received(m Message)

	// Status returns the present state.
	Status() Status
}

// Status is the present state of a conversation.
type Status struct {
	Phase        Phase
	OwedMessages int    // how many messages the peer still has to send
	Verb         string // of the command that was sent last, empty before the first
	Command      []byte // the bytes of that command, as far as the protocol knows where it begins
	Farewell     []byte // what a client sends before it closes, nil if it just closes
}

// Phase is a stage of a conversation.
type Phase uint8

// The phases, in the order in which they follow each other; any may be skipped.
const (
	Greeting   Phase = iota // the two have not introduced themselves to each other
	Serving                 // every command is served
	Restricted              // the peer accepts fewer commands, or is about to close
	Ended                   // one of them has ended the conversation
)

// MessageRole is what a message is to a conversation.
type MessageRole uint8

// The roles. A State returns the first three.
const (
	Answer  MessageRole = iota + 1 // the peer owed a message, and this is one
	Notice                         // the peer may send it at any time: a heartbeat, a job that it hands out
	Unasked                        // the peer owed nothing
	Extra                          // the same, right behind an answer: a second answer to one command
)

// SyntaxError is a breach of the grammar by the peer, or a message beyond a limit of ours. The rest of that stream
// cannot be divided into messages.
type SyntaxError struct {
	Rule     string // the protocol's name of the rule
	Offset   int64  // the first byte that cannot be right, from 0 at the start of the stream
	Expected string // what belongs there, in words
	Got      string // what stands there, quoted
	IsLimit  bool   // Rule is a limit of ours, which no specification states
}

// Error returns where the stream goes wrong and which rule it breaks.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("reply syntax (%s): byte %d: expected %s, got %s", e.Rule, e.Offset, e.Expected, e.Got)
}

// Received is one message, the end of the connection, bytes that break the grammar, or
// nothing within the time of a wait.
type Received struct {
	At      time.Time
	Message Message      // if it is whole, see [Received.IsComplete]
	Ending  Ending       // Fin or Reset if the peer ended the connection, else NotEnded
	Broken  *SyntaxError // bytes that break the grammar, or nil

	GaveUp     bool   // the wait was given up before a whole message was there
	Pending    string // what the unfinished message needed then, empty if none had begun
	Rule       string // the rule that the peer breaks if it never completes it
	IsArriving bool   // more of it was still arriving when the wait was given up

	Role         MessageRole // of a whole message
	Command      []byte      // the command that was sent last before a whole message was taken
	OwedMessages int         // how many messages the peer owed then, this one included
	Trailing     int         // bytes that were read together with a message and stood behind it

	text    func(Message) string
	receipt chan struct{} // closed when the user of the connection has it; nil if little is waiting
}

// IsComplete reports whether a complete message was received.
func (r Received) IsComplete() bool { return r.Ending == NotEnded && r.Broken == nil && !r.GaveUp }

// HasBytes reports whether the peer sent something: a message, a part of one, or
// what breaks the grammar.
func (r Received) HasBytes() bool { return r.Ending == NotEnded && (!r.GaveUp || r.Pending != "") }

// String returns a message as a transcript has it, and anything else in words.
func (r Received) String() string {
	switch {
	case r.Ending == Fin:
		return "the connection was closed (orderly, FIN)"
	case r.Ending == Reset:
		return "the connection was reset"
	case r.Broken != nil:
		return r.Broken.Error()
	case r.GaveUp && r.IsArriving:
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

// The endings. A peer ends a connection with Fin or Reset; Closed is the ending of a connection that we ended, or an
// ending of either kind.
const (
	NotEnded   Ending = iota
	Closed            // <close>
	Fin               // <fin>: orderly
	Reset             // <reset>
	HalfClosed        // <half-close>: we send no more, but read on
)

// String returns the ending as transcripts write it.
func (e Ending) String() string {
	return [...]string{"open", "<close>", "<fin>", "<reset>", "<half-close>"}[e]
}
