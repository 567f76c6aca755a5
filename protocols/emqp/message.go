package emqp

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Version is the protocol version, the second frame of each message. (Global Frames)
const Version = "eMQP/1.0"

// The commands.
const (
	ACK        = "ACK"        // (Global Frames)
	REPLY      = "REPLY"      // (Global Frames)
	HEARTBEAT  = "HEARTBEAT"  // (Global Frames, Heartbeating)
	DISCONNECT = "DISCONNECT" // (Global Frames, DISCONNECT and KBAI)
	KBAI       = "KBAI"       // (Global Frames, DISCONNECT and KBAI)
	REQUEST    = "REQUEST"    // (eMQP / Client)
	PUBLISH    = "PUBLISH"    // (eMQP / Client, eMQP / Publisher)
	SCHEDULE   = "SCHEDULE"   // (eMQP / Client)
	UNSCHEDULE = "UNSCHEDULE" // (eMQP / Client)
	INFORM     = "INFORM"     // (eMQP / Scheduler, eMQP / Worker)
	READY      = "READY"      // (eMQP / Worker)
)

// The types of peers that an INFORM can announce. (eMQP / Scheduler, eMQP / Worker)
const (
	TypeWorker    = "worker"
	TypeScheduler = "scheduler"
)

// Message is one message, without its empty frame and its version.
//
// Frames here have no identity in front, which a ROUTER adds. Write an invalid message as frames.
type Message struct {
	Command string
	ID      string   // unique for each message
	Fields  [][]byte // the frames after the id, see [Shapes]
}

// Frames returns the message as it is sent: an empty frame, the version, the command, the id and the fields.
func (m Message) Frames() [][]byte {
	return append([][]byte{{}, []byte(Version), []byte(m.Command), []byte(m.ID)}, m.Fields...)
}

// NoTimestamp and NoID are what [Mend] writes for a missing timestamp and a missing id.
const NoTimestamp, NoID = "0.0", "\x00none"

// commonFrames is how many frames are the same in each message.
const commonFrames = 4

// Field is the content of a frame that follows the id.
type Field string

// The fields, as the tables call them.
const (
	FieldAcked     Field = "the id of the acknowledged message"
	FieldMessage   Field = "a message"
	FieldTimestamp Field = "a unix timestamp"
	FieldQueue     Field = "a queue name"
	FieldTopic     Field = "a topic name"
	FieldHeaders   Field = "headers"
	FieldQueues    Field = "queues"
	FieldType      Field = "the type of the peer"
)

// shapes has the fields of each command by the tables. PUBLISH has two: a publisher's has no headers.
//
// The sentences above the tables of ACK and of a worker's INFORM count a frame less than the tables have (4 and 5).
// There is no reading in which a message has fewer: frame 4 of an ACK says what it is for, and frame 5 of an INFORM
// who informs. So the tables count.
var shapes = map[string][][]Field{
	ACK:        {{FieldAcked}},
	REPLY:      {{FieldMessage}},
	HEARTBEAT:  {{FieldTimestamp}},
	DISCONNECT: {{}},
	KBAI:       {{}},
	REQUEST:    {{FieldQueue, FieldHeaders, FieldMessage}},
	PUBLISH:    {{FieldTopic, FieldHeaders, FieldMessage}, {FieldTopic, FieldMessage}},
	SCHEDULE:   {{FieldQueue, FieldHeaders, FieldMessage}},
	UNSCHEDULE: {{FieldQueue, FieldHeaders, FieldMessage}},
	INFORM:     {{FieldQueues, FieldType}},
	READY:      {{}},
}

// Shapes returns the fields that follow the id of a command, in each allowed form. It returns nil for an unknown
// command.
func Shapes(command string) [][]Field { return slices.Clone(shapes[command]) }

// Rule names the rule that a message breaks. Its text is stable.
type Rule string

// The rules.
const (
	RuleEmpty     Rule = "empty"     // frame 0
	RuleVersion   Rule = "version"   // frame 1
	RuleCommand   Rule = "command"   // frame 2
	RuleID        Rule = "id"        // frame 3, and frame 4 of ACK
	RuleFrames    Rule = "frames"    // how many there are
	RuleTimestamp Rule = "timestamp" // frame 4 of HEARTBEAT
	RuleQueues    Rule = "queues"    // frame 4 of INFORM
	RuleType      Rule = "type"      // frame 5 of INFORM
	RuleHeaders   Rule = "headers"   // frame 5 of REQUEST, PUBLISH, SCHEDULE and UNSCHEDULE
	RuleNoHeaders Rule = "none"      // the same frame, of a message without headers: it must be empty
)

// Error is the error for a message that the specification does not allow.
type Error struct {
	Rule     Rule
	Frame    int    // the index of the first wrong frame, from 0; the number of frames if one is missing
	Expected string // in words
	Got      string // quoted, or in words
}

// Error returns what is wrong, and in which frame.
func (e *Error) Error() string {
	return fmt.Sprintf("eMQP message (%s): frame %d: expected %s, got %s", e.Rule, e.Frame, e.Expected, e.Got)
}

// newError returns the error for a frame, which may be missing.
func newError(rule Rule, frames [][]byte, i int, expected string) *Error {
	got := "no such frame"
	if i < len(frames) {
		got = strconv.QuoteToASCII(string(frames[i][:min(len(frames[i]), 40)]))
	}
	return &Error{Rule: rule, Frame: i, Expected: expected, Got: got}
}

