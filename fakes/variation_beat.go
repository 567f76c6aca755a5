package fakes

import (
	"strings"

	"github.com/fwpsuite/fwp/fwp"
)

func beatVariations() []Variation {
	return []Variation{
		setting("beat-state-simple", "AMB-02",
			"a change of state is sent as a simple string",
			func(c *Config) { c.StateAsSimple = true }),
		statefulVariation("beat-state-once", "AMB-30",
			"only the first BEAT is answered with a change of state",
			notifyOnce).AdvisedAgainst("FWP-BEAT-03"),
		statefulVariation("beat-state-until-known", "AMB-31",
			"every BEAT is answered with a change of state until the worker reports that state",
			untilKnown),
		variation("beat-state-echoed", "AMB-31",
			"a BEAT with a current_state is answered with that state",
			when(Ran, fwp.BEAT, func(e *Event) {
				if state := e.Object.Get("current_state"); e.Err == nil && e.State == "" && state != nil {
					e.Reply = bulk([]byte(`{"state":` + string(state) + `}`))
				}
			})),
		variation("beat-says-nothing-of-itself", "BEAT Command",
			"the current_state of a BEAT has no effect",
			when(Checked, fwp.BEAT, func(e *Event) {
				if e.Err == nil {
					e.Object.Delete("current_state")
				}
			})),
	}
}

// untilKnown answers with OK as soon as the worker has reported the state.
func untilKnown() func(*Event) {
	var known notes[string, string]
	return on(Notified, func(e *Event) {
		wid := e.Object.Text("wid")
		state, _ := known.take(wid)
		if now := e.Object.Text("current_state"); now != "" {
			state = now
		}
		known.put(wid, state)
		e.Skip = state == e.State
	})
}

func quietVariations() []Variation {
	quiet := func(act func(*Event)) func(*Event) {
		return when(Checked, fwp.FETCH, func(e *Event) {
			if e.Err == nil && e.Conn.server.workers.isQuiet(e.Conn.Worker) {
				act(e)
			}
		})
	}
	return []Variation{
		variation("quiet-fetches", "AMB-32",
			"a quiet worker gets jobs",
			quiet(func(e *Event) {
				e.Queues = queuesOf(e.Command)
				e.Block = e.Queues[:1]
			})),
		variation("quiet-refused", "AMB-32",
			"a FETCH of a quiet worker is refused",
			quiet(func(e *Event) { e.decline(AboutState, "the worker should be quiet") })),
	}
}

// queuesOf returns the queues of a well-formed FETCH.
func queuesOf(c fwp.Command) []string {
	if c.Args == nil {
		return []string{defaultQueue}
	}
	return strings.Split(string(c.Args), " ")
}
