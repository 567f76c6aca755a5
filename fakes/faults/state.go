package faults

import (
	"cmp"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// stateFaults are about the states of a connection.
var stateFaults = []fakes.Fault{
	// About commands before HELLO.
	fault("state-ack-before-hello", "STATE-01", "an ACK before HELLO is refused and ends its job",
		do(enact, checked(fwp.ACK), about(fakes.AboutState), onOpen)).Also("state-fail-before-hello"),
	fault("state-beat-before-hello", "STATE-01 AUTH-06",
		"a BEAT before HELLO is accepted if another connection had its wid",
		do(accept, checked(fwp.BEAT), about(fakes.AboutState))),
	fault("state-before-hello-closes", "STATE-01", "a command before HELLO ends the connection without an error",
		do(hangUp, ran(), early, not(ran(fwp.HELLO)))),
	fault("state-fail-ok-before-hello", "STATE-01 AUTH-06", "a FAIL before HELLO is answered with OK",
		do(pretend, checked(fwp.FAIL), about(fakes.AboutState))),
	fault("state-fetch-before-hello", "STATE-01 AUTH-06", "a FETCH before HELLO is refused, and takes a job",
		do(func(e *event) {
			for _, queue := range queuesOf(e.Command) {
				if take(e, queue) {
					return
				}
			}
		}, ran(fwp.FETCH), early)),
	fault("state-identified-after", "STATE-01",
		"on an open server, commands before HELLO are served if the connection that ended last was identified",
		identifiedBy(onOpen, false)),
	fault("state-identified-beside", "STATE-01",
		"on an open server, commands before HELLO are served while another connection is identified",
		identifiedBy(onOpen, true)),
	fault("state-info-before-hello", "STATE-01", "INFO is served before HELLO on an open server",
		do(accept, checked(fwp.INFO), about(fakes.AboutState), onOpen)),
	fault("state-push-before-hello", "PUSH-03", "a PUSH before HELLO is refused and enqueued on an open server",
		do(enact, checked(fwp.PUSH), about(fakes.AboutState), onOpen)),
	// About connections that lose their state, or end at the wrong time.
	fault("state-error-forgets", "STATE-12", "a refused command leaves the connection un-identified",
		do(forget, ran(), wrong)),
	fault("state-error-locks-out", "STATE-12", "after a command that was refused before HELLO the HELLO is declined",
		keep(conn, checked(), func(refused *bool, e *event) {
			if e.Command.Verb != fwp.HELLO {
				*refused = e.About() == fakes.AboutState
				return
			}
			if *refused {
				e.Decline(fakes.AboutState, "HELLO comes too late")
			}
			*refused = false
		})),
	fault("state-errors-close", "STATE-13 STATE-12",
		"a consumer's connection is closed after its twelfth refused command",
		keep(conn, both(ran(), wrong, ofWorker), func(refused *int, e *event) {
			*refused++
			e.Close = e.Close || *refused == 12
		})).Also("state-error-closes"),
	fault("state-fail-forgets", "STATE-10 STATE-12 FAIL-01 FETCH-03 BEAT-03",
		"an accepted FAIL leaves the connection un-identified", do(forget, done(fwp.FAIL))),
	fault("state-info-refused", "STATE-03", "INFO is refused to consumers",
		do(decline(fakes.AboutState, "INFO is not for workers"), checked(fwp.INFO), ofWorker)),
	fault("state-push-after-beat", "STATE-03 PUSH-01",
		"a PUSH is refused on a connection whose first command behind HELLO was a BEAT",
		keep(conn, both(checked(), not(checked(fwp.HELLO)), func(e *event) bool { return e.Conn.Identified }),
			func(first *string, e *event) {
				*first = cmp.Or(*first, e.Command.Verb)
				if *first == fwp.BEAT && e.Command.Verb == fwp.PUSH {
					e.Decline(fakes.AboutState, "the order is another one")
				}
			})),
}
