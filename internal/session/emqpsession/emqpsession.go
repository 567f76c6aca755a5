// Package emqpsession is eMQP over ZMTP as [session.Protocol]: a DEALER's side of a conversation with a broker, whose
// messages are frames. [Open] says of a connection what ZMTP asks for before the first message, and answers PINGs and
// HEARTBEATs.
package emqpsession

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/zmtp"
)

// The kinds of messages.
const (
	Message = 'M' // of frames, which are its parts
	Command = 'K' // of ZMTP: READY and others; its text is the name, its only part the data
	Refusal = 'E' // ERROR of ZMTP; its text is the reason
)

// Protocol is the side of a client, worker or scheduler. In the zero Protocol HEARTBEATs of the broker are no
// messages of the conversation, and [Open] answers them.
type Protocol struct {
	Heartbeats bool // they are messages, and whoever uses the conversation answers them
	Raw        bool // the connection was not made by Open: greeting and READY are written like anything else
}

// messageLimit is how many bytes of a broker's message are read. The document states no limit; what the suite sends,
// and a broker may send back, has at most 8 MiB.
const messageLimit = 16 << 20

// Begin returns a conversation in which the broker owes its READY.
func (p Protocol) Begin(_ session.Side, from io.Reader) (session.Reader, session.State) {
	return reader{zmtp.NewReader(from, zmtp.Limits{Message: messageLimit}), p.Heartbeats}, newState(p.Raw)
}

// Text returns a message as a list of strings, and a command as its name and data.
func (Protocol) Text(m session.Message) string {
	switch m.Kind {
	case Command:
		return strings.TrimSpace(string(m.Text) + " " + text.Excerpt(bytes.Join(m.Parts, nil)))
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
	heartbeats bool
}

// Read returns messages and commands. It passes over greetings, PINGs and PONGs, and HEARTBEATs that are as they
// should be.
func (r reader) Read() (session.Message, error) {
	for {
		item, err := r.Reader.Read()
		if syntax, is := errors.AsType[*zmtp.SyntaxError](err); is {
			return session.Message{}, &session.SyntaxError{
				Rule: string(syntax.Rule), Offset: syntax.Offset, Expected: syntax.Expected, Got: syntax.Got,
				Limit: syntax.Rule.Limit(),
			}
		}
		if err != nil {
			return session.Message{}, err
		}
		if m, ok := r.message(item); ok {
			return m, nil
		}
	}
}

// message returns an item as the conversation has it; false if that has no such item.
func (r reader) message(item zmtp.Item) (m session.Message, ok bool) {
	name := item.Command.Name
	switch {
	case item.Kind == zmtp.IsGreeting, name == zmtp.PING, name == zmtp.PONG:
		return m, false
	case name == zmtp.ERROR:
		reason, _ := zmtp.ParseError(item.Command.Data) // the reader has checked it
		return session.Message{Kind: Refusal, Text: []byte(reason)}, true
	case item.Kind == zmtp.IsCommand:
		return session.Message{Kind: Command, Text: []byte(name), Parts: [][]byte{item.Command.Data}}, true
	case !r.heartbeats && isHeartbeat(item.Parts):
		return m, false
	}
	return session.Message{Kind: Message, Parts: item.Parts}, true
}

func isHeartbeat(parts [][]byte) bool {
	m, err := emqp.Parse(parts)
	return err == nil && m.Command == emqp.HEARTBEAT
}

// Pending treats whatever is unfinished as truncated.
func (r reader) Pending() (what, rule string) {
	if what = r.Reader.Pending(); what == "" {
		return "", ""
	}
	return what, string(zmtp.RuleTruncated)
}
