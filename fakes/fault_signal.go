package fakes

import (
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// stateChangeFaults are about which BEATs are answered with a change of state, and what follows one.
func stateChangeFaults() []Fault {
	return []Fault{
		statefulFault("beat-state-again-unasked", "RESP-05",
			"a second after the reply to a BEAT with a change of state, quiet is sent without a BEAT", stateAgain),
		statefulFault("beat-late-connection-untold", "BEAT-03",
			"the BEATs on a connection that was made after the signal are not answered with the change of state", lateUntold),
		fault("beat-reported-untold", "BEAT-03",
			"a BEAT with current_state is not answered with a change of state",
			on(Notified, func(e *Event) { e.Skip = e.Object.Get("current_state") != nil })),
		fault("beat-quiet-refused", "BEAT-03 BEAT-01",
			"the BEATs of a worker that knows that it is quiet are refused",
			when(Checked, fwp.BEAT, func(e *Event) {
				if e.Err == nil && e.Conn.server.workers.isQuiet(e.Conn.Worker) {
					e.decline(AboutWorker, "the worker is quiet")
				}
			})),
	}
}

func stateAgain() func(*Event) {
	var told notes[int64, bool]
	return func(e *Event) {
		switch {
		case e.Point == Notified && e.State != "":
			told.put(e.Conn.ID, true)
		case e.Point == Writing && e.Command.Verb == fwp.BEAT:
			if is, _ := told.take(e.Conn.ID); is {
				e.Later = &Later{After: time.Second, Bytes: []byte("+{\"state\":\"quiet\"}\r\n")}
			}
		}
	}
}

func lateUntold() func(*Event) {
	var late notes[int64, bool]
	return func(e *Event) {
		switch {
		case arriving(e):
			ws := &e.Conn.server.workers
			ws.mu.Lock()
			defer ws.mu.Unlock()
			if w := ws.byWID[e.Conn.Worker]; w != nil && w.signal != running {
				late.put(e.Conn.ID, true)
			}
		case e.Point == Notified && e.State != "":
			if is, _ := late.take(e.Conn.ID); is {
				late.put(e.Conn.ID, true)
				e.Skip = true
			}
		}
	}
}
