// Package session is eMQP over ZMTP as [session.Protocol]: a DEALER's side of a conversation with a broker, whose
// messages are frames. [Open] says of a connection what ZMTP asks for before the first message, and answers PINGs and
// HEARTBEATs.
package session

import (
	"bytes"
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// The kinds of messages.
const (
	Message = 'M' // of frames, which are its parts
	Ready   = 'R' // READY of ZMTP; its text is the name, its parts are names and values by turns, the Socket-Type first
	Pong    = 'P' // PONG of ZMTP; its text is the name, its only part the context
	Command = 'K' // another command of ZMTP; its text is the name, its only part the data
	Refusal = 'E' // ERROR of ZMTP; its text is the reason
)

// Codec is the side of a client, worker or scheduler. In the zero Protocol HEARTBEATs and ACKs of the broker are no
// messages of the conversation; [Open] answers the HEARTBEATs.
type Codec struct {
	Heartbeats bool // they are messages
	Acks       bool // they are messages
	Raw        bool // the connection was not made by Open: greeting and READY are written like anything else

	sentIDs *sentIDs // the ids that an ACK can have; nil: any
}

// messageLimit is how many bytes of a broker's message are read. The document states no limit; what the suite sends,
// and a broker may send back, has at most 8 MiB.
const messageLimit = 16 << 20

// Begin returns a conversation in which the broker owes its READY.
func (p Codec) Begin(from io.Reader) (session.Reader, session.State) {
	r := &reader{
		Reader: zmtp.NewReader(from, zmtp.Limits{Message: messageLimit}), Codec: p,
		ids: map[string]uint64{}, seed: maphash.MakeSeed(), reportedRules: map[string]bool{},
	}
	return r, newState(p.Raw)
}

// Text returns a message as a list of strings, and a command as its name and data.
func (Codec) Text(m session.Message) string {
	switch m.Kind {
	case Ready, Pong, Command:
		return strings.TrimSpace(string(m.Text) + " " + text.Excerpt(bytes.Join(m.Parts, []byte(" "))))
	case Refusal:
		return zmtp.ERROR + " " + text.Excerpt(m.Text)
	}
	all := make([]string, len(m.Parts))
	for i, part := range m.Parts {
		all[i] = `"` + strings.ReplaceAll(text.Excerpt(part), `"`, `\"`) + `"`
	}
	return "[" + strings.Join(all, ", ") + "]"
}

type reader struct {
	*zmtp.Reader
	Codec
	ids           map[string]uint64 // hashes of messages, by id
	seed          maphash.Seed
	readOn        bool            // behind a message that is whole, and should not have been sent
	reportedRules map[string]bool // the rules of messages that were mended
	isRepeat      bool            // the last message is one that came before
}

// TolerateLapses has messages be read whose id is another one's, ACKs for none that was sent, and what [emqp.Mend]
// mends.
func (r *reader) TolerateLapses() { r.readOn = true }

// The rules of this package. Those of package emqp have RulePrefix before them, so that they differ from those of ZMTP.
const (
	RulePrefix       = "eMQP "
	RuleDirection    = RulePrefix + "direction"    // a broker sends no INFORM and no READY
	RuleAcknowledged = RulePrefix + "acknowledged" // an ACK is for a message that was sent on the connection
	RuleUnique       = RulePrefix + "unique"       // each message has an id of its own
)

// Read returns messages and commands. It passes over greetings and PINGs, and hides HEARTBEATs and ACKs that are no
// messages of the conversation. A message that the document does not allow is an error.
func (r *reader) Read() (session.Message, error) {
	for {
		item, err := r.Reader.Read()
		if syntax, ok := errors.AsType[*zmtp.SyntaxError](err); ok {
			broken := &session.SyntaxError{
				Rule: string(syntax.Rule), Offset: syntax.Offset, Expected: syntax.Expected, Got: syntax.Got,
				IsLimit: syntax.Rule.Limit(),
			}
			if syntax.Rule == zmtp.RuleTooMany { // no message of eMQP has so many frames
				broken.Rule, broken.IsLimit = RulePrefix+string(emqp.RuleFrames), false
			}
			return session.Message{}, broken
		}
		if err != nil {
			return session.Message{}, err
		}
		var wrong *session.SyntaxError
		if item.Kind == zmtp.IsMessage {
			wrong = r.check(item.Parts)
		}
		if wrong != nil && r.readOn && !lapses[wrong.Rule] {
			item.Parts, wrong = r.mend(item.Parts, wrong)
		}
		if wrong != nil && (!r.readOn || item.Parts == nil) {
			return session.Message{}, wrong
		}
		if m, ok := message(item); ok {
			m.Lapse = wrong
			m.IsHidden = m.Kind == Message && r.hides(string(m.Parts[2]))
			return m, nil
		}
	}
}

// message returns an item as a message; false if it is none.
func message(item zmtp.Item) (m session.Message, ok bool) {
	name := item.Command.Name
	switch {
	case item.Kind == zmtp.IsGreeting, name == zmtp.PING:
		return m, false
	case name == zmtp.ERROR:
		reason, _ := zmtp.ParseError(item.Command.Data) // the reader has checked it
		return session.Message{Kind: Refusal, Text: []byte(reason)}, true
	case item.Kind == zmtp.IsCommand:
		return commandOf(item.Command), true
	}
	return session.Message{Kind: Message, Parts: item.Parts}, true
}

// KindOf returns the kind of a command of ZMTP.
func KindOf(command string) byte {
	switch command {
	case zmtp.READY:
		return Ready
	case zmtp.PONG:
		return Pong
	}
	return Command
}

func commandOf(c zmtp.Command) session.Message {
	m := session.Message{Kind: KindOf(c.Name), Text: []byte(c.Name), Parts: [][]byte{c.Data}}
	if m.Kind == Ready {
		m.Parts = nil
		metadata, _ := zmtp.ParseMetadata(c.Data) // the reader has checked it
		for _, p := range metadata {
			if strings.EqualFold(p.Name, zmtp.SocketType) { // case and order do not matter in ZMTP, and do in a script
				m.Parts = slices.Insert(m.Parts, 0, []byte(zmtp.SocketType), p.Value)
			} else {
				m.Parts = append(m.Parts, []byte(p.Name), p.Value)
			}
		}
	}
	return m
}

// hides reports whether messages with a command are no part of the conversation. The document does not say to whom a
// PUBLISH goes, nor that a scheduler gets what is scheduled once; an UNSCHEDULE is broadcast to all queues, which
// workers have.
func (r *reader) hides(command string) bool {
	switch command {
	case emqp.HEARTBEAT:
		return !r.Heartbeats
	case emqp.ACK:
		return !r.Acks
	case emqp.PUBLISH:
		return true
	}
	unschedule := command == emqp.UNSCHEDULE
	return r.isRepeat && (unschedule || command == emqp.SCHEDULE) || unschedule && r.sentIDs != nil &&
		r.sentIDs.isWorker.Load()
}

// relayedCommands are the commands of messages that the broker passes on. One of them may be sent again as it was.
var relayedCommands = map[string]bool{
	emqp.REQUEST: true, emqp.PUBLISH: true, emqp.SCHEDULE: true, emqp.UNSCHEDULE: true, emqp.REPLY: true,
}

// lapses are the rules behind which can be read on.
var lapses = map[string]bool{RuleAcknowledged: true, RuleUnique: true}

// mend returns the frames of the message of a broker that others certainly are, nil if that is not certain, and what is
// wrong with them: of several things one that was not told yet.
func (r *reader) mend(parts [][]byte, first *session.SyntaxError) ([][]byte, *session.SyntaxError) {
	report := first
	for wrong := first; wrong != nil && !lapses[wrong.Rule]; wrong = r.check(parts) {
		if parts = emqp.Mend(parts); parts == nil {
			return nil, first
		}
		if !r.reportedRules[wrong.Rule] {
			report = wrong
		}
	}
	r.reportedRules[report.Rule] = true
	return parts, report
}

// check returns what a message of a broker breaks.
func (r *reader) check(parts [][]byte) *session.SyntaxError {
	m, err := emqp.Parse(parts)
	if wrong, ok := errors.AsType[*emqp.Error](err); ok {
		return r.syntaxError(RulePrefix+string(wrong.Rule), wrong.Expected+" in frame "+strconv.Itoa(wrong.Frame), wrong.Got)
	}
	content := maphash.Bytes(r.seed, bytes.Join(parts, []byte{0}))
	prev, isKnown := r.ids[m.ID]
	r.isRepeat = isKnown && prev == content
	switch {
	case m.Command == emqp.INFORM || m.Command == emqp.READY:
		return r.syntaxError(RuleDirection, "a message that a broker sends", m.Command)
	case m.Command == emqp.ACK && r.sentIDs != nil && !r.sentIDs.acknowledge(string(m.Fields[0])):
		return r.syntaxError(RuleAcknowledged, "the id of a message that was sent", text.Excerpt(m.Fields[0]))
	case m.ID != emqp.NoID && isKnown && (prev != content || !relayedCommands[m.Command]):
		return r.syntaxError(RuleUnique, "an id that no message before had", m.ID)
	}
	r.ids[m.ID] = content
	return nil
}

// syntaxError returns the error for the message that was read last.
func (r *reader) syntaxError(rule, expected, got string) *session.SyntaxError {
	return &session.SyntaxError{Rule: rule, Offset: r.Offset(), Expected: expected, Got: got}
}

// Buffered returns 0: what is read together with an answer is no part of it, since a broker sends messages at any time.
func (*reader) Buffered() int { return 0 }

// Pending treats whatever is unfinished as truncated.
func (r *reader) Pending() (detail, rule string) {
	if detail = r.Reader.Pending(); detail == "" {
		return "", ""
	}
	return detail, string(zmtp.RuleTruncated)
}
