package fwp

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
)

// Limits that the protocol does not state.
const (
	// DefaultLimit bounds the bytes of one reply, markers and line ends included,
	// unless another limit is given: 64 MiB.
	DefaultLimit = 64 << 20

	maxBulk     = 512 << 20 // bytes: RESP has no longer strings
	maxDepth    = 8
	maxElements = 1 << 16
	minElement  = len("+\r\n")
)

// Decode reads the first reply in b and returns how many bytes it takes. It is pure:
// the reply's Text aliases b, and nothing is kept. A limit of 0 or less means
// [DefaultLimit].
//
// The error is [ErrShort] while b is the beginning of a valid reply, and a
// *[SyntaxError] with an offset into b as soon as it is not: a wrong first byte, a bad
// digit of a length or a CR without its LF fails without the rest.
//
// Bytes after an error or a reply have no influence: a longer b gives the same rule,
// offset and expectation. One error needs bytes beyond the wrong one. A bulk string
// that does not end where its length requires is RuleCharacters if its first CRLF
// follows as many characters as the length announces, else RuleBulkEnd. While that
// CRLF can still follow the result is ErrShort, although the reply is already wrong: a
// peer that counts characters has sent it, and a stream that ends first is
// RuleBulkEnd. A text counted in characters that itself contains a CRLF is therefore
// RuleBulkEnd.
// (Server Protocol Sender; RESP)
func Decode(b []byte, limit int) (r Reply, n int, err error) {
	d := newDecoder(limit)
	if err := d.run(b); err != nil {
		return Reply{}, 0, err
	}
	return d.reply(b), d.pos, nil
}

// A decoder parses one reply and can be resumed: run is called with the same bytes
// and more, and parses none of them twice. It keeps positions instead of slices,
// because the bytes may move between two calls.
type decoder struct {
	limit       int
	isReadingOn bool         // it reads on: see Reader.ReadOn
	lapse       *SyntaxError // that it has read on behind; nil if there is none
	phase       phase
	pos         int // the bytes before it are parsed

	kind  Kind // of the element being read
	start int  // of its text, digits or payload
	end   int  // of its payload, as announced
	runes int  // counted in a payload that did not end where announced

	isNegative bool // its number, as far as it is parsed
	digits     int
	num        uint64

	depth      int
	openArrays [maxDepth]openArray
	elements   int // announced by all arrays together
	root       node
	nodes      []node // below root, each before its own elements
}

type openArray struct{ total, remaining int }

type node struct {
	kind       Kind
	start, end int
	num        int64 // an integer's value, an array's number of elements
}

// A phase is what the decoder expects next.
type phase uint8

const (
	wantType    phase = iota
	wantText          // the rest of a simple string or an error, and its CRLF
	wantNumber        // the rest of a length or an integer, and its CR
	wantLF            // the LF after a number
	wantPayload       // the rest of a bulk string and its CRLF
	wantOverrun       // a CRLF that explains a wrong length
	wantNothing
)

func newDecoder(limit int) decoder {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return decoder{limit: limit}
}

// run parses until the reply is complete or it returns ErrShort or *SyntaxError. What it has read on behind leads to a
// whole reply, or it is what is wrong with the reply.
func (d *decoder) run(b []byte) error {
	err := d.parse(b)
	if _, ok := errors.AsType[*SyntaxError](err); ok && d.lapse != nil {
		return d.lapse
	}
	return err
}

