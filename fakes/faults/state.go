package faults

import (
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// stateFaults are about the states of a connection.
var stateFaults = []fakes.Fault{
	// About commands before HELLO.
	fault("state-before-hello-closes", do(hangUp, ran(), early, not(ran(fwp.HELLO)))),
	fault("state-fail-ok-before-hello", do(pretend, checked(fwp.FAIL), about(fakes.AboutState))),
	fault("state-fetch-before-hello", do(func(e *event) {
		for _, queue := range queuesOf(e.Command) {
			if take(e, queue) {
				return
			}
		}
	}, ran(fwp.FETCH), early)),
	fault("state-push-before-hello", do(enact, checked(fwp.PUSH), about(fakes.AboutState), onOpen)),
	// About connections that lose their state, or end at the wrong time.
	fault("state-error-forgets", do(forget, ran(), wrong)),
	fault("state-error-locks-out", keep(conn, checked(), func(refused *bool, e *event) {
		if e.Command.Verb != fwp.HELLO {
			*refused = e.About() == fakes.AboutState
			return
		}
		if *refused {
			e.Decline(fakes.AboutState, "HELLO comes too late")
		}
		*refused = false
	})),
	fault("state-errors-close", keep(conn, both(ran(), wrong, ofWorker), func(refused *int, e *event) {
		*refused++
		e.Close = e.Close || *refused == 12
	})),
	fault("state-fail-forgets", do(forget, done(fwp.FAIL))),
	fault("state-info-refused",
		do(decline(fakes.AboutState, "INFO is not for workers"), checked(fwp.INFO), ofWorker)),
}