// Parse parses the frames of a message, without a ROUTER's identity. The fields of the message alias frames. The
// error is an *[Error].
func Parse(frames [][]byte) (Message, error) {
	if err := checkCommon(frames); err != nil {
		return Message{}, err
	}
	m := Message{Command: string(frames[2]), ID: string(frames[3]), Fields: frames[commonFrames:]}
	fields := shapes[m.Command]
	i := slices.IndexFunc(fields, func(s []Field) bool { return len(s) == len(m.Fields) })
	if i < 0 {
		words := fmt.Sprintf("%d frames of %s", commonFrames+len(fields[0]), m.Command)
		if len(fields) > 1 {
			words = fmt.Sprintf("%d or %d frames of %s", commonFrames+len(fields[1]), commonFrames+len(fields[0]), m.Command)
		}
		at := min(len(frames), commonFrames+len(fields[0]))
		return Message{}, &Error{Rule: RuleFrames, Frame: at, Expected: words, Got: fmt.Sprint(len(frames))}
	}
	for j, f := range fields[i] {
		if err := checkField(f, m, frames, commonFrames+j); err != nil {
			return Message{}, err
		}
	}
	return m, nil
}

// Mend repairs the first mistake of a message, if it is clear which message was meant, and returns the new frames. It
// returns nil otherwise, and for a valid message. It repairs an identity before the empty frame, a missing empty
// frame, another version, frames after those of the table, a headers frame that is not headers, and a wrong or
// missing timestamp or id, for which it writes [NoTimestamp] and [NoID].
func Mend(frames [][]byte) [][]byte {
	_, err := Parse(frames)
	wrong, ok := errors.AsType[*Error](err)
	if !ok || len(frames) < commonFrames-1 {
		return nil
	}
	hasVersion := func(i int) bool { return strings.HasPrefix(strings.ToLower(string(frames[i])), "emqp") }
	switch {
	case wrong.Rule == RuleEmpty && hasVersion(0):
		return append([][]byte{{}}, frames...)
	case wrong.Rule == RuleEmpty && len(frames[1]) == 0 && hasVersion(2):
		return frames[1:]
	case wrong.Rule == RuleVersion && hasVersion(1):
		return append([][]byte{{}, []byte(Version)}, frames[2:]...)
	case wrong.Rule == RuleTimestamp:
		return append(frames[:commonFrames:commonFrames], []byte(NoTimestamp))
	case wrong.Rule == RuleID && wrong.Frame == commonFrames-1:
		return slices.Concat(frames[:commonFrames-1], [][]byte{[]byte(NoID)}, frames[min(commonFrames, len(frames)):])
	case wrong.Rule == RuleHeaders, wrong.Rule == RuleNoHeaders:
		return slices.Concat(frames[:wrong.Frame], [][]byte{{}}, frames[wrong.Frame+1:])
	case wrong.Rule == RuleFrames:
		return mendCount(frames)
	}
	return nil
}

// mendCount is Mend where only the number of frames is wrong.
func mendCount(frames [][]byte) [][]byte {
	command := string(frames[2])
	all := shapes[command]
	switch {
	case command == ACK && len(frames) == commonFrames: // the only one is that of the other message
		return slices.Insert(slices.Clone(frames), commonFrames-1, []byte(NoID))
	case command == HEARTBEAT && len(frames) == commonFrames:
		return append(frames[:commonFrames:commonFrames], []byte(NoTimestamp))
	case len(all) == 1 && len(frames) > commonFrames+len(all[0]):
		return frames[:commonFrames+len(all[0])]
	}
	return nil
}

// checkCommon checks the frames that are the same in each message.
func checkCommon(frames [][]byte) error {
	frame := func(i int) string {
		if i < len(frames) {
			return string(frames[i])
		}
		return ""
	}
	switch {
	case len(frames) == 0 || frame(0) != "":
		return newError(RuleEmpty, frames, 0, "an empty frame")
	case frame(1) != Version:
		return newError(RuleVersion, frames, 1, Version)
	case shapes[frame(2)] == nil:
		return newError(RuleCommand, frames, 2, "a command")
	case frame(3) == "":
		return newError(RuleID, frames, 3, "a unique id")
	}
	return nil
}

// checkField checks one frame behind the id.
func checkField(f Field, m Message, frames [][]byte, i int) error {
	text := string(frames[i])
	switch {
	case f == FieldAcked && text == "":
		return newError(RuleID, frames, i, string(f))
	case f == FieldTimestamp && !isTimestamp(text):
		return newError(RuleTimestamp, frames, i, string(f))
	case f == FieldType && text != TypeWorker && text != TypeScheduler:
		return newError(RuleType, frames, i, "worker or scheduler")
	case f == FieldQueues && string(frames[i+1]) != TypeScheduler: // which does not use them
		if _, err := ParseQueues(text); err != nil {
			return newError(RuleQueues, frames, i, err.Error())
		}
	case f == FieldHeaders:
		return checkHeaders(m, frames, i)
	}
	return nil
}

// checkHeaders checks the frame of the headers.
func checkHeaders(m Message, frames [][]byte, i int) error {
	text := string(frames[i])
	if text != "" && strings.TrimSpace(text) == "" {
		return newError(RuleNoHeaders, frames, i, "an empty frame")
	}
	h, err := ParseHeaders(text)
	if err == nil {
		err = h.Check(m.Command)
	}
	if err != nil {
		return newError(RuleHeaders, frames, i, err.Error())
	}
	return nil
}

// isTimestamp reports whether the text is a number of seconds, with or without a fraction: the document does not say.
func isTimestamp(text string) bool {
	point := false
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
		case c == '.' && !point && i > 0 && i < len(text)-1:
			point = true
		default:
			return false
		}
	}
	return text != ""
}
