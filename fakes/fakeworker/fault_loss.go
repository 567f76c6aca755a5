package fakeworker

import (
	"bytes"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// lossFaults are about lost connections, those that replace them, and where the server is. (Connection, Lost jobs? of
// the worker architecture; Network Connection; Not Identified State; HELLO)
var lossFaults = []Fault{
	fault("again-another-pid", "HELLO-12", "Its HELLO has another pid when it has lost a connection.",
		afterLoss(Introducing, func(e *Event) { e.Fields["pid"] = e.Worker.cfg.PID + 1 })),
	fault("again-as-producer", "HELLO-09 BEAT-06 BEAT-09 BEAT-10 STATE-24 STATE-15",
		"Its HELLO has no field of a worker when it has lost a connection.", afterLoss(Introducing, func(e *Event) {
			for _, name := range []string{"wid", "hostname", "pid", "labels"} {
				delete(e.Fields, name)
			}
		})),
	fault("again-before-hi", "HI-07 FRAME-07 AUTH-01 AUTH-03",
		"It sends HELLO before it has read HI when it has lost a connection.", afterLoss(Dialed, skip)),
	fault("again-without-hello", "HELLO-01 STATE-02 HELLO-09 FETCH-11 BEAT-06 RESP-09 STATE-24",
		"It sends no HELLO when it has lost a connection.", afterLoss(Introducing, skip)),
	fault("again-without-v", "HELLO-02", "Its HELLO has no v when it has lost a connection.",
		afterLoss(Introducing, field("v", nil))),
	setting("connection-for-each-command", "WRK-09", "It opens a connection for each command.",
		func(c *Config) { c.Single = true }),
	fault("connection-for-each-job", "WRK-09", "It opens its connections anew for each job.",
		on(Ran, func(e *Event) { e.Worker.renewal.Add(1) })),
	fault("loss-doubles-beats", "BEAT-07 BEAT-08",
		"The heartbeat of a connection that it lost goes on beside that of the new one.", doubleBeats),
	fault("loss-ends", "FETCH-11 STATE-15 STATE-18", "It ends when it loses a connection.", on(Lost, exit(1))),
	fault("loss-ends-beats", "BEAT-06 STATE-24 STATE-19",
		"It sends no BEAT any more when it has lost a connection.", afterLoss(Beating, skip)),
	fault("loss-final", "FETCH-11 STATE-22", "It opens no other connection for one that it lost.", on(Lost, skip)),
	fault("loss-gives-up", "FETCH-11", "It opens ten connections more for those that it lost, and then none.",
		skipBeyond(9, at(Lost))),
	fault("loss-of-one-final", "FETCH-11 STATE-22", "It opens no other connection for the first one that it lost.",
		skipFirst(lostExecutor)),
	fault("loss-renames", "BEAT-10 BEAT-06", "It greets under another wid after a loss, and beats under the old one.",
		afterLoss(Introducing, func(e *Event) { e.Fields["wid"] = e.Worker.cfg.WID + "-again" })),
	fault("loss-reported-as-failure", "FAIL-04", "It reports a job as failed whose ACK got no reply.",
		catalogue.Next(catalogue.Server[Event], lostExecutor, sends(fwp.ACK), func(e *Event) {
			e.Line = bytes.Replace(e.Line, []byte("ACK {"), []byte(`FAIL {"backtrace":[],"errtype":"E","message":"lost",`), 1)
		})),
	setting("provider-ignored", "WRK-02", "It ignores FAKTORY_PROVIDER.", ignoreProvider),
}

// producerLossFaults are those of producers.
var producerLossFaults = []Fault{
	fault("loss-ignored", "WU-19 RESP-09", "It takes a PUSH without a reply for one that was accepted.",
		tellPushed(func(e *Event) bool { return e.Reply.Kind == 0 })),
}

// afterLoss returns hooks that act at a point from when a connection was lost on.
func afterLoss(p Point, act func(*Event)) func() func(*Event) {
	return catalogue.From(catalogue.Server[Event], at(Lost), at(p), act)
}

// lostExecutor is the condition of the loss of a connection that is not that for BEAT.
func lostExecutor(e *Event) bool { return e.Point == Lost && !e.Beats }

// doubleBeats has the heartbeat of a lost connection go on: a BEAT every 13 s, and another one 2 s behind each.
func doubleBeats() func(*Event) {
	type beats struct{ lost, second bool }
	return catalogue.Keep(catalogue.Any(at(Lost), at(Beating)), func(m *beats, e *Event) {
		switch {
		case e.Point == Lost:
			m.lost = m.lost || e.Beats
		case m.lost:
			if e.Every = 13 * time.Second; m.second {
				e.Every = 2 * time.Second
			}
			m.second = !m.second
		}
	})()
}

// ignoreProvider finds no variable FAKTORY_PROVIDER.
func ignoreProvider(c *Config) {
	lookup := c.Lookup
	c.Lookup = func(name string) (string, bool) {
		if name == "FAKTORY_PROVIDER" || lookup == nil {
			return "", false
		}
		return lookup(name)
	}
}
