package workq

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/input"
)

// SyntaxError is the error for bytes that are not a reply. The rest of the stream cannot be split into replies.
type SyntaxError struct {
	Rule     Rule
	Offset   int64  // of the first wrong byte, from 0; for ParseReply, in its argument
	Expected string // in words
	Got      string // quoted, and cut if it is long
}

// Rule is a rule of the grammar of replies, or the limit of a [Reader].
type Rule string

// The rules.
const (
	RuleSign    Rule = "sign"     // a reply begins with + or -, or is a bare OK
	RuleLineEnd Rule = "line-end" // lines end with CRLF
	RuleOK      Rule = "ok"       // a success is +OK, followed by a count if there are records
	RuleError   Rule = "error"    // an error has a known word, and a description if that word has one
	RuleCount   Rule = "count"    // a count, a size or a number of keys is a decimal number
	RuleRecord  Rule = "record"   // the line of a record has two, three or four well-formed words
	RuleKey     Rule = "key"      // a line of inspect has a key and a value
	RuleBlock   Rule = "block"    // a block has the size in its line, at most 1 MiB, and is followed by CRLF
	RuleTooLong Rule = "too-long" // a limit of the reader
)

// Error returns where the stream goes wrong, and what belongs there.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s: byte %d: expected %s, got %s", e.Rule, e.Offset, e.Expected, e.Got)
}

// Reader reads replies from a stream, strictly and within a limit. One goroutine at a time may use it.
type Reader struct {
	in            input.Reader
	limit         int
	missing       *shortError // what an unfinished reply needs, nil between two
	acceptsLapses bool
	lapse         *SyntaxError
}

// NewReader returns a Reader that refuses replies of more than limit bytes.
func NewReader(from io.Reader, limit int) *Reader {
	return &Reader{in: input.Reader{Source: from}, limit: limit}
}

// AcceptLapses makes Read accept a line that ends with LF alone, and a success with another word than OK.
// [Reader.Lapse] returns the mistake. (Protocol)
func (r *Reader) AcceptLapses() { r.acceptsLapses = true }

// Lapse returns the first accepted mistake in the reply that Read returned last, or in the reply that is not complete
// yet. It is nil if there is none, and without [Reader.AcceptLapses]. If a later line of the reply cannot be read,
// Read returns the accepted mistake as its error, since it may be the cause.
func (r *Reader) Lapse() *SyntaxError { return r.lapse }

// Read blocks until a reply is complete, and returns it; its memory belongs to the caller. The error is io.EOF if the
// stream ends between two replies, io.ErrUnexpectedEOF if it ends inside one, and a [*SyntaxError] if the bytes are
// not a reply: do not call Read again then. Any other error is the stream's. After a deadline Read can be called
// again, and continues where it was.
func (r *Reader) Read() (Reply, error) {
	for {
		buffered := r.in.Buffered()
		p := &parser{b: buffered, acceptsLapses: r.acceptsLapses}
		reply, n, err := p.reply()
		syntax, ok := errors.AsType[*SyntaxError](err)
		short, _ := errors.AsType[*shortError](err)
		if r.lapse = p.lapse; r.lapse != nil && !ok {
			r.lapse.Offset += r.in.Offset()
		}
		switch {
		case ok:
			syntax.Offset += r.in.Offset()
			return Reply{}, syntax
		case short != nil && len(buffered) > r.limit:
			return Reply{}, &SyntaxError{
				RuleTooLong, r.in.Offset() + int64(r.limit),
				fmt.Sprintf("the end of the reply within %d bytes", r.limit), "more",
			}
		case short == nil:
			r.in.Discard(n)
			r.missing = nil
			return reply, nil
		}
		if r.missing = short; len(buffered) == 0 {
			r.missing = nil
		}
		if err := r.in.Fill(); errors.Is(err, io.EOF) && len(buffered) > 0 {
			return Reply{}, io.ErrUnexpectedEOF
		} else if err != nil {
			return Reply{}, err
		}
	}
}

// Buffered returns the received bytes after the last reply. They are valid until the next Read.
func (r *Reader) Buffered() []byte { return r.in.Buffered() }

// Offset returns the offset of the next reply in the stream, in bytes.
func (r *Reader) Offset() int64 { return r.in.Offset() }

// Pending describes the missing part of an incomplete reply, and returns the rule that is broken if that part never
// comes. Both are empty between two replies.
func (r *Reader) Pending() (need string, rule Rule) {
	if r.missing == nil {
		return "", ""
	}
	return r.missing.need, r.missing.rule
}

// shortError means that a reply is not complete.
type shortError struct {
	need string
	rule Rule
}

func (e *shortError) Error() string { return "the reply is not complete: it needs " + e.need }

// parser reads one reply.
type parser struct {
	b             []byte
	pos           int
	acceptsLapses bool         // a line may end with LF alone, and a success have another word
	lapse         *SyntaxError // the first line that does
}

// ParseReply reads the reply at the start of b, and returns how many bytes it takes. The reply shares no memory with
// b. The error is a [*SyntaxError], with an offset in b, or another error if the reply is incomplete.
func ParseReply(b []byte) (r Reply, n int, err error) {
	return (&parser{b: b}).reply()
}

