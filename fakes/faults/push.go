package faults

import (
	"bytes"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// pushFaults are about PUSH.
var pushFaults = []fakes.Fault{
	// About the reply to a PUSH.
	fault("push-broken-ok-again",
		repeated(conn, both(ran(fwp.PUSH), about(fakes.AboutJSON, fakes.AboutObject)), okay)),
	fault("push-not-object", do(pretend, checked(fwp.PUSH), about(fakes.AboutObject))),
	fault("push-other-answer", answer(fwp.PUSH, fakes.Integer(1))),
	fault("push-refused-seldom", every(97, valid(fwp.PUSH), decline(fakes.AboutLimit, "busy"))),
	// These lose jobs that were accepted.
	fault("push-lost", every(50, at(fakes.Defaulted), skip)),
	fault("push-lost-rarely", every(500, at(fakes.Defaulted), skip)),
	fault("push-lost-seldom", every(5000, at(fakes.Defaulted), skip)),
	fault("push-odd-queue-lost", loses(text("queue", with(":/")))),
	fault("push-planes-lost", loses(func(e *event) bool {
		return bytes.ContainsFunc(e.Command.Args, func(r rune) bool { return r > 0xFFFF })
	})),
	fault("push-quiet-lost", loses(quiet)),
	fault("push-with-its-connection", withConnection()),
	// These accept a PUSH that is not right.
	fault("push-order", do(declineForm, valid(fwp.PUSH), not(begins("jid", "custom")))),
	fault("push-queue-spaces", do(accept, checked(fwp.PUSH), about("queue"), text("queue", longer(0)))),
	// About what a PUSH does.
	fault("push-delivered-late",
		do(func(e *event) { e.Object.SetTime("at", time.Now().Add(time.Second)) }, at(fakes.Defaulted),
			text("at", func(at string) bool { return at == "" }))),
	fault("push-refused-enqueued", do(enact, checked(fwp.PUSH), wrong, text("jid", longer(0)),
		func(e *event) bool { return e.Conn.Identified })),
}

// withConnection loses the only job that a producer has pushed when its connection has ended.
func withConnection() func() func(*event) {
	type source struct {
		done <-chan struct{}
		jobs *int // that the connection has pushed
	}
	type sources struct {
		from   memory[string, source]
		pushed memory[int64, int]
	}
	return keepAll(at(fakes.Defaulted, fakes.Delivered), func(s *sources, e *event) {
		if e.Point == fakes.Delivered {
			from, _ := s.from.Take(jid(e))
			e.Skip = closed(from.done) && *from.jobs == 1
		} else if e.Conn.Worker == "" {
			jobs := s.pushed.Of(e.Conn.ID)
			*jobs++
			*s.from.Of(jid(e)) = source{e.Conn.Done, jobs}
		}
	})
}
