package faults

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// lineFaults are about lines: their spaces, verbs and ends.
var lineFaults = []fakes.Fault{
	// These accept other spaces than the one behind a verb.
	fault("line-double-space",
		do(func(e *event) { e.Command.Args = bytes.TrimLeft(e.Command.Args, " ") }, parsed())),
	fault("line-leading-space",
		do(func(e *event) { e.Line = bytes.TrimPrefix(e.Line, []byte(" ")) }, at(fakes.LineRead), right)),
	fault("line-tab", do(func(e *event) {
		if i := bytes.IndexByte(e.Line, '\t'); i > 0 && !bytes.Contains(e.Line[:i], []byte(" ")) {
			e.Line = slices.Clone(e.Line)
			e.Line[i] = ' '
		}
	}, at(fakes.LineRead))),
	fault("line-trailing-space", do(func(e *event) {
		if e.Command.Args = bytes.TrimRight(e.Command.Args, " "); len(e.Command.Args) == 0 {
			e.Command.Args = nil
		}
	}, parsed())),
	// These accept verbs in another form.
	fault("line-empty-ok", do(pretend, checked(""), about(fakes.AboutVerb))),
	fault("line-flush-lower-case",
		do(func(e *event) { e.Line = []byte(fwp.FLUSH) }, at(fakes.LineRead), flushInSmall)),
	fault("line-flush-refused-clears", do((*event).Clear, ran(), flushInSmall)),
	fault("line-lower-case", do(func(e *event) { e.Command.Verb = strings.ToUpper(e.Command.Verb) }, parsed())),
	fault("line-verb-begins", do(func(e *event) {
		for _, verb := range []string{"PUSH", "FETCH", "ACK", "FAIL", "BEAT", "INFO", "FLUSH", "END"} {
			if strings.HasPrefix(e.Command.Verb, verb) {
				e.Command.Verb = verb
			}
		}
	}, parsed())),
	// About where lines and segments end.
	fault("line-character-cut", keep(conn, at(fakes.Received), characterCut)),
	fault("line-cr-apart", do(func(e *event) {
		if n := len(e.Bytes); n > 0 && e.Bytes[n-1] == '\r' {
			e.Bytes[n-1] = ' '
		}
	}, at(fakes.Received))),
	fault("line-lf", do(pretend, at(fakes.LineRead), about(fakes.AboutLineEnd))),
	fault("line-paused", keep(conn, at(fakes.Received), func(last *lastSegment, e *event) {
		if last.open && time.Since(last.at) > time.Second {
			e.Bytes = slices.Concat([]byte("\r\n"), e.Bytes)
		}
		*last = lastSegment{time.Now(), !bytes.HasSuffix(e.Bytes, []byte("\n"))}
	})),
	fault("line-segment-ends", do(func(e *event) {
		if n := len(e.Bytes); n < 100 && e.Bytes[n-1] != '\n' && e.Bytes[n-1] != '\r' {
			e.Bytes = slices.Concat(e.Bytes, []byte("\r\n"))
		}
	}, at(fakes.Received))),
	fault("line-separators", do(func(e *event) {
		if i := bytes.IndexAny(e.Line, "\u2028\u2029\u0085"); i >= 0 {
			e.Line = e.Line[:i]
		}
	}, at(fakes.LineRead))),
	fault("line-unfinished", do(func(e *event) { e.Skip = len(e.Line) == 0 }, at(fakes.Unfinished))),
	// About what is in a line, and how long it is.
	fault("line-ascii",
		do(func(e *event) { e.Command.Args = bytes.Map(ascii, e.Command.Args) }, parsed(fwp.PUSH))),
	fault("line-json-spaces", do(func(e *event) {
		e.Decline(fakes.AboutArguments, e.Command.Verb+" takes one JSON object after a single space")
	}, checked(fwp.PUSH, fwp.BEAT, fwp.ACK, fwp.FAIL), arguments(`": `))),
	fault("line-long-cut", do(func(e *event) {
		reshape(e.Object, "args", elements(only(func(s string) any { return cut(s, 64<<10) })))
	}, checked(fwp.PUSH), large("args", 64<<10))),
	fault("line-nul",
		do(func(e *event) { e.Line = bytes.ReplaceAll(e.Line, []byte{0}, nil) }, at(fakes.LineRead))),
	fault("line-of-pages", do(noReply, ran(), bytesLong(8192, 32768))),
}

// lastSegment is when the last segment of a connection came, and whether its line was open then.
type lastSegment struct {
	at   time.Time
	open bool
}

func flushInSmall(e *event) bool { return string(e.Line) == "flush" }

// bytesLong holds for lines of some lengths.
func bytesLong(lengths ...int) condition {
	return func(e *event) bool { return slices.Contains(lengths, len(e.Line)+len("\r\n")) }
}

// characterCut replaces the bytes of a character that arrives in two segments; open says whether the last segment ended
// within a character.
func characterCut(open *bool, e *event) {
	b := e.Bytes
	for i := 0; *open && i < len(b) && !utf8.RuneStart(b[i]); i++ {
		b[i] = '?'
	}
	last := len(b) - 1
	for last >= 0 && !utf8.RuneStart(b[last]) {
		last--
	}
	if last < 0 {
		return
	}
	if *open = !utf8.FullRune(b[last:]); *open {
		for i := range b[last:] {
			b[last+i] = '?'
		}
	}
}
