package fakes

import "github.com/fwpsuite/fwp/fwp"

// kindFaults refuse with another kind of reply than an error.
func kindFaults() []Fault {
	refusal := func(verb string, which func(*Event) bool, kind func(fwp.Reply) fwp.Reply) func(*Event) {
		return when(Ran, verb, func(e *Event) {
			if e.Err != nil && which(e) {
				e.Reply = kind(e.Reply)
			}
		})
	}
	as := func(k fwp.Kind) func(fwp.Reply) fwp.Reply {
		return func(r fwp.Reply) fwp.Reply {
			r.Kind = k
			return r
		}
	}
	zero := func(fwp.Reply) fwp.Reply { return integer(0) }
	nothing := func(fwp.Reply) fwp.Reply { return null() }
	unreadable := func(e *Event) bool { return e.about() == AboutJSON || e.about() == AboutObject }
	field := func(e *Event) bool {
		about := e.about()
		return about == "jid" || about == "jobtype" || about == "args"
	}
	return []Fault{
		fault("reply-push-simple", "RESP-02 WU-01 WU-02 WU-03",
			"a PUSH without a required field is answered with a simple string that starts with ERR",
			refusal(fwp.PUSH, field, as(fwp.SimpleString))),
		fault("reply-push-integer", "RESP-02 PUSH-02 WU-00",
			"a PUSH that is not a JSON object is answered with the integer 0",
			refusal(fwp.PUSH, unreadable, zero)),
		fault("reply-ack-null", "RESP-02 ACK-03",
			"an ACK without a valid jid is answered with null",
			refusal(fwp.ACK, field, nothing)),
		fault("reply-fail-bulk", "RESP-02 FAIL-02",
			"a FAIL without a valid jid is answered with the error in a bulk string",
			refusal(fwp.FAIL, field, as(fwp.BulkString))),
		fault("reply-hello-simple", "RESP-02 HELLO-04 HELLO-06",
			"a HELLO that cannot be read is answered with a simple string that starts with ERR",
			refusal(fwp.HELLO, unreadable, as(fwp.SimpleString))),
	}
}
