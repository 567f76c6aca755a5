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
	fault("reply-ack-null", "RESP-02 ACK-03", "an ACK without a valid jid is answered with null",
		do(reply(fakes.Null()), ran(fwp.ACK), aboutRequired)),
	fault("reply-error-simple", "RESP-02 BEAT-02 BEAT-05",
		"a BEAT that is refused for its wid is answered with a simple string that starts with ERR",
		do(kind(fwp.SimpleString), ran(fwp.BEAT), about("wid", fakes.AboutWorker))),
	fault("reply-fail-bulk", "RESP-02 FAIL-02",
		"a FAIL without a valid jid is answered with the error in a bulk string",
		do(kind(fwp.BulkString), ran(fwp.FAIL), aboutRequired)),
	fault("reply-hello-simple", "RESP-02 HELLO-04 HELLO-06",
		"a HELLO that cannot be read is answered with a simple string that starts with ERR",
		do(kind(fwp.SimpleString), ran(fwp.HELLO), about(fakes.AboutJSON, fakes.AboutObject))),
	fault("reply-null-array", "RESP-04 FETCH-03", "no job is the null array",
		do(writes("*-1\r\n"), writing(), foundNone)),
	fault("reply-null-empty", "RESP-04 FETCH-03", "no job is an empty bulk string",
		do(writes("$0\r\n\r\n"), writing(), foundNone)),
	fault("reply-push-integer", "RESP-02 PUSH-02 WU-00",
		"a PUSH that is not a JSON object is answered with the integer 0",
		do(reply(fakes.Integer(0)), ran(fwp.PUSH), about(fakes.AboutJSON, fakes.AboutObject))),
	fault("reply-push-simple", "RESP-02 WU-01 WU-02 WU-03",
		"a PUSH without a required field is answered with a simple string that starts with ERR",
		do(kind(fwp.SimpleString), ran(fwp.PUSH), aboutRequired)),
	// About the bytes of a reply.
	fault("reply-cr", "RESP-07", "an error contains a CR of the command",
		do(func(e *event) { e.Bytes = fmt.Appendf(nil, "-ERR cannot read %s\r\n", e.Line) }, writing(), wrong,
			func(e *event) bool { return bytes.IndexByte(e.Line, '\r') >= 0 })),
	fault("reply-error-lf", "RESP-01", "the error to a verb that does not exist ends with LF alone",
		do(rewrites("\r\n", "\n"), writing(), about(fakes.AboutVerb))).Also("reply-lf", "reply-null-lf"),
	fault("reply-error-lines", "RESP-01 RESP-07", "the error to a PUSH has two lines",
		do(writes("-ERR the job was refused\nand not enqueued\r\n"), writing(fwp.PUSH), wrong)),
	fault("reply-escape", "RESP-07",
		"the error to a BEAT of an unknown worker has its wid, with what the escapes in it stand for",
		do(func(e *event) { e.Bytes = fmt.Appendf(nil, "-ERR no worker %s\r\n", wid(e)) },
			writing(fwp.BEAT), about(fakes.AboutWorker))),
	fault("reply-job-line", "RESP-06 RESP-01", "an empty line follows every job",
		do(func(e *event) { e.Bytes = slices.Concat(e.Bytes, []byte("\r\n")) }, writing(), foundJob)),
	fault("reply-length-characters", "RESP-03 FRAME-09", "the length of a job counts characters", do(func(e *event) {
		e.Bytes = fmt.Appendf(nil, "$%d\r\n%s\r\n", utf8.RuneCount(e.Reply.Text), e.Reply.Text)
	}, writing(), foundJob)),
	// These send more replies, fewer, or those of others.
	fault("reply-at-the-end", "RESP-05", "a client that sends no more is sent an error",
		do(func(e *event) { e.Skip = len(e.Line) > 0 }, at(fakes.Unfinished))),
	fault("reply-missing", "RESP-06", "every 25th command of a connection is not answered",
		do(func(e *event) { e.Bytes = nil }, writing(), func(e *event) bool {
			return e.Conn.Commands > 0 && e.Conn.Commands%25 == 0
		})),
	fault("reply-null-again", "RESP-05", "a worker that found no job is sent the null again after 3 s",
		do(sends(3*time.Second, "$-1\r\n"), writing(), foundNone)),
	fault("reply-swapped", "FETCH-04 RESP-06 FETCH-01", "every 50th job is swapped with the job of another connection",
		swapReplies),
	fault("reply-twice", "RESP-06", "INFO is answered twice", do(twice, writing(fwp.INFO))),
	fault("reply-unasked", "RESP-05", "a connection that is idle for more than 3 s is sent a line",
		do(sends(3100*time.Millisecond, "+PING\r\n"), writing())),
}

// aboutRequired holds for a command that is refused for a required field of a job.
func aboutRequired(e *event) bool { return about("jid", "jobtype", "args")(e) }
