package fakes

import (
	"sync/atomic"
	"time"
)

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
		statefulFault("restart-runs-schedule", "WU-06 STATE-11",
			"a restart enqueues all scheduled jobs", restartRuns),
		statefulFault("restart-forgets-failures", "RETRY-03 RETRY-05",
			"the failures of a job count anew after a restart", forgetsFailures),
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

// restartRuns enqueues the scheduled jobs when the first connection after a restart is greeted.
func restartRuns() func(*Event) {
	var restarted atomic.Bool
	return func(e *Event) {
		switch e.Point {
		case Restarted:
			restarted.Store(true)
		case Greeting:
			if !restarted.Swap(false) {
				return
			}
			jobs := e.Conn.server.store
			for _, s := range jobs.Jobs() {
				if !s.Due.IsZero() && s.Job.doc().Get("failure") == nil && jobs.Remove(s.Job.jid) {
					_ = jobs.Push(&Event{Conn: e.Conn}, s.Job.with("enqueued_at", stamp(time.Now())), time.Time{})
				}
			}
		}
	}
}

// forgetsFailures tries a job again that its first failure after a restart ends, if it had failed before the restart.
func forgetsFailures() func(*Event) {
	var restarts atomic.Int64
	var failed notes[string, int64]
	return func(e *Event) {
		switch e.Point {
		case Restarted:
			restarts.Add(1)
		case Failed:
			jid, now := e.Object.Text("jid"), restarts.Load()
			before, known := failed.take(jid)
			failed.put(jid, now)
			if n, _ := e.Object.Int("retry"); known && before < now && n > 0 && e.Set == "dead" {
				e.Set = "retries"
			}
		}
	}
}
