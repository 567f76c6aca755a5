package bugs

import (
	"strings"

	"github.com/fwpsuite/fwp/fakes"
)

// restartBugs are about what a restart must keep.
var restartBugs = []fakes.Bug{
	bug("restart-ascii", actAfterRestart(fakes.Enqueued, fakes.Delivered, func(e *event) {
		reshape(e.Object, "args", mapTexts(func(s string) string { return strings.Map(ascii, s) }))
	})),
	bug("restart-doubles", actAfterRestart(fakes.Enqueued, fakes.Delivered, requeue)),
	bug("restart-forgets", do(skipStep, at(fakes.Restarted), func(e *event) bool { return !e.ResetsConn })),
	bug("restart-forgets-failures", forgetFailures()),
	bug("restart-returns-done", returnDoneJobs()),
}

// actAfterRestart acts on jobs that came to a point before a restart, when they come to another one after it.
func actAfterRestart(enter, leave fakes.Point, act func(*event)) func() func(*event) {
	type restarts struct {
		count       int
		startCounts memory[string, int]
	}
	return withMemory(at(fakes.Restarted, enter, leave), func(r *restarts, e *event) {
		switch e.Point {
		case fakes.Restarted:
			r.count++
		case enter:
			*r.startCounts.GetOrAdd(jid(e)) = r.count
		case leave:
			if count, ok := r.startCounts.Take(jid(e)); ok && count < r.count {
				act(e)
			}
		}
	})
}

// forgetFailures tries a job again that its first failure after a restart ends, if it had failed before the restart.
func forgetFailures() func() func(*event) {
	type failures struct {
		restarts          int
		restartsAtFailure memory[string, int]
	}
	return withMemory(at(fakes.Restarted, fakes.Failed), func(f *failures, e *event) {
		if e.Point == fakes.Restarted {
			f.restarts++
			return
		}
		before, ok := f.restartsAtFailure.Take(jid(e))
		*f.restartsAtFailure.GetOrAdd(jid(e)) = f.restarts
		if n, _ := e.Object.Int("retry"); ok && before < f.restarts && n > 0 && e.Set == "dead" {
			retry(e)
		}
	})
}

// returnDoneJobs enqueues the jobs that were acknowledged before a restart.
func returnDoneJobs() func() func(*event) {
	type jobs struct{ done, returnedJobs [][]byte }
	return withMemory(at(fakes.Acked, fakes.Restarted, fakes.Greeting), func(j *jobs, e *event) {
		switch e.Point {
		case fakes.Acked:
			j.done = append(j.done, e.Object.Append(nil))
		case fakes.Restarted:
			j.returnedJobs, j.done = j.done, nil
		default:
			for _, unit := range j.returnedJobs {
				e.AfterHook(func() { _ = e.Conn.Server().Push(unit) }) // lost beyond a limit
			}
			j.returnedJobs = nil
		}
	})
}
