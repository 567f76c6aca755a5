package emqp

import (
	_ "embed"
	"slices"
	"strconv"
	"sync"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/emqp"
)

// Fault is a way in which a broker breaks the document. Its hook is the [Config.Hook] of a broker.
type Fault = catalogue.Fault[Event]

// Faults returns the catalogue, sorted by name.
func Faults() []Fault { return slices.Clone(allFaults()) }

var allFaults = sync.OnceValue(func() []Fault {
	return catalogue.SortFaults(requestFaults, informFaults, catalogue.Ruled(faultsTable(), Rules()))
})

//go:embed faults.txt
var faultsText string

var faultsTable = catalogue.Reader("fakes/emqp/faults.txt", faultsText)

// fault returns the fault of a row of faults.txt that has no rule: a hook makes it, or a function that makes a hook for
// each broker because it remembers something.
func fault[H catalogue.Hook[Event]](name string, hook H) Fault {
	return catalogue.FaultOf[Event](faultsTable(), name, hook)
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

// is reports whether a message has one of the commands, and all frames of it; every message does if none is named.
func is(e *Event, commands ...string) bool {
	m, err := emqp.Parse(e.Frames)
	return err == nil && (len(commands) == 0 || slices.Contains(commands, m.Command))
}

// gives returns the condition that the broker is about to send a message of one of the commands.
func gives(commands ...string) func(*Event) bool {
	return func(e *Event) bool { return e.Sent && is(e, commands...) }
}

// got returns the condition that a peer has sent a message of one of the commands.
func got(commands ...string) func(*Event) bool {
	return func(e *Event) bool { return !e.Sent && is(e, commands...) }
}

// fromPeer is the condition of whatever a peer has sent.
func fromPeer(e *Event) bool { return !e.Sent }

// anything is the condition of each message, malformed or not.
func anything(*Event) bool { return true }

// sent returns a hook that acts on messages that the broker is about to send.
func sent(act func(*Event), commands ...string) func(*Event) {
	return catalogue.On(gives(commands...), act)
}

// received returns a hook that acts on messages of peers before they are handled.
func received(act func(*Event), commands ...string) func(*Event) {
	return catalogue.On(got(commands...), act)
}

// peerOf returns the identity of the peer, idOf the id of a message, and queueOf the frame behind it, which is the
// queue of a REQUEST.
func peerOf(e *Event) string  { return strconv.Itoa(e.socket) + e.Peer }
func idOf(e *Event) string    { return string(e.Frames[atID]) }
func queueOf(e *Event) string { return string(e.Frames[atFirst]) }

// queuesOf returns the names in an INFORM.
func queuesOf(e *Event) (names []string) {
	queues, _ := emqp.ParseQueues(queueOf(e)) // is has checked it
	for _, q := range queues {
		names = append(names, q.Name)
	}
	return names
}

// wantsReply reports whether a REQUEST asks for a reply.
func wantsReply(e *Event) bool {
	h, _ := emqp.ParseHeaders(string(e.Frames[atHeaders])) // is has checked it
	return h.Has(emqp.ReplyRequested)
}

func drop(e *Event) { e.Drop = true }

// set returns a function that replaces one frame.
func set(i int, text string) func(*Event) {
	return change(i, func([]byte) []byte { return []byte(text) })
}

// change returns a function that changes one frame. The frames of a message may be those of another one that waits.
func change(i int, how func([]byte) []byte) func(*Event) {
	return func(e *Event) {
		e.Frames = slices.Clone(e.Frames)
		e.Frames[i] = how(e.Frames[i])
	}
}
