package fakes

import (
	"slices"

	"github.com/fwpsuite/fwp/fwp"
)

// limitVariations are ways to refuse a connection beyond a limit that are less plain than an
// error in the place of the greeting, and a limit of the queues of a FETCH.
func limitVariations() []Variation {
	return []Variation{
		variation("connections-limited-after-hello", "AMB-14",
			"the 21st connection gets an error behind the OK to its HELLO and is closed",
			when(Writing, fwp.HELLO, func(e *Event) {
				if e.Err == nil && e.Conn.server.Connections() > 20 {
					e.Bytes = appendReply(e.Bytes, refused("too many connections"))
					e.Close = true
				}
			})).Leaving("explore/crowd"), // beside another check it may not get the connections that empty its queues
		statefulVariation("connections-limited-silent", "AMB-14",
			"the 21st connection is neither greeted nor answered",
			unserved),
		variation("connections-limited-of-workers", "AMB-14",
			"the HELLO of a worker is declined while eight connections are of workers",
			when(Checked, fwp.HELLO, func(e *Event) {
				if e.Err == nil && e.Object.Get("wid") != nil && e.Conn.server.workers.connections() >= 8 {
					e.decline(AboutLimit, "too many workers")
				}
			})).Leaving("fetch/many-wait-side-by-side", "info/while-queues-appear", "jobs/delivered-once",
			"push/a-thousand-jobs", "push/ten-thousand-jobs", "resp/own-replies"),
		variation("queues-named-once", "FETCH Command",
			"a FETCH that names a queue twice is refused",
			when(Checked, fwp.FETCH, func(e *Event) {
				if names := slices.Sorted(slices.Values(e.Queues)); len(slices.Compact(names)) < len(e.Queues) {
					e.decline(AboutArguments, "a queue is named twice")
				}
			})),
		variation("queues-limited", "AMB-14",
			"a FETCH of more than 16 queues is refused",
			when(Checked, fwp.FETCH, func(e *Event) {
				if len(e.Queues) > 16 {
					e.decline(AboutLimit, "too many queues")
				}
			})),
	}
}

// unserved sends nothing on connections beyond the limit.
func unserved() func(*Event) {
	var beyond notes[int64, bool]
	return func(e *Event) {
		switch e.Point {
		case Greeting:
			if e.Skip = e.Conn.server.Connections() > 20; e.Skip {
				beyond.put(e.Conn.ID, true)
			}
		case Ran:
			if is, _ := beyond.take(e.Conn.ID); is {
				beyond.put(e.Conn.ID, true)
				e.Reply, e.Close = fwp.Reply{}, false
			}
		}
	}
}
