package fakes

import (
	"encoding/json"

	"github.com/fwpsuite/fwp/fwp"
)

// manyFaults are about the report of one of several jobs in hand.
func manyFaults() []Fault {
	accepted := func(verb string, act func(*hands, *Event)) func() func(*Event) {
		return inHand(func(h *hands, e *Event) {
			if e.Point == Ran && e.Command.Verb == verb && e.Err == nil {
				act(h, e)
			}
		})
	}
	// reports replaces the jid of a report.
	reports := func(verb string, which func(jids []string) string) func() func(*Event) {
		return inHand(func(h *hands, e *Event) {
			if e.Point != Checked || e.Command.Verb != verb || e.Err != nil {
				return
			}
			if jids := h.on(e); len(jids) > 0 {
				e.Object.SetText("jid", which(jids))
			}
		})
	}
	first := func(jids []string) string { return jids[0] }
	last := func(jids []string) string { return jids[len(jids)-1] }
	return []Fault{
		statefulFault("report-ack-all", "STATE-07 ACK-01 FAIL-01 HELLO-11",
			"an ACK ends all jobs that its connection holds",
			accepted(fwp.ACK, func(h *hands, e *Event) { finish(e, h.on(e)) })),
		statefulFault("report-fail-all", "STATE-05",
			"a FAIL fails all jobs that its connection holds",
			accepted(fwp.FAIL, func(h *hands, e *Event) { fail(e, h.on(e)) })),
		statefulFault("report-ack-last", "STATE-07 ACK-02 FAIL-01",
			"an ACK ends the job that its connection fetched last, whatever its jid",
			reports(fwp.ACK, last)),
		statefulFault("report-ack-first", "STATE-07 ACK-02 ACK-01 FAIL-01 STATE-01",
			"an ACK ends the job that its connection fetched first, whatever its jid",
			reports(fwp.ACK, first)),
		statefulFault("report-fail-first", "STATE-05 STATE-06 STATE-07 STATE-09 FAIL-01",
			"a FAIL fails the job that its connection fetched first, whatever its jid",
			reports(fwp.FAIL, first)),
	}
}

// refusedFaults are about reports that are refused and have an effect.
func refusedFaults() []Fault {
	refused := func(verb string, act func(*hands, *Event)) func() func(*Event) {
		return inHand(func(h *hands, e *Event) {
			if e.Point == Ran && e.Command.Verb == verb && e.Err != nil && e.Conn.Identified {
				act(h, e)
			}
		})
	}
	return []Fault{
		statefulFault("ack-refused-ends", "ACK-03",
			"an ACK that is refused ends the jobs that its connection holds",
			refused(fwp.ACK, func(h *hands, e *Event) { finish(e, h.on(e)) })),
		statefulFault("ack-refused-array", "ACK-03",
			"an ACK whose jid is an array is refused and ends the jobs in it",
			refused(fwp.ACK, func(_ *hands, e *Event) {
				var jids []string
				if e.Object != nil && json.Unmarshal(e.Object.Get("jid"), &jids) == nil {
					finish(e, jids)
				}
			})),
		statefulFault("fail-refused-fails", "FAIL-02",
			"a FAIL that is refused fails the jobs that its connection holds",
			refused(fwp.FAIL, func(h *hands, e *Event) { fail(e, h.on(e)) })),
		statefulFault("fail-refused-ends", "FAIL-02",
			"a FAIL that is refused ends the jobs that its connection holds",
			refused(fwp.FAIL, func(h *hands, e *Event) { finish(e, h.on(e)) })),
	}
}

// refusedCommandFaults are about other commands that are refused and have an effect.
func refusedCommandFaults() []Fault {
	return []Fault{
		fault("push-refused-option", "PUSH-03",
			"a PUSH that is refused for an optional field is enqueued without it",
			when(Checked, fwp.PUSH, func(e *Event) {
				switch about := string(e.about()); about {
				case "retry", "reserve_for", "at", "created_at", "custom", "backtrace":
					e.Object.Delete(about)
					e.Skip = false
				}
			})),
		fault("beat-refused-quiets", "BEAT-01 BEAT-02",
			"a BEAT without a valid wid is refused, and its current_state is taken for the worker of its connection",
			when(Ran, fwp.BEAT, func(e *Event) {
				if state := e.Object.Text("current_state"); e.about() == "wid" && state != "" && e.Conn.Worker != "" {
					_ = e.Conn.server.Signal(e.Conn.Worker, state)
				}
			})),
		fault("beat-refused-registers", "BEAT-05",
			"the second BEAT of an unknown wid is answered with OK",
			when(Ran, fwp.BEAT, func(e *Event) {
				if e.about() == AboutWorker {
					e.Conn.server.workers.enter(e.Object.Text("wid"), identity{})
				}
			})),
	}
}

// unidentifiedFaults carry out a command before HELLO although they refuse it.
func unidentifiedFaults() []Fault {
	effective := func(verb string) func(*Event) {
		return when(Checked, verb, func(e *Event) {
			if e.about() == AboutState && e.Conn.Iterations == 0 {
				e.Skip = false
			}
		})
	}
	return []Fault{
		fault("state-push-before-hello", "PUSH-03",
			"a PUSH before HELLO is refused and enqueued on an open server",
			effective(fwp.PUSH)),
		fault("state-ack-before-hello", "STATE-01",
			"an ACK before HELLO is refused and ends its job",
			effective(fwp.ACK)),
		fault("state-fail-before-hello", "STATE-01",
			"a FAIL before HELLO is refused and fails its job",
			effective(fwp.FAIL)),
		fault("flush-before-hello", "FLUSH-01",
			"a FLUSH before HELLO is refused and carried out",
			effective(fwp.FLUSH)),
		fault("flush-needs-no-hello", "STATE-01 FLUSH-01",
			"a FLUSH before HELLO is carried out and answered with OK",
			when(Checked, fwp.FLUSH, func(e *Event) {
				if e.about() == AboutState && e.Conn.Iterations == 0 {
					e.accept()
				}
			})),
	}
}
