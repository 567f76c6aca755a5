package faults

import (
	"bytes"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// replyFaults are about replies.
var replyFaults = []fakes.Fault{
	// These answer with another kind of reply.
	fault("reply-ack-null", do(reply(fakes.Null()), ran(fwp.ACK), aboutRequired)),
	fault("reply-error-simple", do(kind(fwp.SimpleString), ran(fwp.BEAT), about("wid", fakes.AboutWorker))),
	fault("reply-fail-bulk", do(kind(fwp.BulkString), ran(fwp.FAIL), aboutRequired)),
	fault("reply-hello-simple",
		do(kind(fwp.SimpleString), ran(fwp.HELLO), about(fakes.AboutJSON, fakes.AboutObject))),
	fault("reply-null-array", do(writes("*-1\r\n"), writing(), foundNone)),
	fault("reply-null-empty", do(writes("$0\r\n\r\n"), writing(), foundNone)),
	fault("reply-push-integer",
		do(reply(fakes.Integer(0)), ran(fwp.PUSH), about(fakes.AboutJSON, fakes.AboutObject))),
	fault("reply-push-simple", do(kind(fwp.SimpleString), ran(fwp.PUSH), aboutRequired)),
	// About the bytes of a reply.
	fault("reply-cr",
		do(func(e *event) { e.Bytes = fmt.Appendf(nil, "-ERR cannot read %s\r\n", e.Line) }, writing(), wrong,
			func(e *event) bool { return bytes.IndexByte(e.Line, '\r') >= 0 })),
	fault("reply-error-cut", do(func(e *event) {
		line := fmt.Sprintf("-ERR cannot serve %s", bytes.Map(printable, e.Line))
		e.Bytes = []byte(line[:min(len(line), 300)] + "\r\n")
	}, writing(), wrong)),
	fault("reply-error-lf", do(rewrites("\r\n", "\n"), writing(), about(fakes.AboutVerb))),
	fault("reply-error-lines",
		do(writes("-ERR the job was refused\nand not enqueued\r\n"), writing(fwp.PUSH), wrong)),
	fault("reply-escape", do(func(e *event) { e.Bytes = fmt.Appendf(nil, "-ERR no worker %s\r\n", wid(e)) },
		writing(fwp.BEAT), about(fakes.AboutWorker))),
	fault("reply-job-cut-character", do(cutCharacter, writing(), foundJob)),
	fault("reply-job-line",
		do(func(e *event) { e.Bytes = slices.Concat(e.Bytes, []byte("\r\n")) }, writing(), foundJob)),
	fault("reply-length-characters", do(func(e *event) {
		e.Bytes = fmt.Appendf(nil, "$%d\r\n%s\r\n", utf8.RuneCount(e.Reply.Text), e.Reply.Text)
	}, writing(), foundJob)),
	// These send more replies, fewer, or those of others.
	fault("reply-at-the-end", do(func(e *event) { e.Skip = len(e.Line) > 0 }, at(fakes.Unfinished))),
	fault("reply-missing", do(func(e *event) { e.Bytes = nil }, writing(), func(e *event) bool {
		return e.Conn.Commands > 0 && e.Conn.Commands%25 == 0
	})),
	fault("reply-null-again", do(sends(3*time.Second, "$-1\r\n"), writing(), foundNone)),
	fault("reply-swapped", swapReplies),
	fault("reply-twice", do(twice, writing(fwp.INFO))),
	fault("reply-unasked", do(sends(3100*time.Millisecond, "+PING\r\n"), writing())),
}

// cutCharacter leaves out the last byte beyond ASCII that stands in a job behind the name of its failure.
func cutCharacter(e *event) {
	text := bytes.Clone(e.Reply.Text)
	from := bytes.Index(text, []byte(`"failure":{`))
	at := bytes.LastIndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
	if from < 0 || at < from {
		return
	}
	_, size := utf8.DecodeRune(text[at:])
	text = slices.Delete(text, at+size-1, at+size)
	e.Bytes = fmt.Appendf(nil, "$%d\r\n%s\r\n", len(text), text)
}

// printable has blanks stand for line breaks.
func printable(r rune) rune {
	if r == '\r' || r == '\n' {
		return ' '
	}
	return r
}

// aboutRequired holds for a command that is refused for a required field of a job.
func aboutRequired(e *event) bool { return about("jid", "jobtype", "args")(e) }