func (d *decoder) parse(b []byte) error {
	for d.phase != wantNothing {
		var err error
		switch d.phase {
		case wantType:
			err = d.readType(b)
		case wantText:
			err = d.readText(b)
		case wantNumber:
			err = d.readNumber(b)
		case wantLF:
			err = d.readLF(b)
		case wantPayload:
			err = d.readPayload(b)
		default:
			err = d.readOverrun(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) fail(b []byte, rule Rule, offset int, expected string) error {
	return &SyntaxError{
		Rule: rule, Offset: int64(offset), Expected: expected, Got: excerptAt(b, offset, "no more bytes"),
		Kind: d.replyKind(),
	}
}

// replyKind returns the kind of the reply that is being read.
func (d *decoder) replyKind() Kind {
	if d.depth > 0 {
		return Array
	}
	return d.kind
}

// resp3 names what only version 3 of RESP has, by its first byte; of a stream that is the first byte of its length.
var resp3 = map[byte]string{
	'_': "null", '#': "boolean", ',': "double", '(': "big number", '!': "bulk error", '=': "verbatim string",
	'%': "map", '~': "set", '>': "push", '|': "attribute", ';': "chunk", '.': "end of a stream", '?': "stream",
}

// resp3Remark returns a remark on a byte that is none of version 2, empty if it is none of version 3 either.
func resp3Remark(c byte) string {
	if resp3[c] == "" {
		return ""
	}
	return fmt.Sprintf(" (%c is the %s of RESP3)", c, resp3[c])
}

func (d *decoder) readType(b []byte) error {
	if d.pos == len(b) {
		return ErrShort
	}
	if d.pos+minElement > d.limit {
		return d.tooLongError(b, d.pos)
	}
	kind := Kind(b[d.pos])
	switch kind {
	case SimpleString, ErrorReply:
		d.phase = wantText
	case Integer, BulkString:
		d.phase = wantNumber
	case Array:
		if d.depth == maxDepth {
			return d.fail(b, RuleDepth, d.pos, "arrays nested at most 8 deep")
		}
		d.phase = wantNumber
	default:
		return d.fail(b, RuleType, d.pos, "a reply, which starts with one of + - : $ *"+resp3Remark(b[d.pos]))
	}
	d.kind, d.isNegative, d.digits, d.num = kind, false, 0, 0
	d.pos++
	d.start = d.pos
	return nil
}

// readText searches the CRLF, whose CR must be at limit-2 at the latest.
func (d *decoder) readText(b []byte) error {
	last := d.limit - len(crlf)
	line := b[d.pos:min(len(b), last+1)]
	i := bytes.IndexByte(line, '\r')
	if i >= 0 {
		line = line[:i]
	}
	if lf := bytes.IndexByte(line, '\n'); lf >= 0 { // most likely the end of the line, without its CR
		if err := d.lineFeed(b, d.pos+lf, "CR LF at the end of "+article(d.kind)+", not LF alone"); err != nil {
			return err
		}
		d.pos += lf + 1
		d.add(node{kind: d.kind, start: d.start, end: d.pos - 1})
		return nil
	}
	d.pos += len(line)
	switch {
	case i < 0 && len(b) > last:
		return d.tooLongError(b, last)
	case i < 0 || d.pos+1 == len(b):
		return ErrShort
	case b[d.pos+1] != '\n':
		return d.fail(b, RuleTextBreak, d.pos, "no CR in "+article(d.kind)+" before the CR LF that ends it")
	}
	d.end = d.pos
	d.pos += len(crlf)
	d.add(node{kind: d.kind, start: d.start, end: d.end})
	return nil
}

// lineFeed returns the error of an LF where CR LF belongs, or nil if it may end the line: then a reply can begin behind
// it. A text that goes on behind an LF is another breach.
func (d *decoder) lineFeed(b []byte, at int, expected string) error {
	err := &SyntaxError{
		Rule: RuleLineEnd, Offset: int64(at), Expected: expected, Got: excerptAt(b, at, "no more bytes"),
	}
	isText := d.kind == SimpleString || d.kind == ErrorReply
	if !d.isReadingOn || isText && at+1 < len(b) && !bytes.ContainsRune([]byte("+-:$*"), rune(b[at+1])) {
		return err
	}
	d.lapse = cmp.Or(d.lapse, err)
	return nil
}

// readOn returns an error, or keeps it and returns nil where the decoder reads on. Another form of the null counts for
// more than a line end.
func (d *decoder) readOn(b []byte, rule Rule, offset int, expected string) error {
	err := d.fail(b, rule, offset, expected)
	if !d.isReadingOn || d.depth > 0 {
		return err
	}
	d.lapse, _ = errors.AsType[*SyntaxError](err)
	return nil
}

// add records an element that is complete, or an array that now needs its elements.
func (d *decoder) add(n node) {
	if d.depth == 0 {
		d.root = n
	} else {
		d.nodes = append(d.nodes, n)
	}
	d.phase = wantType
	if n.kind == Array && n.num > 0 {
		d.openArrays[d.depth] = openArray{total: int(n.num), remaining: int(n.num)}
		d.depth++
		return
	}
	for d.depth > 0 {
		top := &d.openArrays[d.depth-1]
		top.remaining--
		if top.remaining > 0 {
			return
		}
		d.depth--
	}
	d.phase = wantNothing
}

// reply builds the reply that was parsed from b.
func (d *decoder) reply(b []byte) Reply {
	r, _ := build(b, d.root, d.nodes)
	return r
}

func build(b []byte, n node, rest []node) (Reply, []node) {
	r := Reply{Kind: n.kind}
	switch n.kind {
	case SimpleString, ErrorReply, BulkString:
		r.Text = b[n.start:n.end:n.end]
	case NullBulk:
	case Integer:
		r.Int = n.num
	default:
		r.Array = make([]Reply, n.num)
		for i := range r.Array {
			r.Array[i], rest = build(b, rest[0], rest[1:])
		}
	}
	return r, rest
}
