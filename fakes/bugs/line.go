package bugs

import (
	"bytes"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// lineBugs are about lines: their spaces, verbs and ends.
var lineBugs = []fakes.Bug{
	// These accept verbs in another form.
	bug("line-flush-refused-clears", do((*event).Clear, atRan(), isLowercaseFlush)),
	bug("line-lower-case", do(func(e *event) { e.Command.Verb = strings.ToUpper(e.Command.Verb) }, atParsed())),
	// About where lines and segments end.
	bug("line-lf", do(func(e *event) { e.Err = nil }, at(fakes.LineRead), isAbout(fakes.AboutLineEnd))),
	bug("line-segment-ends", do(func(e *event) {
		if n := len(e.Bytes); n < 100 && e.Bytes[n-1] != '\n' && e.Bytes[n-1] != '\r' {
			e.Bytes = slices.Concat(e.Bytes, []byte("\r\n"))
		}
	}, at(fakes.Received))),
	bug("line-unfinished", do(func(e *event) { e.Skip = len(e.Line) == 0 }, at(fakes.Unfinished))),
	// About what is in a line, and how long it is.
	bug("line-ascii",
		do(func(e *event) { e.Command.Args = bytes.Map(ascii, e.Command.Args) }, atParsed(fwp.PUSH))),
	bug("line-long-cut", do(func(e *event) {
		reshape(e.Object, "args", mapElements(typedChange(func(s string) any { return cut(s, 64<<10) })))
	}, atChecked(fwp.PUSH), isLarge("args", 64<<10))),
	bug("line-of-pages", do(func(e *event) { e.Reply = fwp.Reply{} }, atRan(), hasLength(8192, 32768))),
}

func isLowercaseFlush(e *event) bool { return string(e.Line) == "flush" }

// hasLength holds for lines of some lengths.
func hasLength(lengths ...int) condition {
	return func(e *event) bool { return slices.Contains(lengths, len(e.Line)+len("\r\n")) }
}
