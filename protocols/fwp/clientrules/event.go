package clientrules

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Kind is what an event is about. The zero Kind is not an event.
type Kind uint8

// The kinds of events.
const (
	ConnOpen       Kind = iota + 1 // a client connected
	Line                           // the client sent a line, or the beginning of one that is too long to keep
	Reply                          // the server sent a reply, or its greeting
	BrokenReply                    // the server sent bytes that are not RESP; its later bytes are not read
	ConnClose                      // the connection is closed
	UnfinishedLine                 // the recording ends before the line that the client is sending
	LineAfterClose                 // the client sent a line on a connection of which the server had closed its side
	ProcessStart                   // a process was started
	ProcessSignal                  // a process was sent a signal
	ProcessExit                    // a process has ended
	Lag                            // the machine was late by Event.Lag
	TimePassage                    // nothing happened but time
	ByteLoss                       // bytes of a connection were lost: it is not judged any more, nor is its worker

	workerSecond    // internal: once a second for each worker
	workerDeparture // internal: a worker has no connection any more, and is not expected back
)

var kindNames = text.NewEnum("kind", map[Kind]string{
	ConnOpen: "opened", Line: "line", Reply: "reply", BrokenReply: "broken reply", ConnClose: "closed",
	UnfinishedLine: "unfinished line", LineAfterClose: "line after the close",
	ProcessStart: "started", ProcessSignal: "signalled", ProcessExit: "exited", Lag: "lag", TimePassage: "passed",
	ByteLoss:     "lost",
	workerSecond: "second", workerDeparture: "departed",
})

// String returns the name of the kind.
func (k Kind) String() string { return kindNames.String(k) }

// Side is who did something to a connection. The zero Side is not known.
type Side uint8

// The sides.
const (
	Client Side = iota + 1
	Server
)

// String returns "client", "server" or "unknown side".
func (s Side) String() string {
	switch s {
	case Client:
		return "client"
	case Server:
		return "server"
	}
	return "unknown side"
}

// Event is one thing that happened between clients and a server. Events of a stream are in the order of their times.
type Event struct {
	At      time.Duration // since the start of the stream
	Conn    int           // number of the connection, from 1; 0 if it is about none
	Process int           // number of the client's process, from 1; 0 if it is not known
	Kind    Kind
	Worker  string // the wid of the connection's HELLO, from that line on; "" if it has none

	// Of a Line, and LineAfterClose. Raw is the line as it was sent, with its end, cut after MaxMessage bytes; Size is its
	// whole length. Of ConnClose by the client in order, and UnfinishedLine: the same of a line that is not over, cut much
	// earlier; nothing if there is none.
	Raw      []byte
	Size     int
	Command  fwp.Command     // as far as the line could be read
	Object   map[string]any  // the JSON object behind the verb, numbers as json.Number; nil if there is none
	Mistakes []SyntaxMistake // what is wrong with the syntax before its end, from the left
	IsUnread bool            // the line was too long to judge: Command has the verb only

	// Of a Reply.
	Reply      fwp.Reply
	ReplyVerb  string // verb of the command that it answers, "" if none
	IsGreeting bool   // it is the first of its connection
	IsExtra    bool   // no command asked for it
	Job        *Job   // of a reply to FETCH that brings a work unit with a jid; otherwise nil

	// Of BrokenReply: what is wrong with the server's bytes. The offset counts from the start of the connection.
	Syntax *fwp.SyntaxError

	// Of ConnClose.
	Closer  Side
	IsReset bool // not in order: a reset, or with bytes that belong to no whole message
	// ServerReads says that the server has closed its side only: what the client sends from then on is seen, as
	// LineAfterClose.
	ServerReads bool
	// Of ConnClose and UnfinishedLine, if a line is not over: how long ago its first byte came, and for how long nothing
	// has come though it was waited for.
	SendTime, IdleTime time.Duration

	// Of ProcessExit: the exit code, -1 if a signal ended it. Of ProcessSignal: the name of the signal, as in "TERM".
	Code   int
	Signal string
	// Of ProcessStart: the queues in the environment of the process; empty where Config.Queues has them.
	ProcessQueues []string

	Lag time.Duration // of Lag

	worker *workerState // of the internal kinds
}

// Job is what the rules need of a work unit that was delivered.
type Job struct {
	JID        string `json:"jid"` // a short text that stands for it, if it is very long
	Type       string `json:"jobtype"`
	ReserveFor *int64 `json:"reserve_for"` // in seconds; nil if it is missing
	Args       []any  `json:"args"`
}

// Verb returns the verb of a Line, and "" for other events.
func (e *Event) Verb() string {
	if e.Kind == Line {
		return e.Command.Verb
	}
	return ""
}

// Text returns a field of a line's object, "" if it is missing or not a string.
func (e *Event) Text(field string) string {
	text, _ := e.Object[field].(string)
	return text
}

// IsError reports whether the event is a reply that is an error.
func (e *Event) IsError() bool { return e.Kind == Reply && e.Reply.Kind == fwp.ErrorReply }

// IsUnseenLoss reports whether the client lost a connection, and what it may have sent on it afterwards is not seen.
func (e *Event) IsUnseenLoss() bool {
	return e.Kind == ConnClose && (e.Closer != Client || e.IsReset) && !e.ServerReads
}

// maxShown bounds the text of a moment, in bytes.
const maxShown = 300

// Moment is what is kept of an event in order to show it: short, without the event's memory.
type Moment struct {
	At      time.Duration
	Conn    int
	Process int
	Text    string // "C: FETCH default", "S: $-1", "closed by the client"
}

// String returns the moment as reports print it.
func (m Moment) String() string {
	place := ""
	if m.Conn > 0 {
		place = fmt.Sprintf(" %d", m.Conn)
	} else if m.Process > 0 {
		place = fmt.Sprintf(" process %d", m.Process)
	}
	return fmt.Sprintf("%.3f s%s %s", m.At.Seconds(), place, m.Text)
}

// Moment returns what is kept of the event. The text is one line of at most about 300 bytes.
func (e *Event) Moment() Moment {
	return Moment{At: e.At, Conn: e.Conn, Process: e.Process, Text: e.text()}
}

func (e *Event) text() string {
	switch e.Kind {
	case Line, LineAfterClose, UnfinishedLine:
		return "C: " + text.Escape(strings.TrimSuffix(shortText(e.Raw), "\r\n"))
	case Reply:
		return "S: " + text.Escape(replyText(e.Reply))
	case BrokenReply:
		return "S: " + text.Printable(e.Syntax.Error())
	case ConnClose:
		prefix := "closed by the "
		if e.IsReset && e.Size == 0 {
			prefix = "reset by the "
		}
		return prefix + e.Closer.String()
	case ProcessSignal:
		return "signal " + e.Signal
	case ProcessExit:
		return fmt.Sprintf("exited with %d", e.Code)
	}
	return e.Kind.String()
}

func shortText(b []byte) string {
	if len(b) > maxShown {
		return string(b[:maxShown]) + "..."
	}
	return string(b)
}

func replyText(r fwp.Reply) string {
	switch r.Kind {
	case fwp.SimpleString:
		return "+" + shortText(r.Text)
	case fwp.ErrorReply:
		return "-" + shortText(r.Text)
	case fwp.BulkString:
		return fmt.Sprintf("$%d %s", len(r.Text), shortText(r.Text))
	case fwp.NullBulk:
		return "$-1"
	case fwp.Integer:
		return fmt.Sprintf(":%d", r.Int)
	}
	return r.Kind.String()
}