// reply reads a whole reply.
func (p *parser) reply() (r Reply, n int, err error) {
	if len(p.b) == 0 {
		return r, 0, &shortError{"a reply", RuleLineEnd}
	}
	if c := p.b[0]; c != '+' && c != '-' && c != 'O' {
		return r, 0, p.syntaxError(0, RuleSign, "+ or -")
	}
	line, err := p.line()
	if err != nil {
		return r, 0, err
	}
	if text, ok := strings.CutPrefix(line, "-"); ok {
		r, err = p.failure(text)
		return r, p.pos, err
	}
	text, hasSign := strings.CutPrefix(line, "+")
	r.Bare = !hasSign
	count, hasCount, err := p.success(len(line)-len(text), text)
	if r.Counted = hasCount; err != nil || !r.Counted {
		return r, p.pos, err
	}
	for range count {
		record, err := p.record()
		if err != nil {
			return r, 0, err
		}
		r.Records = append(r.Records, record)
	}
	return r, p.pos, nil
}

// syntaxError returns the error about what stands at a place, or about the lapse in an earlier line: what is behind
// that may follow from it.
func (p *parser) syntaxError(at int, rule Rule, expected string) *SyntaxError {
	if p.lapse != nil && int64(at) >= p.lapse.Offset {
		return p.lapse
	}
	const excerpt = 40
	got := p.b[at:min(len(p.b), at+excerpt)]
	return &SyntaxError{rule, int64(at), expected, strconv.Quote(string(got))}
}

// line reads up to its end, which it takes away.
func (p *parser) line() (string, error) {
	rest := p.b[p.pos:]
	for i, c := range rest {
		switch {
		case c == '\n':
			lapse := p.syntaxError(p.pos+i, RuleLineEnd, "CR before LF")
			if !p.acceptsLapses {
				return "", lapse
			}
			p.lapse, p.pos = lapse, p.pos+i+1
			return string(rest[:i]), nil
		case c != '\r':
		case i+1 == len(rest):
			return "", &shortError{"LF", RuleLineEnd}
		case rest[i+1] != '\n':
			return "", p.syntaxError(p.pos+i+1, RuleLineEnd, "LF behind CR")
		default:
			p.pos += i + 2
			return string(rest[:i]), nil
		}
	}
	return "", &shortError{"the end of a line", RuleLineEnd}
}

// failure reads an error behind its sign. Only two of the words have a description. (Errors)
func (p *parser) failure(text string) (Reply, error) {
	word, description, hasDescription := strings.Cut(text, " ")
	switch {
	case word == ClientError, word == ServerError:
		return Reply{Error: word, Text: description}, nil
	case (word == Timeout || word == NotFound) && !hasDescription:
		return Reply{Error: word}, nil
	case word == Timeout, word == NotFound:
		return Reply{}, p.syntaxError(1+len(word), RuleError, "the end of the line behind -"+word)
	}
	return Reply{}, p.syntaxError(1, RuleError, "CLIENT-ERROR, SERVER-ERROR, TIMEOUT or NOT-FOUND")
}

// success reads OK and the count of records, if there is one, of a text that begins at a place.
func (p *parser) success(at int, text string) (count uint64, hasCount bool, err error) {
	rest, isOK := strings.CutPrefix(text, "OK")
	if !isOK || rest != "" && rest[0] != ' ' {
		lapse := p.syntaxError(at, RuleOK, "OK")
		word, tail, hasTail := strings.Cut(text, " ")
		if _, hasCount := Number(tail, 1<<32); !p.acceptsLapses || at == 0 || word == "" || hasTail && !hasCount {
			return 0, false, lapse
		}
		p.lapse, rest = lapse, text[len(word):]
	}
	if rest == "" {
		return 0, false, nil
	}
	count, ok := Number(rest[1:], 1<<32)
	if !ok {
		return 0, false, p.syntaxError(at+len("OK "), RuleCount, "a count of replies")
	}
	return count, true, nil
}

// record reads one record. The number of words says what it is: id, name, ttr and size of a leased job; id, success and
// size of a result; name and number of keys of inspect.
func (p *parser) record() (r Record, err error) {
	at := p.pos
	line, err := p.line()
	if err != nil {
		return r, err
	}
	r.Head = strings.Split(line, " ")
	if err := p.checkHead(at, r.Head); err != nil {
		return r, err
	}
	words := len(r.Head)
	n, ok := Number(r.Head[words-1], 1<<40)
	switch size := at + len(line) - len(r.Head[words-1]); {
	case words != inspected && (!ok || n > MaxBlock):
		return r, p.syntaxError(size, RuleBlock, fmt.Sprintf("the size of a block, which is at most %d bytes", MaxBlock))
	case !ok:
		return r, p.syntaxError(size, RuleCount, "a number")
	case words == inspected:
		r.Keys, err = p.keys(n)
		return r, err
	}
	r.Block, err = p.block(int(n)) //nolint:gosec // at most 2^20
	return r, err
}

