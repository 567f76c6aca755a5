package zmtp

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/fwpsuite/fwp/internal/base/input"
)

// Limits bound the messages and commands that a [Reader] accepts. A zero field means the default.
type Limits struct {
	Message int // octets of the frames of a message together; 16 MiB
	Frames  int // of a message; 4096
	Command int // octets of a command; 64 KiB
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.Message, 16<<20)
	setDefault(&l.Frames, 4096)
	setDefault(&l.Command, 64<<10)
	return l
}

// Kind is the kind of an [Item].
type Kind uint8

// The kinds of items.
const (
	IsGreeting Kind = iota + 1
	IsCommand
	IsMessage
)

// Item is one part of a stream: a greeting, a command or a message.
type Item struct {
	Kind     Kind
	Greeting Greeting // of IsGreeting
	Command  Command  // of IsCommand
	Parts    [][]byte // of IsMessage: the bodies of its frames, at least one
	Offset   int64    // of its first octet in the stream

	// IsInside is set for a command between two frames of a message. The grammar has commands between messages only
	// (Formal Grammar: traffic), but libzmq sends a PING at any point.
	IsInside bool
}

// phase is the part of a connection that is read next.
type phase uint8

const (
	phaseGreeting  phase = iota
	phaseHandshake       // READY or ERROR is next
	phaseTraffic         // anything but READY
)

// Reader reads one direction of a connection, strictly: the greeting, the handshake of the NULL mechanism, then
// commands and messages. Its buffer grows with the received octets, never by a size that a peer announces. It is not
// safe for concurrent use.
//
// Bytes that break the grammar are a [SyntaxError] with their offset and rule. Writing checks nothing: the Append
// functions write what they are given, [AppendHeader] any flags and sizes, [Dealer.Raw] any octets.
type Reader struct {
	in         input.Reader // its offset is the number of octets of all items that were returned
	limits     Limits
	phase      phase
	pos        int    // of the next frame, from the first buffered octet
	parts      []span // of a message that is not complete
	size       int    // of its frames together, in octets
	insideSize int    // octets of the commands between its frames
	err        error  // a SyntaxError: final
}

// span is a part of the buffered octets.
type span struct{ from, to int }

// NewReader returns a Reader of a stream that starts with a greeting.
func NewReader(r io.Reader, limits Limits) *Reader {
	return &Reader{in: input.Reader{Source: r}, limits: limits.withDefaults()}
}

// errShort reports that more octets are needed.
var errShort = errors.New("zmtp: incomplete")

// Read returns the next item; its memory belongs to the caller. It blocks as long as the underlying reader does. The
// error is io.EOF if the stream ends between two items after the greeting, and a *[SyntaxError] if the peer breaks
// the grammar: its offset counts from the start of the stream, and each later Read returns it again. Any other error
// is the underlying reader's. After a deadline Read can be called again, and continues where it was.
func (r *Reader) Read() (Item, error) { return r.fill(r.next) }

// ReadOpening blocks until the first 11 octets of the greeting are received, and checks them. The version is in them.
// Its errors are those of Read, which is called next. (Version Negotiation)
func (r *Reader) ReadOpening() error {
	_, err := r.fill(func() (Item, error) {
		b := r.in.Buffered()
		if err := checkGreeting(b[:min(len(b), FirstPiece)]); err != nil {
			return Item{}, err
		}
		if len(b) < FirstPiece {
			return Item{}, errShort
		}
		return Item{}, nil
	})
	return err
}

// fill fills the buffer until try does not find it short any more.
func (r *Reader) fill(try func() (Item, error)) (Item, error) {
	if r.err != nil {
		return Item{}, r.err
	}
	for {
		item, err := try()
		if err == nil {
			return item, nil
		}
		if !errors.Is(err, errShort) {
			return Item{}, r.fail(err)
		}
		if err := r.in.Fill(); err != nil {
			if errors.Is(err, io.EOF) && (r.Buffered() > 0 || r.phase == phaseGreeting) {
				return Item{}, r.fail(&SyntaxError{
					Rule: RuleTruncated, Offset: int64(r.Buffered()),
					Expected: r.expectation(), Got: "the end of the stream",
				})
			}
			return Item{}, err
		}
	}
}

// fail makes the offset of an error, which counts from the first buffered octet, one of the stream.
func (r *Reader) fail(err error) error {
	if syntax, ok := errors.AsType[*SyntaxError](err); ok {
		syntax.Offset += r.in.Offset()
	}
	r.err = err
	return err
}

// addOffset makes the offset of an error, which counts from some buffered octet, one from the first.
func addOffset(offset int, err error) error {
	if syntax, ok := errors.AsType[*SyntaxError](err); ok {
		syntax.Offset += int64(offset)
	}
	return err
}

// next returns the next item of the buffer, or errShort.
func (r *Reader) next() (Item, error) {
	if r.phase == phaseGreeting {
		g, ok, err := ParseGreeting(r.in.Buffered())
		switch {
		case err != nil:
			return Item{}, err
		case !ok:
			return Item{}, errShort
		}
		item := Item{Kind: IsGreeting, Greeting: g, Offset: r.in.Offset()}
		r.phase = phaseHandshake
		r.release(GreetingSize)
		return item, nil
	}
	for {
		h, body, err := r.frame()
		if err != nil {
			return Item{}, err
		}
		if h.flags&CommandFrame != 0 {
			return r.command(body)
		}
		r.parts = append(r.parts, body)
		r.size += body.to - body.from
		r.pos = body.to
		if h.flags&More == 0 {
			return r.message(), nil
		}
	}
}

