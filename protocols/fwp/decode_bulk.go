package fwp

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

func (d *decoder) readPayload(b []byte) error {
	if len(b) <= d.end {
		return ErrShort
	}
	if b[d.end] == '\r' {
		if len(b) == d.end+1 {
			return ErrShort
		}
		if b[d.end+1] == '\n' {
			return d.addBulk(d.end, len(crlf))
		}
	}
	if b[d.end] == '\n' && d.lapse != nil { // the line of its length has ended so, too
		return d.addBulk(d.end, 1)
	}
	d.pos, d.runes = d.start, 0
	d.phase = wantOverrun
	return nil
}

// addBulk records a bulk string that ends at a position, with a line end of so many bytes behind it.
func (d *decoder) addBulk(end, lineEnd int) error {
	d.pos = end + lineEnd
	d.add(node{kind: BulkString, start: d.start, end: end})
	return nil
}

// readOverrun finds out why a payload does not end where its length requires. It counts
// the characters from the payload's start to the first CRLF: a server that announces
// characters has sent its CRLF after that many. It ends at the first CRLF, or when there
// are enough characters and no CRLF, and never waits for bytes that a peer that ends its
// replies would not send.
func (d *decoder) readOverrun(b []byte) error {
	announced := d.end - d.start
	for d.pos < len(b) {
		rest := b[d.pos:]
		if rest[0] == '\r' && len(rest) == 1 {
			return ErrShort
		}
		switch ends := rest[0] == '\r' && rest[1] == '\n'; {
		case ends && d.runes == announced && d.isReadingOn && d.depth == 0:
			return d.readCharacters(b)
		case ends && d.runes == announced:
			return d.failBulk(b, RuleCharacters, fmt.Sprintf(
				"; the text before the first CR LF has %d characters in %d bytes", d.runes, d.pos-d.start))
		case ends:
			return d.failBulk(b, RuleBulkEnd, fmt.Sprintf(
				"; the first CR LF comes after %d bytes", d.pos-d.start))
		case d.runes == announced || d.pos+len(crlf) >= d.limit:
			return d.failBulk(b, RuleBulkEnd, "")
		case !utf8.FullRune(rest):
			return ErrShort
		}
		_, size := utf8.DecodeRune(rest)
		d.pos += size
		d.runes++
	}
	return ErrShort
}

// readCharacters reads on behind a length in characters.
func (d *decoder) readCharacters(b []byte) error {
	d.lapse, _ = errors.AsType[*SyntaxError](d.failBulk(b, RuleCharacters, ""))
	return d.addBulk(d.pos, len(crlf))
}

// failBulk returns an error at the first byte after the announced payload that is not CR LF.
func (d *decoder) failBulk(b []byte, rule Rule, hint string) error {
	bug := d.end
	if b[bug] == '\r' {
		bug++
	}
	return &SyntaxError{
		Rule:     rule,
		Offset:   int64(bug),
		Expected: fmt.Sprintf("CR LF after a bulk string of %d bytes", d.end-d.start),
		Got:      excerptAt(b, bug, "no more bytes") + hint,
	}
}

// finish returns the error of a reply that is incomplete at b, the end of the stream.
func (d *decoder) finish(b []byte) error {
	if d.lapse != nil {
		return d.lapse
	}
	if d.phase == wantOverrun {
		return d.failBulk(b, RuleBulkEnd, "")
	}
	return &SyntaxError{
		Rule:     RuleTruncated,
		Offset:   int64(len(b)),
		Expected: d.describeMissing(b),
		Got:      excerptAt(b, len(b), "the end of the stream"),
	}
}

// describeMissing describes what the decoder waits for after b.
func (d *decoder) describeMissing(b []byte) string {
	description := "a reply"
	switch d.phase {
	case wantText:
		description = fmt.Sprintf("the end of %s, %d bytes received", article(d.kind), len(b)-d.start)
	case wantNumber, wantLF:
		description = "the end of " + d.numberName()
	case wantPayload:
		announced, received := d.end-d.start, len(b)-d.start
		description = fmt.Sprintf("a bulk string of %d bytes, %d received", announced, received)
		if received >= announced {
			description = fmt.Sprintf("CR LF after a bulk string of %d bytes", announced)
		}
	case wantOverrun:
		description = fmt.Sprintf("the end of a bulk string announced as %d bytes, %d received", d.end-d.start,
			len(b)-d.start)
	default: // wantType
	}
	for i := d.depth - 1; i >= 0; i-- {
		a := d.openArrays[i]
		description = fmt.Sprintf("element %d of %d: %s", a.total-a.remaining+1, a.total, description)
	}
	return description
}