// How many words the line of a record has.
const leased, result, inspected = 4, 3, 2

// checkHead checks the words of a record, which begin at a place, but for the last one.
func (p *parser) checkHead(at int, head []string) error {
	words := len(head)
	switch {
	case words < inspected || words > leased || slices.Contains(head, ""):
		return p.syntaxError(at, RuleRecord, "two, three or four words with a blank between them")
	case words == leased && !IsName(head[1]), words != inspected && !IsID(head[0]), !IsName(head[0]):
		return p.syntaxError(at, RuleRecord, "the id of a job and, where it was leased, its name")
	case words == result && head[1] != "0" && head[1] != "1":
		return p.syntaxError(at+len(head[0])+1, RuleRecord, "0 or 1")
	}
	if words != leased {
		return nil
	}
	if _, ok := Number(head[2], maxUint64); !ok {
		return p.syntaxError(at+len(head[0])+len(head[1])+2, RuleCount, "a ttr in milliseconds")
	}
	return nil
}

// block reads as many bytes, and CRLF.
func (p *parser) block(size int) ([]byte, error) {
	rest := p.b[p.pos:]
	end := rest[min(size, len(rest)):]
	if p.lapse != nil && len(end) > 0 && end[0] == '\n' { // the line of its size has ended so, too
		p.pos += size + 1
		return append([]byte{}, rest[:size]...), nil
	}
	for i, c := range []byte("\r\n") {
		if i >= len(end) {
			return nil, p.incompleteBlock(rest, size)
		}
		if end[i] != c {
			return nil, p.syntaxError(p.pos+size+i, RuleBlock, fmt.Sprintf("CRLF behind a block of %d bytes", size))
		}
	}
	p.pos += size + 2
	return append([]byte{}, rest[:size]...), nil
}

// incompleteBlock is the error of a block that is not complete. If no more than CRLF is missing, its size is right,
// unless that counts a CRLF.
func (p *parser) incompleteBlock(rest []byte, size int) *shortError {
	missing := max(0, size-len(rest))
	short := &shortError{fmt.Sprintf("%d bytes of a block of %d, and CRLF", missing, size), RuleBlock}
	if p.lapse != nil || missing == 0 && !bytes.HasSuffix(rest[:size], []byte("\r\n")) {
		short.rule = RuleLineEnd
	}
	return short
}

// keys reads as many lines of inspect. The payload has as many bytes as the line payload-size says, before it or behind
// it: nothing is said about the order of keys.
func (p *parser) keys(count uint64) ([]Key, error) {
	var all []Key
	size, hasSize, isLine := uint64(0), false, false // lined: a payload of which no size has come was taken for a line
	for range count {
		name, err := p.keyName(isLine && !hasSize)
		if err != nil {
			return nil, err
		}
		var value string
		isPayload := name == keyPayload || name == keyPayloadBytes
		if isPayload && !hasSize {
			size, hasSize = p.sizeAfter()
			isLine = !hasSize
		}
		if isPayload && hasSize {
			var block []byte
			block, err = p.block(int(size)) //nolint:gosec // at most 2^40
			value = string(block)
		} else if value, err = p.line(); name == keyPayloadSize && err == nil {
			size, hasSize, err = p.sizeOf(value)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, Key{name, value})
	}
	return all, nil
}

// sizeOf reads the value of a line that was read last.
func (p *parser) sizeOf(value string) (size uint64, ok bool, err error) {
	if size, ok = Number(value, 1<<40); !ok {
		err = p.syntaxError(p.pos-len(value)-len("\r\n"), RuleCount, "a size")
	}
	return size, ok, err
}

// sizeAfter returns the size of a payload from a line behind it, which is as far away as it says at least; false if no
// such line has come.
func (p *parser) sizeAfter() (size uint64, found bool) {
	const line = "\r\n" + keyPayloadSize + " "
	rest := p.b[p.pos:]
	for at := bytes.Index(rest, []byte(line)); at >= 0; {
		value, _, hasEnd := bytes.Cut(rest[at+len(line):], []byte("\r\n"))
		n, ok := Number(string(value), uint64(at)) //nolint:gosec // not negative
		if ok && hasEnd && bytes.HasPrefix(rest[n:], []byte("\r\n")) {
			return n, true
		}
		next := bytes.Index(rest[at+1:], []byte(line))
		if next < 0 {
			return 0, false
		}
		at += 1 + next
	}
	return 0, false
}

// keyName reads up to the blank behind a key. What is none may be a part of a payload whose size is to come.
func (p *parser) keyName(isUnsized bool) (string, error) {
	rest := p.b[p.pos:]
	end := bytes.IndexAny(rest, " \r\n")
	switch {
	case end < 0:
		return "", &shortError{"a key and its value", RuleLineEnd}
	case (end == 0 || rest[end] != ' ') && isUnsized:
		return "", &shortError{"the line " + keyPayloadSize, RuleLineEnd}
	case end == 0 || rest[end] != ' ':
		return "", p.syntaxError(p.pos, RuleKey, "a key, a blank and its value")
	}
	p.pos += end + 1
	return string(rest[:end]), nil
}
