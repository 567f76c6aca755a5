package fakes

import (
	"sync/atomic"

	"github.com/fwpsuite/fwp/fwp"
)

// closeVariations end connections at moments that the client cannot foresee, or say little in INFO.
func closeVariations() []Variation {
	return []Variation{
		statefulVariation("producer-counted-closed", "End State",
			"the connection of a producer is closed instead of an answer to its 41st command", countedClosed(40)),
		statefulVariation("flush-closes-producers", "End State",
			"after a FLUSH, the connection of a producer that was open before is closed at its next command",
			flushCloses),
		variation("info-bytes", "AMB-04", "INFO is not text", infoIs("\x00\xff\xfe\r\n+OK\r\n\x80")),
		variation("info-other-types", "AMB-04",
			"the members of INFO have the usual names, and values of other types",
			infoIs(`{"server_utc_time":12,"faktory":{"queues":[{"name":"default","size":"0"}],"sets":{"retries":"0",`+
				`"dead":"none","scheduled":null,"working":[]},"tasks":{"Dead":{"size":"many"},"Busy":5},`+
				`"total_enqueued":"0"},"server":"x"}`)),
	}
}

func infoIs(text string) func(*Event) {
	return when(Ran, fwp.INFO, func(e *Event) {
		if e.Err == nil {
			e.Reply = bulk([]byte(text))
		}
	})
}

// countedClosed closes the connection of a producer instead of the commands behind the first ones.
func countedClosed(most int) func() func(*Event) {
	return func() func(*Event) {
		var counts notes[int64, int]
		return func(e *Event) {
			if e.Conn == nil || !e.Conn.isProducer() || e.Point != Checked && e.Point != Ran {
				return
			}
			n, _ := counts.take(e.Conn.ID)
			if e.Point == Checked {
				n++
			}
			counts.put(e.Conn.ID, n)
			switch {
			case n <= most:
			case e.Point == Checked:
				e.Skip = true
			default:
				e.Reply, e.Close = fwp.Reply{}, true
			}
		}
	}
}

func flushCloses() func(*Event) {
	var flushes atomic.Int64
	var since notes[int64, int64]
	return func(e *Event) {
		switch {
		case e.Point == Flushed:
			flushes.Add(1)
		case e.Point == Ran && e.Conn.isProducer():
			n, known := since.take(e.Conn.ID)
			if !known || e.Command.Verb == fwp.FLUSH {
				n = flushes.Load()
			}
			since.put(e.Conn.ID, n)
			if n < flushes.Load() {
				e.Reply, e.Close = fwp.Reply{}, true
			}
		}
	}
}
