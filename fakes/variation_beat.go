package fakes

import (
	"strings"

	"github.com/fwpsuite/fwp/fwp"
)

func beatVariations() []Variation {
	return []Variation{
		setting("beat-state-simple", "AMB-02",
			"a BEAT is told of a change of state in a simple string",
			func(c *Config) { c.StateAsSimple = true }),
		varying("beat-state-once", "AMB-30",
			"only the first BEAT is told of a change of state",
			tellOnce).advisedAgainst("FWP-BEAT-03"),
		varying("beat-state-until-known", "AMB-31",
			"a BEAT is told of a change of state until the worker says that it knows",
			untilKnown),
		variation("beat-state-echoed", "AMB-31",
			"a BEAT with a current_state is told that state",
			when(Ran, fwp.BEAT, func(e *Event) {
				if says := e.Object.Get("current_state"); e.Err == nil && e.State == "" && says != nil {
					e.Reply = bulk([]byte(`{"state":` + string(says) + `}`))
				}
			})),
		variation("beat-says-nothing-of-itself", "BEAT Command",
			"what a BEAT says of the worker has no effect",
			when(Judged, fwp.BEAT, func(e *Event) {
				if e.Err == nil {
					e.Object.Delete("current_state")
				}
			})),
	}
}

// untilKnown answers with OK as soon as the worker has said the state itself.
func untilKnown() func(*Event) {
	var known notes[string, string]
	return on(Told, func(e *Event) {
		wid := e.Object.Text("wid")
		says, _ := known.take(wid)
		if now := e.Object.Text("current_state"); now != "" {
			says = now
		}
		known.put(wid, says)
		e.Skip = says == e.State
	})
}

func quietVariations() []Variation {
	quiet := func(act func(*Event)) func(*Event) {
		return when(Judged, fwp.FETCH, func(e *Event) {
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
			quiet(func(e *Event) {
				e.decline(AboutState, "the worker should be quiet")
			})),
	}
}

// queuesOf are the queues that a well-formed FETCH names.
func queuesOf(c fwp.Command) []string {
	if c.Args == nil {
		return []string{defaultQueue}
	}
	return strings.Split(string(c.Args), " ")
}
