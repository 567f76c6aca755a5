package faults

import (
	"bytes"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// replyFaults are about replies.
var replyFaults = []fakes.Fault{
	// These answer with another kind of reply.
	fault("reply-error-simple", do(kind(fwp.SimpleString), ran(fwp.BEAT), about("wid", fakes.AboutWorker))),
	fault("reply-hello-simple",
		do(kind(fwp.SimpleString), ran(fwp.HELLO), about(fakes.AboutJSON, fakes.AboutObject))),
	fault("reply-null-array", do(writes("*-1\r\n"), writing(), foundNone)),
	fault("reply-null-empty", do(writes("$0\r\n\r\n"), writing(), foundNone)),
	// About the bytes of a reply.
	fault("reply-cr",
		do(func(e *event) { e.Bytes = fmt.Appendf(nil, "-ERR cannot read %s\r\n", e.Line) }, writing(), wrong,
			func(e *event) bool { return bytes.IndexByte(e.Line, '\r') >= 0 })),
	fault("reply-error-cut", do(func(e *event) {
		line := fmt.Sprintf("-ERR cannot serve %s", bytes.Map(printable, e.Line))
		e.Bytes = []byte(line[:min(len(line), 300)] + "\r\n")
	}, writing(), wrong)),
	fault("reply-error-lines",
		do(writes("-ERR the job was refused\nand not enqueued\r\n"), writing(fwp.PUSH), wrong)),
	fault("reply-length-characters", do(func(e *event) {
		e.Bytes = fmt.Appendf(nil, "$%d\r\n%s\r\n", utf8.RuneCount(e.Reply.Text), e.Reply.Text)
	}, writing(), foundJob)),
	// These send more replies, fewer, or those of others.
	fault("reply-at-the-end", do(func(e *event) { e.Skip = len(e.Line) > 0 }, at(fakes.Unfinished))),
	fault("reply-missing", do(func(e *event) { e.Bytes = nil }, writing(), func(e *event) bool {
		return e.Conn.Commands > 0 && e.Conn.Commands%25 == 0
	})),
	fault("reply-swapped", swapReplies),
	fault("reply-unasked", do(sends(3100*time.Millisecond, "+PING\r\n"), writing())),
}

// printable has blanks stand for line breaks.
func printable(r rune) rune {
	if r == '\r' || r == '\n' {
		return ' '
	}
	return r
}
