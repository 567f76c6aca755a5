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
		fault("state-end-before-hello", "STATE-01 AUTH-06", "END before HELLO is carried out", let(fwp.END, AboutState)),
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
		fault("end-stays-open", "STATE-16 END-02", "the connection stays open after END", when(Ran, fwp.END, func(e *Event) {
			e.Close = false
		})),
	}
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
		fault("waiting-job-lost", "PUSH-04", "a job that comes after a waiting consumer went away goes down with it", func(e *Event) {
			if e.Point == Gone || e.Point == GivenBack {
				e.Skip = true
			}
		}),
		fault("schedule-dropped", "STATE-11 WU-06", "a scheduled job is thrown away when it comes due", on(Due, func(e *Event) {
			e.Skip = e.Set == "scheduled"
		})),
	}
}
