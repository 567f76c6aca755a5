package fakes

import "sync/atomic"

// restartFaults are those of what a restart should leave as it is.
func restartFaults() []Fault {
	return []Fault{
		fault("restart-forgets", "STATE-08",
			"an orderly restart loses everything",
			on(Restarted, func(e *Event) {
				e.Skip = !e.Reset
			})),
		counting("restart-drops-schedule", "STATE-08",
			"what was scheduled or to be retried before a restart is thrown away when it comes due",
			beforeRestart(Scheduled, Due, skip)),
		counting("restart-drops-held", "STATE-08",
			"what was held before a restart is thrown away when its reservation runs out",
			beforeRestart(Reserved, Expired, func(e *Event) {
				e.Set = ""
			})),
	}
}

// beforeRestart acts on jobs that come to one point after a restart and have come to
// another before it.
func beforeRestart(enter, leave Point, act func(*Event)) func() func(*Event) {
	return func() func(*Event) {
		var restarts atomic.Int64
		var entered notes[string, int64]
		return func(e *Event) {
			switch e.Point {
			case Restarted:
				restarts.Add(1)
			case enter:
				entered.put(e.Object.Text("jid"), restarts.Load())
			case leave:
				if when, ok := entered.take(e.Object.Text("jid")); ok && when < restarts.Load() {
					act(e)
				}
			}
		}
	}
}