// frame returns the header of the next frame and where its body is, all of which is in the buffer.
func (r *Reader) frame() (h header, body span, err error) {
	b := r.in.Buffered()[r.pos:]
	// its flags say so: no need for its size
	if len(b) > 0 && r.phase == phaseHandshake && b[0]&(CommandFrame|reserved) == 0 {
		return h, body, addOffset(r.pos, newSyntaxError(RuleHandshake, b, 0, "the command READY or ERROR"))
	}
	h, ok, err := parseHeader(b)
	if err != nil {
		return h, body, addOffset(r.pos, err)
	}
	if !ok {
		return h, body, errShort
	}
	if err := r.checkSize(h); err != nil {
		return h, body, err
	}
	body = span{r.pos + h.octets, r.pos + h.octets + int(h.size)}
	if r.Buffered() < body.to {
		return h, body, errShort
	}
	return h, body, nil
}

// checkSize checks the announced size of a frame against the limits.
func (r *Reader) checkSize(h header) error {
	tooLong := func(rule Rule, expected string) error {
		got := fmt.Sprintf("a frame of %d octets", h.size)
		return &SyntaxError{Rule: rule, Offset: int64(r.pos), Expected: expected, Got: got}
	}
	isCommand := h.flags&CommandFrame != 0
	switch {
	case isCommand && h.size > int64(r.limits.Command):
		return tooLong(RuleTooLong, fmt.Sprintf("a command of at most %d octets", r.limits.Command))
	case isCommand && len(r.parts) > 0 && r.insideSize+int(h.size)+h.octets > r.limits.Message:
		return tooLong(RuleInside, fmt.Sprintf("at most %d octets of commands inside of a message", r.limits.Message))
	case isCommand:
		return nil
	case h.size > int64(r.limits.Message-r.size):
		return tooLong(RuleTooLong, fmt.Sprintf("a message of at most %d octets", r.limits.Message))
	case len(r.parts) == r.limits.Frames:
		return tooLong(RuleTooMany, fmt.Sprintf("a message of at most %d frames", r.limits.Frames))
	}
	return nil
}

// message returns the message whose frames are complete.
func (r *Reader) message() Item {
	memory, buffered := make([]byte, 0, r.size), r.in.Buffered()
	item := Item{Kind: IsMessage, Parts: make([][]byte, len(r.parts)), Offset: r.in.Offset()}
	for i, p := range r.parts {
		from := len(memory)
		memory = append(memory, buffered[p.from:p.to]...)
		item.Parts[i] = memory[from:len(memory):len(memory)]
	}
	r.parts, r.size, r.insideSize = r.parts[:0], 0, 0
	r.release(r.pos)
	return item
}

// command returns the command whose body is in the buffer.
func (r *Reader) command(body span) (Item, error) {
	item := Item{Kind: IsCommand, Offset: r.in.Offset() + int64(r.pos), IsInside: len(r.parts) > 0}
	c, err := ParseCommand(bytes.Clone(r.in.Buffered()[body.from:body.to]))
	if err != nil {
		return Item{}, addOffset(body.from, err)
	}
	item.Command = c
	if err := r.checkCommand(c); err != nil {
		return Item{}, addOffset(body.to-len(c.Data), err)
	}
	if item.IsInside {
		r.insideSize += body.to - r.pos
		r.pos = body.to
		return item, nil
	}
	r.release(body.to)
	return item, nil
}

// checkCommand checks the data of a command, and whether it may stand here. The offset of an error counts from the
// data.
func (r *Reader) checkCommand(c Command) (err error) {
	isMisplaced := r.phase == phaseHandshake && c.Name != READY && c.Name != ERROR || r.phase == phaseTraffic &&
		c.Name == READY
	if isMisplaced {
		return &SyntaxError{
			Rule: RuleHandshake, Offset: -int64(len(c.Name)), Got: c.Name,
			Expected: "READY or ERROR first, and READY once",
		}
	}
	switch c.Name {
	case READY:
		r.phase = phaseTraffic
		_, err = ParseMetadata(c.Data)
	case ERROR:
		_, err = ParseError(c.Data)
	case PING:
		_, _, err = ParsePing(c.Data)
	case PONG:
		if len(c.Data) > contextMax {
			err = newSyntaxError(RulePing, c.Data, contextMax, "a context of at most 16 octets")
		}
	}
	return err
}

// release discards the first n octets, which belong to items that are returned.
func (r *Reader) release(n int) {
	r.in.Discard(n)
	r.pos = 0
}

// Buffered returns how many octets were received after the items that Read returned.
func (r *Reader) Buffered() int { return len(r.in.Buffered()) }

// Offset returns the offset in the stream after the last item that Read returned. It does not count a command inside
// a message.
func (r *Reader) Offset() int64 { return r.in.Offset() }

// Pending describes the missing part of an incomplete item. It is empty between items and after a SyntaxError. Only
// the goroutine that calls Read may call it.
func (r *Reader) Pending() string {
	if r.err != nil || r.Buffered() == 0 {
		return ""
	}
	return r.expectation()
}

// expectation describes what is read next, with how much of it is there.
func (r *Reader) expectation() string {
	if r.phase == phaseGreeting {
		return fmt.Sprintf("a greeting of %d octets, %d received", GreetingSize, r.Buffered())
	}
	rest := r.Buffered() - r.pos
	words := "a frame"
	if h, ok, err := parseHeader(r.in.Buffered()[r.pos:]); ok && err == nil {
		words = fmt.Sprintf("a frame of %d octets", h.size)
		rest -= h.octets
	}
	if len(r.parts) > 0 {
		words = fmt.Sprintf("%s of a message behind its first %d", words, len(r.parts))
	}
	return fmt.Sprintf("%s, %d octets received", words, rest)
}
