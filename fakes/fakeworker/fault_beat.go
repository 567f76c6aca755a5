package fakeworker

import (
	"bytes"
	"cmp"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// beatFaults are about the heartbeat. (Client Lifecycle; BEAT)
var beatFaults = []Fault{
	fault("beat-bare-wid", "FRAME-02 FRAME-04 BEAT-06", "Its BEATs have the wid without JSON around it.",
		sent(fwp.BEAT, func(e *Event) { e.Line = fmt.Appendf(nil, "BEAT %s\r\n", e.Worker.cfg.WID) })),
	fault("beat-error-ends", "RESP-09 BEAT-06 STATE-15", "It ends when a BEAT is answered with an error.",
		exitAt(fwp.BEAT, fwp.ErrorReply)),
	fault("beat-error-stops", "BEAT-06 RESP-09 WRK-12", "It sends no BEAT any more when one was answered with an error.",
		stopBeats),
	beatFault("beat-foreign-wid", "BEAT-10", "The wid of its BEATs is not that of its HELLO.",
		field("wid", "another-worker")),
	growingFault("beat-interval-doubles", "BEAT-06 BEAT-08 STATE-19 BEAT-16",
		"Each pause between its BEATs is twice as long as the one before.",
		func(d time.Duration) time.Duration { return 2 * d }),
	growingFault("beat-interval-grows", "BEAT-08 BEAT-06 STATE-19 BEAT-16",
		"Each pause between its BEATs is 7 s longer than the one before.",
		func(d time.Duration) time.Duration { return d + 7*time.Second }),
	lineFault("beat-json-single-quotes", "FRAME-04 BEAT-06", "Its BEATs have single quotes in their JSON.", fwp.BEAT,
		func(line []byte) []byte { return bytes.ReplaceAll(line, []byte(`"`), []byte(`'`)) }),
	fault("beat-memory-text", "BEAT-12", "The rss_kb of its BEATs is a string.", on(Beating, field("rss_kb", "20000"))),
	beatFault("beat-never", "BEAT-06 STATE-19 STATE-22 BEAT-13 BEAT-16 STATE-17 STATE-20", "It sends no BEAT.", skip),
	fault("beat-not-after-failure", "BEAT-06 STATE-19 BEAT-16", "It sends no BEAT any more when a job has failed.",
		catalogue.From(catalogue.Server[Event], hasFailed, at(Beating), skip)),
	beatFault("beat-not-while-quiet", "STATE-19 BEAT-16 BEAT-06", "It sends no BEAT when it is quiet.",
		func(e *Event) { e.Skip = e.Worker.state() == "quiet" }),
	beatFault("beat-not-while-terminating", "BEAT-16", "It sends no BEAT when it terminates.",
		func(e *Event) { e.Skip = e.Worker.state() == "terminate" }),
	beatFault("beat-not-while-working", "BEAT-06 BEAT-16", "It sends no BEAT while it runs jobs.",
		func(e *Event) { e.Skip = e.Worker.Running() > 0 }),
	everyFault("beat-often", "BEAT-07 BEAT-08", "It sends a BEAT every second.", time.Second),
	everyFault("beat-rare", "BEAT-06 STATE-19 BEAT-08 BEAT-16", "It sends a BEAT every 100 s.", 100*time.Second),
	fault("beat-state-other", "BEAT-11", "The current_state of its BEATs is working, unless it has another one.",
		on(Beating, fill("current_state", "working"))),
	fault("beat-three-only", "BEAT-06 STATE-19 BEAT-16 STATE-24 BEAT-13 STATE-20 STATE-22",
		"It sends three BEATs and no more.", skipBeyond(3, at(Beating))),
	fault("beat-unknown-worker-ignored", "WRK-12", "It works on when the server does not know it any more.",
		catalogue.On(refused(fwp.BEAT), okay)),
	beatFault("beat-without-wid", "BEAT-10", "Its BEATs have no wid.", field("wid", nil)),
}

// beatFault returns a fault of the BEATs.
func beatFault(name, clauses, summary string, act func(*Event)) Fault {
	return fault(name, clauses, summary, on(Beating, act))
}

// everyFault returns a fault of the time between two BEATs.
func everyFault(name, clauses, summary string, d time.Duration) Fault {
	return setting(name, clauses, summary, func(c *Config) { c.BeatEvery = d })
}

// growingFault returns a fault of the pauses between BEATs, the first of which is of 10 s.
func growingFault(name, clauses, summary string, next func(time.Duration) time.Duration) Fault {
	return fault(name, clauses, summary, catalogue.Keep(at(Beating), func(pause *time.Duration, e *Event) {
		e.Every = cmp.Or(*pause, 10*time.Second)
		*pause = next(e.Every)
	}))
}

// stopBeats sends no BEAT behind an error, for which it takes no notice otherwise.
func stopBeats() func(*Event) {
	return catalogue.Keep(catalogue.Any(refused(fwp.BEAT), at(Beating)), func(failed *bool, e *Event) {
		if e.Point == Beating {
			e.Skip = *failed
			return
		}
		*failed, e.Reply = true, fwp.Reply{Kind: fwp.SimpleString}
	})()
}
