package fakes

import (
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

func stateFaults() []Fault {
	return []Fault{
		fault("state-info-before-hello", "STATE-01",
			"INFO is served before HELLO on an open server",
			when(Checked, fwp.INFO, func(e *Event) {
				if e.about() == AboutState && e.Conn.Iterations == 0 {
					e.accept()
				}
			})),
		fault("state-beat-before-hello", "STATE-01 AUTH-06",
			"a BEAT before HELLO is accepted if another connection had its wid", allow(fwp.BEAT, AboutState)),
		fault("state-fail-ok-before-hello", "STATE-01 AUTH-06",
			"a FAIL before HELLO is answered with OK", pretend(fwp.FAIL, AboutState)),
		fault("state-before-hello-closes", "STATE-01",
			"a command before HELLO ends the connection without an error",
			on(Ran, func(e *Event) {
				if e.about() == AboutState && !e.Conn.Identified && e.Command.Verb != fwp.HELLO {
					e.Err, e.Reply, e.Close = nil, fwp.Reply{}, true
				}
			})),
		fault("state-info-refused", "STATE-03",
			"INFO is refused to consumers",
			when(Checked, fwp.INFO, func(e *Event) {
				if e.Conn.Worker != "" {
					e.decline(AboutState, "INFO is not for workers")
				}
			})),
		fault("hello-again-forgets", "HELLO-08",
			"a second HELLO is answered with OK and leaves the connection un-identified",
			when(Ran, fwp.HELLO, func(e *Event) {
				if e.about() == AboutState && e.Object != nil {
					e.Err, e.Reply = nil, okay()
					e.Conn.Identified = false
				}
			})),
		statefulFault("state-error-locks-out", "STATE-12",
			"after a command that was refused before HELLO the HELLO is declined",
			lockOut),
	}
}

// stayFaults are about connections that lose their state, or end at the wrong time.
func stayFaults() []Fault {
	return []Fault{
		fault("state-error-forgets", "STATE-12",
			"a refused command leaves the connection un-identified",
			on(Ran, func(e *Event) {
				if e.Err != nil {
					e.Conn.Identified = false
				}
			})),
		fault("state-error-closes", "STATE-13 STATE-12",
			"a consumer's connection is closed after a refused command",
			on(Ran, func(e *Event) {
				if e.Err != nil && e.Conn.Worker != "" {
					e.Close = true
				}
			})),
		fault("state-fail-forgets", "STATE-10 STATE-12 FAIL-01 FETCH-03",
			"an accepted FAIL leaves the connection un-identified",
			when(Ran, fwp.FAIL, func(e *Event) {
				if e.Err == nil {
					e.Conn.Identified = false
				}
			})),
		statefulFault("consumer-idle-closed", "STATE-13 BEAT-01",
			"the connection of a consumer is closed after four accepted BEATs without another command",
			fourBeats),
		fault("link-commands-counted", "LINK-03 INFO-01",
			"INFO is refused from the 151st command of a connection on",
			when(Checked, fwp.INFO, func(e *Event) {
				if e.Conn.Commands > 150 {
					e.decline(AboutLimit, "too many commands")
				}
			})),
		fault("end-stays-open", "STATE-16 END-02",
			"the connection stays open after END",
			when(Ran, fwp.END, func(e *Event) { e.Close = false })),
	}
}

// fourBeats closes a connection after four accepted BEATs in a row.
func fourBeats() func(*Event) {
	var beats notes[int64, int]
	return on(Ran, func(e *Event) {
		n, _ := beats.take(e.Conn.ID)
		if e.Command.Verb == fwp.BEAT && e.Err == nil {
			beats.put(e.Conn.ID, n+1)
			e.Close = n+1 == 4
		}
	})
}

func lockOut() func(*Event) {
	var tried notes[int64, bool]
	return on(Checked, func(e *Event) {
		if e.Command.Verb != fwp.HELLO {
			tried.put(e.Conn.ID, e.about() == AboutState)
		} else if refused, _ := tried.take(e.Conn.ID); refused {
			e.decline(AboutState, "HELLO comes too late")
		}
	})
}

func deliveryFaults() []Fault {
	again := func(e *Event) { e.Again = true }
	return []Fault{
		fault("push-delivered-late", "STATE-04 FETCH-14 FETCH-04",
			"a job is enqueued a second after its PUSH was answered",
			when(Defaulted, fwp.PUSH, func(e *Event) {
				if e.Object.Text("at") == "" {
					e.Object.Set("at", stamp(time.Now().Add(time.Second)))
				}
			})),
		statefulFault("delivered-twice", "STATE-05",
			"every 50th job is delivered to two consumers",
			every(50, Delivered, again)),
		statefulFault("delivered-twice-rarely", "STATE-05",
			"every 500th job is delivered to two consumers",
			every(500, Delivered, again)),
		fault("reservation-lost", "STATE-07",
			"a job whose reservation ran out is discarded",
			on(Expired, func(e *Event) { e.Set = "" })),
		fault("reservation-forgotten", "STATE-07", "a reservation never runs out", on(Expired, skip)),
		fault("schedule-dropped", "STATE-11 WU-06 FLUSH-03",
			"a scheduled job is discarded when it comes due",
			on(Due, func(e *Event) { e.Skip = e.Set == "scheduled" })),
	}
}
