package emqp

import (
	_ "embed"
	"slices"
	"strconv"
	"sync"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/emqp"
)

// Bug is a way in which a broker breaks the document. Its hook is the [Config.Hook] of a broker.
type Bug = catalogue.Bug[Event]

// Bugs returns the catalogue, sorted by name.
func Bugs() []Bug { return slices.Clone(allBugs()) }

var allBugs = sync.OnceValue(func() []Bug {
	return catalogue.SortBugs(requestBugs, informBugs, catalogue.RuledBugs(bugsTable(), Rules()))
})

//go:embed bugs.txt
var bugsText string

var bugsTable = catalogue.LazyTable("fakes/emqp/bugs.txt", bugsText)

// bug returns the bug of a row of bugs.txt that has no rule: a hook makes it, or a function that makes a hook for
// each broker because it remembers something.
func bug[H catalogue.Hook[Event]](name string, hook H) Bug {
	return catalogue.BugOf[Event](bugsTable(), name, hook)
}

// Indices of frames.
const (
	atEmpty = iota
	atVersion
	atCommand
	atID
	atFirst // of those behind the id
	atHeaders
	atMessage
)

// isCommand reports whether a message has one of the commands, and all frames of it; every message does if none is
// named.
func isCommand(e *Event, commands ...string) bool {
	m, err := emqp.Parse(e.Frames)
	return err == nil && (len(commands) == 0 || slices.Contains(commands, m.Command))
}

// isSent returns the condition that the broker is about to send a message of one of the commands.
func isSent(commands ...string) func(*Event) bool {
	return func(e *Event) bool { return e.IsFromBroker && isCommand(e, commands...) }
}

// isReceived returns the condition that a peer has sent a message of one of the commands.
func isReceived(commands ...string) func(*Event) bool {
	return func(e *Event) bool { return !e.IsFromBroker && isCommand(e, commands...) }
}

// isFromPeer is the condition of whatever a peer has sent.
func isFromPeer(e *Event) bool { return !e.IsFromBroker }

// isAny is the condition of each message, malformed or not.
func isAny(*Event) bool { return true }

// actOnSent returns a hook that acts on messages that the broker is about to send.
func actOnSent(act func(*Event), commands ...string) func(*Event) {
	return catalogue.ActIf(isSent(commands...), act)
}

// actOnReceived returns a hook that acts on messages of peers before they are handled.
func actOnReceived(act func(*Event), commands ...string) func(*Event) {
	return catalogue.ActIf(isReceived(commands...), act)
}

// peerOf returns the identity of the peer, idOf the id of a message, and queueOf the frame behind it, which is the
// queue of a REQUEST.
func peerOf(e *Event) string  { return strconv.Itoa(e.socket) + e.Peer }
func idOf(e *Event) string    { return string(e.Frames[atID]) }
func queueOf(e *Event) string { return string(e.Frames[atFirst]) }

// queuesOf returns the names in an INFORM.
func queuesOf(e *Event) (names []string) {
	queues, _ := emqp.ParseQueues(queueOf(e)) // isCommand has checked it
	for _, q := range queues {
		names = append(names, q.Name)
	}
	return names
}

// wantsReply reports whether a REQUEST asks for a reply.
func wantsReply(e *Event) bool {
	h, _ := emqp.ParseHeaders(string(e.Frames[atHeaders])) // isCommand has checked it
	return h.Has(emqp.ReplyRequested)
}

func drop(e *Event) { e.Drop = true }

// set returns a function that replaces one frame.
func set(i int, text string) func(*Event) {
	return change(i, func([]byte) []byte { return []byte(text) })
}

// change returns a function that changes one frame. The frames of a message may be those of another one that waits.
func change(i int, edit func([]byte) []byte) func(*Event) {
	return func(e *Event) {
		e.Frames = slices.Clone(e.Frames)
		e.Frames[i] = edit(e.Frames[i])
	}
}
