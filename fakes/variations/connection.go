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
	}, atPoint(fakes.Writing, fwp.HELLO), hasNoError, exceedsConns(20))),
	variation("connections-limited-mute", do(skip, at(fakes.Accepted), exceedsConns(20))),
	variation("connections-limited-of-workers",
		do(decline(fakes.AboutLimit, "too many workers"), isValid(fwp.HELLO), func(e *event) bool {
			return e.Object.Get("wid") != nil && e.Conn.Server().Worker("").Connections >= 8
		})),
	variation("connections-limited-silent",
		catalogue.WithMemoryBy(conn, at(fakes.Greeting, fakes.Ran), func(unserved *bool, e *event) {
			if e.Point == fakes.Greeting {
				*unserved = e.Conn.Server().Connections() > 20
				e.Skip = *unserved
			} else if *unserved {
				e.Reply, e.Close = fwp.Reply{}, false
			}
		})),
	setting("consumer-silent-closed", func(c *fakes.Config) {
		add(c, closeWithoutBeat()())
		add(c, delayWrites(100*time.Millisecond))
	}),
	variation("consumer-silent-forgotten",
		catalogue.WithMemoryBy(wid, catalogue.All(isValid(fwp.HELLO, fwp.BEAT), hasWid), forgetSilent)),
	variation("kill-forgets", do(func(e *event) { e.Skip = e.ResetsConn }, at(fakes.Restarted))),
	variation("producer-closed-often", closeAfter(7)),
	variation("producer-counted-closed", closeAfter(40)),
	setting("restart-refuses", func(c *fakes.Config) { c.RefusalTime = 200 * time.Millisecond }),
	// About END.
	setting("end-late-without-ok", func(c *fakes.Config) {
		c.EndWithoutOK = true
		add(c, do(delay(900*time.Millisecond), isEnd))
	}),
	setting("end-without-ok", func(c *fakes.Config) { c.EndWithoutOK = true }),
}

// isEnd holds before the connection is closed after an END.
func isEnd(e *event) bool {
	return e.Point == fakes.Writing && e.Command.Verb == fwp.END && e.Err == nil && e.Close
}

func hasWid(e *event) bool { return wid(e) != "" }

// closeWithoutBeat closes the connections of workers that have not sent a BEAT in time.
func closeWithoutBeat() func() func(*event) {
	worker := func(e *event) string { return e.Conn.Worker }
	match := catalogue.All(at(fakes.Ran), isWorker)
	return catalogue.WithMemoryBy(worker, match, func(lastBeat *time.Time, e *event) {
		switch {
		case lastBeat.IsZero() || e.Command.Verb == fwp.HELLO || e.Command.Verb == fwp.BEAT:
			*lastBeat = time.Now()
		case time.Since(*lastBeat) > time.Minute:
			hangUp(e)
		}
	})
}

// forgetSilent refuses a BEAT that comes too long after the last one of its worker.
func forgetSilent(lastBeat *time.Time, e *event) {
	if e.Command.Verb == fwp.BEAT && !lastBeat.IsZero() && time.Since(*lastBeat) > time.Minute {
		e.Decline(fakes.AboutWorker, "the worker is gone")
		*lastBeat = time.Time{}
		return
	}
	*lastBeat = time.Now()
}

// closeAfter closes the connection of a producer instead of the commands behind the first ones.
func closeAfter(limit int) func() func(*event) {
	match := catalogue.All(at(fakes.Checked, fakes.Ran), isProducer)
	return catalogue.WithMemoryBy(conn, match, func(n *int, e *event) {
		if e.Point == fakes.Checked {
			*n++
			e.Skip = e.Skip || *n > limit
		} else if *n > limit {
			hangUp(e)
		}
	})
}
