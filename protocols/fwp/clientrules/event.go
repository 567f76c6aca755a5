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
	Opened     Kind = iota + 1 // a client connected
	Line                       // the client sent a line, or the beginning of one that is too long to keep
	Reply                      // the server sent a reply, or its greeting
	Broken                     // the server sent bytes that are not RESP; its later bytes are not read
	Closed                     // the connection is closed
	Unfinished                 // the recording ends before the line that the client is sending
	AfterClose                 // the client sent a line on a connection of which the server had closed its side
	Started                    // a process was started
	Signalled                  // a process was sent a signal
	Exited                     // a process has ended
	Lag                        // the machine was late by Event.Late
	Passed                     // nothing happened but time
	Lost                       // bytes of a connection were lost: it is not judged any more, nor is its worker

	second   // internal: once a second for each worker
	departed // internal: a worker has no connection any more, and is not expected back
)

var kindNames = text.NewEnum("kind", map[Kind]string{
	Opened: "opened", Line: "line", Reply: "reply", Broken: "broken reply", Closed: "closed",
	Unfinished: "unfinished line", AfterClose: "line after the close",
	Started: "started", Signalled: "signalled", Exited: "exited", Lag: "lag", Passed: "passed", Lost: "lost",
	second: "second", departed: "departed",
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

	// Of a Line, and AfterClose. Raw is the line as it was sent, with its end, cut after MaxKept bytes; Size is its whole
	// length. Of Closed by the client in order, and Unfinished: the same of a line that is not over, cut much earlier;
	// nothing if there is none.
	Raw     []byte
	Size    int
	Command fwp.Command     // as far as the line could be read
	Object  map[string]any  // the JSON object behind the verb, numbers as json.Number; nil if there is none
	Wrong   []SyntaxMistake // what is wrong with the syntax before its end, from the left
	Unread  bool            // the line was too long to judge: Command has the verb only

	// Of a Reply.
	Reply fwp.Reply
	To    string // verb of the command that it answers, "" if none
	Greet bool   // it is the first of its connection
	Extra bool   // no command asked for it
	Job   *Job   // of a reply to FETCH that brings a work unit with a jid; otherwise nil

	// Of Broken: what is wrong with the server's bytes. The offset counts from the start of the connection.
	Syntax *fwp.SyntaxError

	// Of Closed.
	By    Side
	Reset bool // not in order: a reset, or with bytes that belong to no whole message
	// Reads says that the server has closed its side only: what the client sends from then on is seen, as AfterClose.
	Reads bool
	// Of Closed and Unfinished, if a line is not over: how long ago its first byte came, and for how long nothing has come
	// though it was waited for.
	Sent, Idle time.Duration

	// Of Exited: the exit code, -1 if a signal ended it. Of Signalled: the name of the signal, as in "TERM".
	Code   int
	Signal string
	// Of Started: the queues in the environment of the process; empty where Config.Queues has them.
	Told []string

	Late time.Duration // of Lag

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
	return e.Kind == Closed && (e.By != Client || e.Reset) && !e.Reads
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
	where := ""
	if m.Conn > 0 {
		where = fmt.Sprintf(" %d", m.Conn)
	} else if m.Process > 0 {
		where = fmt.Sprintf(" process %d", m.Process)
	}
	return fmt.Sprintf("%.3f s%s %s", m.At.Seconds(), where, m.Text)
}

// Moment returns what is kept of the event. The text is one line of at most about 300 bytes.
func (e *Event) Moment() Moment {
	return Moment{At: e.At, Conn: e.Conn, Process: e.Process, Text: e.text()}
}

func (e *Event) text() string {
	switch e.Kind {
	case Line, AfterClose, Unfinished:
		return "C: " + text.Escape(strings.TrimSuffix(short(e.Raw), "\r\n"))
	case Reply:
		return "S: " + text.Escape(replyText(e.Reply))
	case Broken:
		return "S: " + text.Printable(e.Syntax.Error())
	case Closed:
		how := "closed by the "
		if e.Reset && e.Size == 0 {
			how = "reset by the "
		}
		return how + e.By.String()
	case Signalled:
		return "signal " + e.Signal
	case Exited:
		return fmt.Sprintf("exited with %d", e.Code)
	}
	return e.Kind.String()
}

func short(b []byte) string {
	if len(b) > maxShown {
		return string(b[:maxShown]) + "..."
	}
	return string(b)
}

func replyText(r fwp.Reply) string {
	switch r.Kind {
	case fwp.SimpleString:
		return "+" + short(r.Text)
	case fwp.ErrorReply:
		return "-" + short(r.Text)
	case fwp.BulkString:
		return fmt.Sprintf("$%d %s", len(r.Text), short(r.Text))
	case fwp.NullBulk:
		return "$-1"
	case fwp.Integer:
		return fmt.Sprintf(":%d", r.Int)
	}
	return r.Kind.String()
}
