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
	fault("line-double-space", "FRAME-03", "more than one space after the verb is accepted",
		do(func(e *event) { e.Command.Args = bytes.TrimLeft(e.Command.Args, " ") }, parsed())).
		Also("hello-spaces", "line-ack-spaces", "line-fetch-spaces", "line-push-spaces"),
	fault("line-leading-space", "FRAME-03", "a space before a verb is ignored",
		do(func(e *event) { e.Line = bytes.TrimPrefix(e.Line, []byte(" ")) }, at(fakes.LineRead), right)),
	fault("line-tab", "FRAME-03", "a tab behind a verb counts as a space", do(func(e *event) {
		if i := bytes.IndexByte(e.Line, '\t'); i > 0 && !bytes.Contains(e.Line[:i], []byte(" ")) {
			e.Line = slices.Clone(e.Line)
			e.Line[i] = ' '
		}
	}, at(fakes.LineRead))),
	fault("line-trailing-space", "FRAME-03", "spaces at the end of a command are accepted", do(func(e *event) {
		if e.Command.Args = bytes.TrimRight(e.Command.Args, " "); len(e.Command.Args) == 0 {
			e.Command.Args = nil
		}
	}, parsed())).Also("line-fail-ends", "line-fetch-ends", "line-info-ends", "line-push-ends"),
	// These accept verbs in another form.
	fault("line-empty-ok", "FRAME-03", "an empty line is answered with OK",
		do(pretend, checked(""), about(fakes.AboutVerb))),
	fault("line-flush-lower-case", "FRAME-03", "flush is carried out in lower case",
		do(func(e *event) { e.Line = []byte(fwp.FLUSH) }, at(fakes.LineRead), flushInSmall)),
	fault("line-flush-refused-clears", "FLUSH-01", "flush is refused in lower case, and carried out",
		do((*event).Clear, ran(), flushInSmall)),
	fault("line-lower-case", "FRAME-03", "verbs in lower case are accepted",
		do(func(e *event) { e.Command.Verb = strings.ToUpper(e.Command.Verb) }, parsed())).
		Also("line-end-lower-case", "line-push-lower-case"),
	fault("line-verb-begins", "FRAME-03", "a verb may have more letters at its end", do(func(e *event) {
		for _, verb := range []string{"PUSH", "FETCH", "ACK", "FAIL", "BEAT", "INFO", "FLUSH", "END"} {
			if strings.HasPrefix(e.Command.Verb, verb) {
				e.Command.Verb = verb
			}
		}
	}, parsed())),
	// About where lines and segments end.
	fault("line-character-cut", "FRAME-05 LINK-02",
		"the bytes of a character that arrives in two segments become question marks",
		keep(conn, at(fakes.Received), characterCut)),
	fault("line-cr-apart", "FRAME-05 LINK-02", "a CR at the end of a segment is read as a space", do(func(e *event) {
		if n := len(e.Bytes); n > 0 && e.Bytes[n-1] == '\r' {
			e.Bytes[n-1] = ' '
		}
	}, at(fakes.Received))),
	fault("line-lf", "FRAME-08 FRAME-03", "a line that ends with LF alone is accepted",
		do(pretend, at(fakes.LineRead), about(fakes.AboutLineEnd))),
	fault("line-paused", "FRAME-05 LINK-02 RESP-06", "a pause of more than a second within a line ends the command",
		keep(conn, at(fakes.Received), func(last *lastSegment, e *event) {
			if last.open && time.Since(last.at) > time.Second {
				e.Bytes = slices.Concat([]byte("\r\n"), e.Bytes)
			}
			*last = lastSegment{time.Now(), !bytes.HasSuffix(e.Bytes, []byte("\n"))}
		})),
	fault("line-segment-ends", "FRAME-05 LINK-02", "the end of a short segment ends the command", do(func(e *event) {
		if n := len(e.Bytes); n < 100 && e.Bytes[n-1] != '\n' && e.Bytes[n-1] != '\r' {
			e.Bytes = slices.Concat(e.Bytes, []byte("\r\n"))
		}
	}, at(fakes.Received))),
	fault("line-separators", "FRAME-09 PUSH-01", "U+2028, U+2029 and U+0085 end a line", do(func(e *event) {
		if i := bytes.IndexAny(e.Line, "\u2028\u2029\u0085"); i >= 0 {
			e.Line = e.Line[:i]
		}
	}, at(fakes.LineRead))),
	fault("line-unfinished", "FRAME-08", "the beginning of a line is a command when its connection ends",
		do(func(e *event) { e.Skip = len(e.Line) == 0 }, at(fakes.Unfinished))),
	// About what is in a line, and how long it is.
	fault("line-ascii", "FRAME-09 WU-03 WU-11", "characters of a job that are not ASCII become question marks",
		do(func(e *event) { e.Command.Args = bytes.Map(ascii, e.Command.Args) }, parsed(fwp.PUSH))),
	fault("line-json-spaces", "BEAT-01 WU-00 ACK-01 FAIL-01", "an argument with a blank behind a colon is refused",
		do(func(e *event) {
			e.Decline(fakes.AboutArguments, e.Command.Verb+" takes one JSON object after a single space")
		}, checked(fwp.PUSH, fwp.BEAT, fwp.ACK, fwp.FAIL), arguments(`": `))),
	fault("line-long-cut", "FRAME-06 WU-03", "a text in args is cut after 64 KiB",
		do(func(e *event) {
			reshape(e.Object, "args", elements(only(func(s string) any { return cut(s, 64<<10) })))
		}, checked(fwp.PUSH), large("args", 64<<10))),
	fault("line-nul", "FRAME-03", "NUL bytes in a line are ignored",
		do(func(e *event) { e.Line = bytes.ReplaceAll(e.Line, []byte{0}, nil) }, at(fakes.LineRead))),
	fault("line-of-pages", "RESP-06", "a line of 8,192 or 32,768 bytes is not answered",
		do(noReply, ran(), bytesLong(8192, 32768))).Also("line-of-a-page", "line-of-a-kilobyte"),
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
