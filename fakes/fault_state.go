package fakes

import (
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

func stateFaults() []Fault {
	return []Fault{
		fault("state-info-before-hello", "STATE-01", "INFO is served before HELLO on an open server", when(Judged, fwp.INFO, func(e *Event) {
			if e.about() == AboutState && e.Conn.Iterations == 0 {
				e.Err, e.Skip = nil, false
			}
		})),
		fault("state-info-refused", "STATE-03", "INFO is refused to consumers", when(Judged, fwp.INFO, func(e *Event) {
			if e.Err == nil && e.Conn.Worker != "" {
				e.Err, e.Skip = refuse(AboutState, "INFO is not for workers"), true
			}
		})),
		fault("state-error-forgets", "STATE-12", "a refused command leaves the connection un-identified", on(Ran, func(e *Event) {
			if e.Err != nil {
				e.Conn.Identified = false
			}
		})),
		fault("state-error-closes", "STATE-13 STATE-12", "a consumer's connection is closed after a refused command", on(Ran, func(e *Event) {
			if e.Err != nil && e.Conn.Worker != "" {
				e.Close = true
			}
		})),
		fault("state-fail-forgets", "STATE-10", "an accepted FAIL leaves the connection un-identified", when(Ran, fwp.FAIL, func(e *Event) {
			if e.Err == nil {
				e.Conn.Identified = false
			}
		})),
		fault("hello-again-forgets", "HELLO-08", "a second HELLO is answered with OK and leaves the connection un-identified", when(Ran, fwp.HELLO, func(e *Event) {
			if e.about() == AboutState {
				e.Err, e.Reply = nil, okay()
				e.Conn.Identified = false
			}
		})),
		counting("state-error-locks-out", "STATE-12", "a command that was refused before HELLO has the HELLO declined", lockOut),
		fault("end-stays-open", "STATE-16 END-02", "the connection stays open after END", when(Ran, fwp.END, func(e *Event) {
			e.Close = false
		})),
	}
}

func lockOut() func(*Event) {
	var tried notes[int64, bool]
	return on(Judged, func(e *Event) {
		if e.Command.Verb != fwp.HELLO {
			tried.put(e.Conn.ID, e.about() == AboutState)
		} else if refused, _ := tried.take(e.Conn.ID); refused && e.Err == nil {
			e.Err, e.Skip = refuse(AboutState, "HELLO comes too late"), true
		}
	})
}

func deliveryFaults() []Fault {
	again := func(e *Event) { e.Again = true }
	return []Fault{
		fault("push-delivered-late", "STATE-04 FETCH-14", "a job is enqueued a second after its PUSH was answered", when(Defaulted, fwp.PUSH, func(e *Event) {
			if e.Object.Text("at") == "" {
				e.Object.Set("at", stamp(time.Now().Add(time.Second)))
			}
		})),
		counting("delivered-twice", "STATE-05", "every 50th job is delivered to two consumers", every(50, Delivered, again)),
		counting("delivered-twice-rarely", "STATE-05", "every 500th job is delivered to two consumers", every(500, Delivered, again)),
		fault("reservation-lost", "STATE-07", "a job whose reservation ran out is thrown away", on(Expired, func(e *Event) { e.Set = "" })),
		fault("reservation-forgotten", "STATE-07", "a reservation never runs out", on(Expired, func(e *Event) { e.Skip = true })),
		fault("schedule-dropped", "STATE-11 WU-06", "a scheduled job is thrown away when it comes due", on(Due, func(e *Event) {
			e.Skip = e.Set == "scheduled"
		})),
	}
}
