package fakes

import (
	"github.com/fwpsuite/fwp/fwp"
)

// forgetVariations are about what a server keeps of connections and workers, and for how long.
func forgetVariations() []Variation {
	return []Variation{
		statefulVariation("hello-refused-closes-later", "AMB-11",
			"after an error before HELLO the connection is closed when the next line comes, which is not answered",
			closesLater),
		variation("quiet-until-gone", "Quiet State",
			"a worker whose last connection has ended is neither quiet nor terminating any more",
			when(Checked, fwp.HELLO, func(e *Event) {
				if e.Err == nil {
					e.Conn.server.workers.revive(e.Object.Text("wid"))
				}
			})),
	}
}

// closesLater closes a connection whose command was refused before HELLO at its next line.
func closesLater() func(*Event) {
	var refused notes[int64, bool]
	return on(Ran, func(e *Event) {
		again, _ := refused.take(e.Conn.ID)
		switch {
		case e.Conn.Identified && !again:
		case again:
			e.Reply, e.Close = fwp.Reply{}, true
		case e.Err != nil:
			refused.put(e.Conn.ID, true)
		}
	})
}
