package bugs

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fakes"
)

// replyBugs are about replies.
var replyBugs = []fakes.Bug{
	// About the bytes of a reply.
	bug("reply-cr",
		do(func(e *event) { e.Bytes = fmt.Appendf(nil, "-ERR cannot read %s\r\n", e.Line) }, atWriting(), hasError,
			func(e *event) bool { return bytes.IndexByte(e.Line, '\r') >= 0 })),
	bug("reply-error-cut", do(func(e *event) {
		line := fmt.Sprintf("-ERR cannot serve %s", bytes.Map(printable, e.Line))
		e.Bytes = []byte(line[:min(len(line), 300)] + "\r\n")
	}, atWriting(), hasError)),
	bug("reply-length-characters", do(func(e *event) {
		e.Bytes = fmt.Appendf(nil, "$%d\r\n%s\r\n", utf8.RuneCount(e.Reply.Text), e.Reply.Text)
	}, atWriting(), hasJob)),
	// These send more replies, fewer, or those of others.
	bug("reply-at-the-end", do(func(e *event) { e.Skip = len(e.Line) > 0 }, at(fakes.Unfinished))),
	bug("reply-swapped", swapReplies),
}

// printable has blanks stand for line breaks.
func printable(r rune) rune {
	if r == '\r' || r == '\n' {
		return ' '
	}
	return r
}
