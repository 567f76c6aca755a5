package fakeworkq

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/workq"
)

// refusedFaults accept what is malformed, or write replies that are.
var refusedFaults = []Fault{
	fault("line-bare-ok", "LINE-03", "the reply to add is OK without its sign",
		on(Ran, func(e *Event) { e.Reply.Bare = true }, workq.Add)),
	fault("line-error-word", "LINE-04", "malformed commands are answered with -ERROR",
		bytesOf("-CLIENT-ERROR", "-ERROR")),
	fault("line-lf", "LINE-05", "the first line of a reply ends with LF alone", bytesOf("\r\n", "\n")),
	fault("line-lower", "LINE-03", "a success begins with +ok", bytesOf("+OK", "+ok")),
	fault("line-refused-closes", "LINE-10", "the connection is closed behind a client error",
		on(Writing, func(e *Event) { e.Close = e.Reply.Error == workq.ClientError })),
	fault("line-reply-twice", "LINE-07", "every reply to delete is sent twice",
		on(Writing, func(e *Event) { e.Bytes = append(e.Bytes, e.Bytes...) }, workq.Delete)),
	fault("line-size-less", "LINE-06", "a leased payload is announced with one byte too few",
		record(workq.Lease, func(r *workq.Record) {
			if len(r.Block) > 0 {
				r.Head[3] = strconv.Itoa(len(r.Block) - 1)
			}
		})),
	fault("line-timeout-text", "LINE-04 LEASE-04", "a timeout has a description", bytesOf("-TIMEOUT", "-TIMEOUT no job")),
	fault("refused-arguments", "ERR-01", "a command without one of its arguments is answered with OK",
		accepts("arguments")),
	fault("refused-attempts", "ADD-19 ERR-01 LINE-04", "any max-attempts is taken", accepts("value of -max-attempts")),
	fault("refused-id", "ADD-04 ERR-01 LINE-04", "any id is taken", accepts("valid id")),
	fault("refused-name", "ADD-05 ERR-01 LINE-04", "any name is taken", accepts("valid name")),
	fault("refused-name-dot", "ADD-05", "a name with a dot is refused", catalogue.On(valid(workq.Add), func(e *Event) {
		if strings.Contains(e.Command.Name(), ".") {
			e.Err = errors.New("a name has letters and digits")
		}
	})),
	fault("refused-priority", "ADD-14 ERR-01 LINE-04", "any priority is taken", accepts("value of -priority")),
	fault("refused-server-error", "ERR-01 ADD-04 ADD-05 ADD-07 ADD-12 ADD-13 ADD-14 ADD-19 LINE-04 SCHED-05",
		"malformed commands are answered with a server error", on(Ran, func(e *Event) {
			if e.Reply.Error == workq.ClientError {
				e.Reply.Error = workq.ServerError
			}
		})),
	fault("refused-size", "ADD-13 ERR-01 LINE-04", "a payload of another size is taken", accepts("where its size says")),
	fault("refused-size-large", "ADD-12", "a payload of more than 1 MiB is taken", accepts("valid size")),
	fault("refused-time", "SCHED-05 ERR-01 LINE-04", "any time is taken", accepts("valid time")),
	fault("refused-ttr", "ADD-07 ERR-01 LINE-04", "any time to run is taken", accepts("valid ttr")),
}

// accepts returns a hook that answers with OK what is refused for a reason.
func accepts(reason string) func(*Event) {
	return on(Parsed, func(e *Event) { e.Skip = e.Err != nil && strings.Contains(e.Err.Error(), reason) })
}

// bytesOf returns a hook that replaces the first of a text in each answer.
func bytesOf(old, with string) func(*Event) {
	return on(Writing, func(e *Event) { e.Bytes = bytes.Replace(e.Bytes, []byte(old), []byte(with), 1) })
}
