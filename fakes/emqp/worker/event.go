package worker

import (
	"time"

	"github.com/fwpsuite/fwp/protocols/emqp"
)

// Point is a step of the worker at which the hook is called, before the step happens.
type Point uint8

// The points. The hook must not call the worker.
const (
	// Informing: the Number-th conversation begins, from 1. Skip: without an INFORM.
	Informing Point = iota + 1

	// Sending: the Frames of a Command are sent behind the messages in Preamble, unless Mute. Skip: they are not.
	Sending

	// Waiting: the broker counts as disconnected after so much Patience.
	Waiting

	// Received: Message has arrived. Skip: nothing follows from it.
	Received

	// Working: the job of Message is to be run with these Retries and Timeout, and Replies says whether one is asked for.
	// ReplyFirst: a REPLY is sent first. Skip: it is not run.
	Working

	// Ran: Information is that of the job, which has HasFailed or not. Skip: no READY follows.
	Ran

	// Leaving: the worker was sent a DISCONNECT, and has sent a KBAI. Skip: it keeps the connection.
	Leaving

	// ConversationLost: a conversation is over. Exit: the worker ends.
	ConversationLost
)

// Event describes one step. A hook changes the step by changing the fields that are named at the point.
type Event struct {
	Point       Point
	Number      int
	Command     string
	Frames      [][]byte
	Preamble    [][][]byte
	Message     emqp.Message
	Retries     int
	Timeout     time.Duration
	Patience    time.Duration
	Information string
	Replies     bool
	HasFailed   bool
	ReplyFirst  bool
	Mute        bool
	Skip        bool
	Exit        bool
}
