package faults

import (
	"bytes"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// pushFaults are about PUSH.
var pushFaults = []fakes.Fault{
	// About the reply to a PUSH.
	fault("push-broken-ok", "PUSH-02 WU-00 RESP-02", "a PUSH of broken JSON is answered with OK",
		do(pretend, checked(fwp.PUSH), about(fakes.AboutJSON))),
	fault("push-broken-ok-again", "PUSH-02 RESP-02 WU-00",
		"the second PUSH of a connection that cannot be read is answered with OK",
		repeated(conn, both(ran(fwp.PUSH), about(fakes.AboutJSON, fakes.AboutObject)), okay)),
	fault("push-not-object", "WU-00 PUSH-02 RESP-02", "a PUSH whose argument is not an object is answered with OK",
		do(pretend, checked(fwp.PUSH), about(fakes.AboutObject))),
	fault("push-other-answer", "PUSH-01", "an accepted PUSH is answered with a number",
		answer(fwp.PUSH, fakes.Integer(1))),
	fault("push-refused-always", "PUSH-01 STATE-03", "every PUSH is refused",
		do(decline(fakes.AboutLimit, "there are too many queues"), checked(fwp.PUSH))),
	fault("push-refused-seldom", "LINK-03 PUSH-01", "every 97th PUSH is refused",
		every(97, valid(fwp.PUSH), decline(fakes.AboutLimit, "busy"))),
	// These lose jobs that were accepted.
	fault("push-long-lost", "PUSH-04", "a job with more than 65,535 bytes is answered with OK and lost",
		loses(func(e *event) bool { return len(e.Command.Args) > 65535 })).Also("push-long-jid-lost"),
	fault("push-lost", "PUSH-04 PUSH-01 LINK-03", "every 50th PUSH is answered with OK and lost",
		every(50, at(fakes.Defaulted), skip)),
	fault("push-lost-rarely", "PUSH-04", "every 500th PUSH is answered with OK and lost",
		every(500, at(fakes.Defaulted), skip)),
	fault("push-lost-seldom", "PUSH-04", "every 5,000th PUSH is answered with OK and lost",
		every(5000, at(fakes.Defaulted), skip)),
	fault("push-nul-lost", "PUSH-04 FRAME-09", "a job with an escaped U+0000 is answered with OK and lost",
		loses(arguments(`\u0000`))),
	fault("push-odd-queue-lost", "PUSH-04",
		"a job with a colon or a slash in the name of its queue is answered with OK and lost",
		loses(text("queue", with(":/")))),
	fault("push-planes-lost", "PUSH-04 FRAME-09 RESP-03 WU-03",
		"a job with a character beyond U+FFFF is answered with OK and lost", loses(func(e *event) bool {
			return bytes.ContainsFunc(e.Command.Args, func(r rune) bool { return r > 0xFFFF })
		})),
	fault("push-quiet-lost", "PUSH-04",
		"a PUSH of a worker that knows that it is to be quiet is answered with OK and lost", loses(quiet)),
	fault("push-with-its-connection", "PUSH-01 PUSH-04",
		"the only job of a client that is no consumer cannot be fetched when the connection of its PUSH has ended",
		withConnection()),
	// These accept a PUSH that is not right.
	fault("push-last-comma", "PUSH-02", "a comma behind the last field of a PUSH is ignored",
		do(func(e *event) { e.Command.Args = bytes.Replace(e.Command.Args, []byte(",}"), []byte("}"), 1) },
			parsed(fwp.PUSH))).
		Also("push-comment", "push-leading-zero", "push-not-a-number", "push-quotes", "push-tab-in-text"),
	fault("push-order", "WU-00", "a PUSH whose first field is not jid or custom is refused",
		do(declineForm, valid(fwp.PUSH), not(begins("jid", "custom")))),
	fault("push-queue-ends", "WU-16 PUSH-04",
		"a space before or behind the name of a queue is accepted and belongs to the name",
		do(accept, checked(fwp.PUSH), about("queue"), text("queue", func(name string) bool {
			bare := strings.TrimSpace(name)
			return bare != "" && !strings.Contains(bare, " ")
		}))),
	fault("push-queue-spaces", "WU-16 PUSH-04", "a queue name with a space is accepted",
		do(accept, checked(fwp.PUSH), about("queue"), text("queue", longer(0)))),
	fault("push-two-objects", "FRAME-03", "what follows the JSON object of a PUSH is ignored",
		do(firstObject, parsed(fwp.PUSH))).Also("ack-two-objects"),
	// About what a PUSH does.
	fault("push-delivered-late", "FETCH-14 FETCH-04 PUSH-04",
		"a job is enqueued a second after its PUSH was answered",
		do(func(e *event) { e.Object.SetTime("at", time.Now().Add(time.Second)) }, at(fakes.Defaulted),
			text("at", func(at string) bool { return at == "" }))),
	fault("push-refused-enqueued", "PUSH-03", "a PUSH that is refused is enqueued nevertheless",
		do(enact, checked(fwp.PUSH), wrong, text("jid", longer(0)),
			func(e *event) bool { return e.Conn.Identified })),
	fault("push-refused-option", "PUSH-03", "a PUSH that is refused for an optional field is enqueued without it",
		do(func(e *event) { drop(string(e.About()))(e); enact(e) }, checked(fwp.PUSH),
			about("retry", "reserve_for", "at", "created_at", "custom", "backtrace"))),
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
