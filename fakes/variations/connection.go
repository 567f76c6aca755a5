package variations

import (
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// connectionVariations are about connections.
var connectionVariations = []fakes.Variation{
	// About how many connections there may be, and when they are closed.
	setting("connections-limited", func(c *fakes.Config) { c.MaxConnections = 20 }),
	variation("connections-limited-after-hello", do(func(e *event) {
		e.Bytes = fakes.AppendReply(e.Bytes, fakes.ErrorReply("too many connections"))
		e.Close = true
	}, of(fakes.Writing, fwp.HELLO), right, beyond(20))),
	variation("connections-limited-mute", do(skip, at(fakes.Accepted), beyond(20))),
	variation("connections-limited-of-workers",
		do(decline(fakes.AboutLimit, "too many workers"), valid(fwp.HELLO), func(e *event) bool {
			return e.Object.Get("wid") != nil && e.Conn.Server().Worker("").Connections >= 8
		})),
	variation("connections-limited-silent",
		catalogue.KeepBy(conn, at(fakes.Greeting, fakes.Ran), func(unserved *bool, e *event) {
			if e.Point == fakes.Greeting {
				*unserved = e.Conn.Server().Connections() > 20
				e.Skip = *unserved
			} else if *unserved {
				e.Reply, e.Close = fwp.Reply{}, false
			}
		})),
	setting("consumer-silent-closed", func(c *fakes.Config) {
		add(c, withoutBeat()())
		add(c, away(100*time.Millisecond))
	}),
	variation("consumer-silent-forgotten",
		catalogue.KeepBy(wid, catalogue.All(valid(fwp.HELLO, fwp.BEAT), hasWid), silentForgotten)),
	variation("kill-forgets", do(func(e *event) { e.Skip = e.Reset }, at(fakes.Restarted))),
	variation("producer-closed-often", countedClosed(7)),
	variation("producer-counted-closed", countedClosed(40)),
	setting("restart-refuses", func(c *fakes.Config) { c.Farewell = 200 * time.Millisecond }),
	// About END.
	setting("end-late-without-ok", func(c *fakes.Config) {
		c.EndWithoutOK = true
		add(c, do(delay(900*time.Millisecond), ends))
	}),
	setting("end-without-ok", func(c *fakes.Config) { c.EndWithoutOK = true }),
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
