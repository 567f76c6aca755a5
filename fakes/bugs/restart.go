package bugs

import (
	"strings"

	"github.com/fwpsuite/fwp/fakes"
)

// restartBugs are about what a restart must keep.
var restartBugs = []fakes.Bug{
	bug("restart-ascii", beforeRestart(fakes.Enqueued, fakes.Delivered, func(e *event) {
		reshape(e.Object, "args", texts(func(s string) string { return strings.Map(ascii, s) }))
	})),
	bug("restart-doubles", beforeRestart(fakes.Enqueued, fakes.Delivered, again)),
	bug("restart-forgets", do(skip, at(fakes.Restarted), func(e *event) bool { return !e.Reset })),
	bug("restart-forgets-failures", forgetsFailures()),
	bug("restart-returns-done", returnsDone()),
}

// beforeRestart acts on jobs that came to a point before a restart, when they come to another one after it.
func beforeRestart(enter, leave fakes.Point, act func(*event)) func() func(*event) {
	type restarts struct {
		count   int
		entered memory[string, int]
	}
	return keepAll(at(fakes.Restarted, enter, leave), func(r *restarts, e *event) {
		switch e.Point {
		case fakes.Restarted:
			r.count++
		case enter:
			*r.entered.Of(jid(e)) = r.count
		case leave:
			if count, known := r.entered.Take(jid(e)); known && count < r.count {
				act(e)
			}
		}
	})
}

// forgetsFailures tries a job again that its first failure after a restart ends, if it had failed before the restart.
func forgetsFailures() func() func(*event) {
	type failures struct {
		restarts int
		failed   memory[string, int]
	}
	return keepAll(at(fakes.Restarted, fakes.Failed), func(f *failures, e *event) {
		if e.Point == fakes.Restarted {
			f.restarts++
			return
		}
		before, known := f.failed.Take(jid(e))
		*f.failed.Of(jid(e)) = f.restarts
		if n, _ := e.Object.Int("retry"); known && before < f.restarts && n > 0 && e.Set == "dead" {
			retry(e)
		}
	})
}

// returnsDone enqueues the jobs that were acknowledged before a restart.
func returnsDone() func() func(*event) {
	type jobs struct{ done, back [][]byte }
	return keepAll(at(fakes.Acked, fakes.Restarted, fakes.Greeting), func(j *jobs, e *event) {
		switch e.Point {
		case fakes.Acked:
			j.done = append(j.done, e.Object.Append(nil))
		case fakes.Restarted:
			j.back, j.done = j.done, nil
		default:
			for _, unit := range j.back {
				e.Then(func() { _ = e.Conn.Server().Push(unit) }) // lost beyond a limit
			}
			j.back = nil
		}
	})
}
