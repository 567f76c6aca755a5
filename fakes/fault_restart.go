package fakes

import "sync/atomic"

// restartFaults are about what a restart must keep.
func restartFaults() []Fault {
	return []Fault{
		fault("restart-forgets", "STATE-08",
			"an orderly restart loses everything",
			on(Restarted, func(e *Event) { e.Skip = !e.Reset })),
		statefulFault("restart-drops-schedule", "STATE-08",
			"a job that was scheduled or to be retried before a restart is discarded when it comes due",
			beforeRestart(Scheduled, Due, skip)),
		statefulFault("restart-drops-held", "STATE-08",
			"a job that was held before a restart is discarded when its reservation runs out",
			beforeRestart(Reserved, Expired, func(e *Event) { e.Set = "" })),
	}
}

// beforeRestart acts on jobs that came to enter before a restart, when they come to leave
// after it.
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
