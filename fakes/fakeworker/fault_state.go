package fakeworker

import (
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// stateFaults are about the states Quiet and Terminating. (Quiet State; Terminating State)
func stateFaults() []Fault {
	ordered := func(state string, act func(*Event)) func(*Event) {
		return on(Ordered, func(e *Event) {
			if e.State == state {
				act(e)
			}
		})
	}
	bySignal := func(act func(*Event)) func(*Event) {
		return on(Ordered, func(e *Event) {
			if e.Signal == "TERM" || e.Signal == "INT" {
				act(e)
			}
		})
	}
	goOn := func(state string) func(*Event) {
		return on(Fetching, func(e *Event) {
			if e.Worker.state() == state && e.Skip {
				e.Skip = false
			}
		})
	}
	return []Fault{
		fault("quiet-ignored", "STATE-17 BEAT-13 STATE-24", "It fetches on after the order to be quiet.",
			ordered("quiet", skip)),
		fault("quiet-fetches-seldom", "STATE-17 BEAT-13 STATE-24",
			"One of its executors fetches on when the worker is quiet.",
			on(Fetching, func(e *Event) {
				if e.Conn%2 == 1 && e.Worker.state() == "quiet" {
					e.Skip = false
				}
			})),
		fault("quiet-exits", "STATE-18 STATE-19 STATE-15", "It ends at the order to be quiet.",
			ordered("quiet", func(e *Event) { e.State = "terminate" })),
		statefulFault("quiet-exits-later", "STATE-18 STATE-19 STATE-15 BEAT-08",
			"It ends 20 s after it was told to be quiet.",
			func() func(*Event) {
				var since atomic.Int64
				return on(Beating, func(e *Event) {
					if e.Worker.state() == "quiet" && !since.CompareAndSwap(0, time.Now().UnixNano()) &&
						time.Since(time.Unix(0, since.Load())) > 20*time.Second {
						e.Worker.Exit(0)
					}
					e.Every = min(e.Every, 10*time.Second)
				})
			}),
		statefulFault("quiet-undone", "STATE-24 STATE-17 BEAT-13", "It fetches again when a later BEAT is answered with OK.",
			func() func(*Event) {
				var quieted, undone atomic.Bool
				return func(e *Event) {
					switch {
					case e.Point == Ordered && e.State == "quiet":
						quieted.Store(true)
					case e.Point == Replied && e.Verb == fwp.BEAT && quieted.Load() && stateIn(e.Reply) == "":
						undone.Store(true)
					case e.Point == Fetching && e.Worker.state() == "quiet":
						e.Skip = !undone.Load()
						if e.Skip {
							e.Delay = time.Second
						}
					}
				}
			}),
		statefulFault("quiet-forgotten-after-loss", "STATE-24 STATE-17 BEAT-13",
			"It fetches again when it was quiet and has lost its connections.",
			func() func(*Event) {
				var lost atomic.Bool
				return func(e *Event) {
					switch {
					case e.Point == Lost:
						lost.Store(true)
					case e.Point == Fetching && e.Skip && e.Worker.state() == "quiet":
						if e.Skip = !lost.Load(); e.Skip {
							e.Delay = time.Second
						}
					}
				}
			}),
		fault("quiet-signal-fetches", "STATE-17", "It fetches on at SIGTSTP, and its BEATs say that it is quiet.",
			both(
				ordered("quiet", func(e *Event) {
					e.Skip = e.Signal != ""
					e.Worker.deaf.Store(e.Skip)
				}),
				on(Beating, func(e *Event) {
					if e.Worker.deaf.Load() {
						e.Fields["current_state"] = "quiet"
					}
				}))),
		fault("quiet-forgets-jobs", "FETCH-09 END-04 STATE-21", "It does not report jobs that end when it is quiet.",
			on(Ran, func(e *Event) { e.Skip = e.Worker.state() == "quiet" })),
		fault("terminate-fetches", "STATE-20 BEAT-13 STATE-22 STATE-24", "It fetches on while it terminates.",
			goOn("terminate")),
		fault("terminate-ignored", "STATE-22 STATE-20 BEAT-13 STATE-21", "It ignores the order to terminate.",
			ordered("terminate", skip)),
		fault("terminate-as-quiet", "STATE-22 BEAT-13 STATE-21", "It takes the order to terminate for that to be quiet.",
			ordered("terminate", func(e *Event) { e.State = "quiet" })),
		setting("terminate-late", "STATE-22 STATE-21", "It gives jobs 45 s when it terminates.",
			func(c *Config) { c.Grace = 45 * time.Second }),
		fault("terminate-without-fail", "STATE-21 FETCH-09 STATE-15",
			"It ends after 25 s without a FAIL for what still runs.",
			on(Quitting, skip)),
		fault("terminate-at-once", "STATE-21 FETCH-09 STATE-15", "It ends at once at the order to terminate.",
			ordered("terminate", func(e *Event) { e.Worker.Exit(0) })),
		fault("terminate-acks", "WRK-07 STATE-21 ACK-05", "It acknowledges what still runs when the time to terminate is up.",
			on(Ran, func(e *Event) {
				if e.Outcome == Abandoned {
					e.Verb, e.Fields = fwp.ACK, Fields{"jid": e.Job.JID}
				}
			})),
		fault("signal-ends-at-once", "FETCH-09 STATE-15", "It ends at once at SIGTERM and SIGINT, whatever runs.",
			bySignal(func(e *Event) { e.Worker.Exit(1) })),
	}
}

// endFaults are about the end of connections. (End State; END)
func endFaults() []Fault {
	return []Fault{
		fault("end-missing", "STATE-15", "It closes its connections without END.", on(Ending, skip)),
		fault("end-while-working", "END-04 FETCH-09 FRAME-07 END-03 STATE-21 STATE-15",
			"It sends END while its jobs run, when it terminates.",
			on(Ordered, func(e *Event) {
				if e.State == "terminate" {
					e.Worker.endAll()
				}
			})),
		fault("command-after-end", "END-03 BEAT-07 FRAME-07", "It sends one more BEAT behind its END.",
			sent(fwp.END, func(e *Event) {
				e.Line = append(e.Line, "BEAT {\"wid\":\""+e.Worker.cfg.WID+"\"}\r\n"...)
			})),
	}
}
