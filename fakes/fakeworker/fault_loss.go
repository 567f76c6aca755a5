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
	fault("again-another-pid", afterLoss(Introducing, func(e *Event) { e.Fields["pid"] = e.Worker.cfg.PID + 1 })),
	fault("again-as-producer", afterLoss(Introducing, func(e *Event) {
		for _, name := range []string{"wid", "hostname", "pid", "labels"} {
			delete(e.Fields, name)
		}
	})),
	fault("again-before-hi", afterLoss(Dialed, skip)),
	fault("again-without-hello", afterLoss(Introducing, skip)),
	fault("again-without-v", afterLoss(Introducing, field("v", nil))),
	setting("connection-for-each-command", func(c *Config) { c.Single = true }),
	fault("connection-for-each-job", on(Ran, func(e *Event) { e.Worker.renewal.Add(1) })),
	fault("loss-doubles-beats", doubleBeats),
	fault("loss-ends", on(Lost, exit(1))),
	fault("loss-ends-beats", afterLoss(Beating, skip)),
	fault("loss-final", on(Lost, skip)),
	fault("loss-forgets-jobs", forgetJobs),
	fault("loss-gives-up", skipBeyond(9, at(Lost))),
	fault("loss-of-one-final", skipFirst(lostExecutor)),
	fault("loss-renames",
		afterLoss(Introducing, func(e *Event) { e.Fields["wid"] = e.Worker.cfg.WID + "-again" })),
	fault("loss-reported-as-failure",
		catalogue.Next(catalogue.Server[Event], lostExecutor, sends(fwp.ACK), func(e *Event) {
			e.Line = bytes.Replace(e.Line, []byte("ACK {"), []byte(`FAIL {"backtrace":[],"errtype":"E","message":"lost",`), 1)
		})),
	setting("provider-ignored", ignoreProvider),
}

// producerLossFaults are those of producers.
var producerLossFaults = []Fault{
	fault("loss-ignored", tellPushed(func(e *Event) bool { return e.Reply.Kind == 0 })),
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

// forgetJobs has a worker report no job that it held when it lost a connection, whichever that was.
func forgetJobs() func(*Event) {
	type losses struct {
		n     int
		until map[string]int // how many there were when a job was delivered
	}
	return catalogue.Keep(catalogue.Any(at(Lost), at(Delivered), at(Ran)), func(m *losses, e *Event) {
		switch {
		case e.Point == Lost:
			m.n++
		case e.Point == Delivered && m.until == nil:
			m.until = map[string]int{e.Job.JID: m.n}
		case e.Point == Delivered:
			m.until[e.Job.JID] = m.n
		default:
			e.Skip = e.Skip || m.until[e.Job.JID] != m.n
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
