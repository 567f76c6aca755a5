package variations

import (
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// connectionVariations are about connections.
var connectionVariations = []fakes.Variation{
	// About how many connections there may be, and when they are closed.
	setting("connections-limited", "AMB-14", "the 21st connection is answered with an error and closed",
		func(c *fakes.Config) { c.MaxConnections = 20 }),
	variation("connections-limited-after-hello", "AMB-14",
		"the 21st connection gets an error behind the OK to its HELLO and is closed", do(func(e *event) {
			e.Bytes = fakes.AppendReply(e.Bytes, fakes.ErrorReply("too many connections"))
			e.Close = true
		}, of(fakes.Writing, fwp.HELLO), right, beyond(20))).Leaving("explore/crowd"),
	variation("connections-limited-mute", "AMB-14", "the 21st connection is closed without a greeting",
		do(skip, at(fakes.Accepted), beyond(20))),
	variation("connections-limited-of-workers", "AMB-14",
		"the HELLO of a worker is declined while eight connections are of workers",
		do(decline(fakes.AboutLimit, "too many workers"), valid(fwp.HELLO), func(e *event) bool {
			return e.Object.Get("wid") != nil && e.Conn.Server().Worker("").Connections >= 8
		})).Leaving("fetch/many-wait-side-by-side", "info/while-queues-appear", "jobs/delivered-once",
		"push/a-thousand-jobs", "push/ten-thousand-jobs", "resp/own-replies"),
	variation("connections-limited-silent", "AMB-14", "the 21st connection is neither greeted nor answered",
		catalogue.KeepBy(conn, at(fakes.Greeting, fakes.Ran), func(unserved *bool, e *event) {
			if e.Point == fakes.Greeting {
				*unserved = e.Conn.Server().Connections() > 20
				e.Skip = *unserved
			} else if *unserved {
				e.Reply, e.Close = fwp.Reply{}, false
			}
		})),
	setting("consumer-silent-closed", "AMB-23",
		"the connection of a worker that has not sent a BEAT for 60 s is closed at its next command, "+
			"by a server that is 100 ms away",
		func(c *fakes.Config) {
			add(c, withoutBeat()())
			add(c, away(100*time.Millisecond))
		}),
	variation("consumer-silent-forgotten", "AMB-23",
		"a BEAT that comes more than 60 s after the last one of its worker is refused",
		catalogue.KeepBy(wid, catalogue.All(valid(fwp.HELLO, fwp.BEAT), hasWid), silentForgotten)),
	variation("kill-forgets", "FWP-STATE-08", "a server that was killed has lost everything",
		do(func(e *event) { e.Skip = e.Reset }, at(fakes.Restarted))),
	variation("producer-closed-often", "End State",
		"the connection of a producer is closed instead of an answer to its eighth command",
		countedClosed(7)).Leaving("jobs/enqueued-at-once-each", "push/a-thousand-jobs", "push/ten-thousand-jobs",
		"retry/own-number"),
	variation("producer-counted-closed", "End State",
		"the connection of a producer is closed instead of an answer to its 41st command", countedClosed(40)),
	variation("producer-idle-closed", "AMB-37", "the connection of a producer that is idle for 1 s is closed",
		do(closesAfter(time.Second), at(fakes.Writing), ofProducer)),
	variation("producer-refused-closed", "End State",
		"the connection of a producer is closed after a command that was refused",
		do(closes, at(fakes.Ran), wrong, ofProducer)),
	variation("told-closes", "End State",
		"the connection of a worker is closed after a BEAT was answered with a change of state",
		do(closes, done(fwp.BEAT), func(e *event) bool { return e.State != "" })).Leaving("beat/nothing-unasked"),
	// About END.
	variation("end-late", "AMB-01", "the connection is closed 0.9 s after the OK to END",
		do(closesAfter(900*time.Millisecond), ends)),
	setting("end-late-without-ok", "AMB-01", "the connection is closed 0.9 s after END, without an OK",
		func(c *fakes.Config) {
			c.EndWithoutOK = true
			add(c, do(delay(900*time.Millisecond), ends))
		}),
	variation("end-reset", "AMB-01", "the connection is reset after the OK to END",
		do(func(e *event) { e.Reset = true }, ends)),
	setting("end-without-ok", "AMB-01", "END is answered with a close, without OK",
		func(c *fakes.Config) { c.EndWithoutOK = true }),
}

// ends holds before the connection is closed after an END.
func ends(e *event) bool {
	return e.Point == fakes.Writing && e.Command.Verb == fwp.END && e.Err == nil && e.Close
}

func hasWid(e *event) bool { return wid(e) != "" }

// withoutBeat closes the connections of workers that have not sent a BEAT in time.
func withoutBeat() func() func(*event) {
	worker := func(e *event) string { return e.Conn.Worker }
	is := catalogue.All(at(fakes.Ran), ofWorker)
	return catalogue.KeepBy(worker, is, func(alive *time.Time, e *event) {
		switch {
		case alive.IsZero() || e.Command.Verb == fwp.HELLO || e.Command.Verb == fwp.BEAT:
			*alive = time.Now()
		case time.Since(*alive) > time.Minute:
			hangUp(e)
		}
	})
}

// silentForgotten refuses a BEAT that comes too long after the last one of its worker.
func silentForgotten(alive *time.Time, e *event) {
	if e.Command.Verb == fwp.BEAT && !alive.IsZero() && time.Since(*alive) > time.Minute {
		e.Decline(fakes.AboutWorker, "the worker is gone")
		*alive = time.Time{}
		return
	}
	*alive = time.Now()
}

// countedClosed closes the connection of a producer instead of the commands behind the first ones.
func countedClosed(most int) func() func(*event) {
	is := catalogue.All(at(fakes.Checked, fakes.Ran), ofProducer)
	return catalogue.KeepBy(conn, is, func(n *int, e *event) {
		if e.Point == fakes.Checked {
			*n++
			e.Skip = e.Skip || *n > most
		} else if *n > most {
			hangUp(e)
		}
	})
}
