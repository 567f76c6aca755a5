package worker

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/internal/base/jobtype"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// jobBugs are about what is fetched.
var jobBugs = []Bug{
	// About FETCH. (FETCH)
	lineBug("fetch-ends-in-space", fwp.FETCH, replace("\r\n", " \r\n")),
	bug("fetch-error-ends", exitAt(fwp.FETCH, fwp.ErrorReply)),
	bug("fetch-first-queue-only", on(Fetching, func(e *Event) { e.Queues = e.Queues[:1] })),
	bug("fetch-in-batches", inBatches),
	// About what a delivered job holds, and when it is delivered. (Required fields; FETCH)
	argsBug("args-first-only",
		func(args []json.RawMessage) []json.RawMessage { return args[:min(1, len(args))] }),
	bug("job-again-dropped", catalogue.Again(jidOf, at(Delivered), skip)),
	bug("job-late-dropped", on(Delivered, func(e *Event) { e.Skip = e.Worker.state() == "quiet" })),
	bug("job-late-dropped-at-end", on(Delivered, func(e *Event) { e.Skip = e.Worker.state() == "terminate" })),
	bug("job-long-dropped", on(Delivered, func(e *Event) { e.Skip = len(e.Job.Text) > 64<<10 })),
	bug("job-runs-twice", on(Delivered, again)),
	bug("unknown-type-dropped", on(Delivered, catalogue.On(isUnknown, skip))),
	bug("unknown-type-ends", on(Delivered, catalogue.On(isUnknown, catalogue.Both(exit(1), skip)))),
}

// inBatches has a worker that runs as many jobs as it may wait for the end of all of them.
func inBatches() func(*Event) {
	return catalogue.Keep(catalogue.Any(at(Delivered), fetches), func(full *bool, e *Event) {
		switch running := e.Worker.Running(); {
		case e.Point == Delivered:
			*full = *full || running+1 >= e.Worker.cfg.Concurrency
		case running == 0:
			*full = false
		case *full:
			rest(100 * time.Millisecond)(e)
		}
	})()
}

// jidOf returns the jid of the job of a step.
func jidOf(e *Event) string { return e.Job.JID }

// isUnknown is the condition of a job whose type the worker does not know.
func isUnknown(e *Event) bool {
	return !strings.HasPrefix(e.Job.Type, "fwp.") || e.Job.Type == "fwp.unknown"
}

// argsBug returns a bug of the arguments that a job of type fwp.echo is handed. The others would fail, which is
// another bug.
func argsBug(name string, change func([]json.RawMessage) []json.RawMessage) Bug {
	return bug(name, on(Delivered, func(e *Event) {
		if e.Job.Type == jobtype.Echo {
			e.Job.Args = change(e.Job.Args)
		}
	}))
}

// executorBugs are about executors that a job breaks, and about jobs that push others.
var executorBugs = []Bug{
	bug("crash-breaks-pool", catalogue.Keep(catalogue.Any(at(Delivered), at(Ran)), func(broken *bool, e *Event) {
		if e.Job.Type == jobtype.Crash {
			*broken, e.Skip = true, true
		}
		if *broken && e.Point == Ran {
			e.Verb, e.Fields = fwp.FAIL, Fields{
				"jid": e.Job.JID, "errtype": "BrokenPool", "message": "the pool is broken", "backtrace": []string{},
			}
		}
	})),
	bug("crash-ends-executors", catalogue.Keep(catalogue.Any(ofType(Delivered, jobtype.Crash), at(Fetching)),
		func(broken *bool, e *Event) {
			if e.Point == Delivered {
				*broken, e.Skip = true, true
			} else if *broken {
				rest(pauseForEver)(e)
			}
		})),
	// About what costs an executor. (FETCH)
	bug("executor-lost-to-ack-error", costsOne(refused(fwp.ACK))),
	bug("executor-lost-to-beat-error", costsOne(refused(fwp.BEAT))),
	apart(bug("executor-lost-to-crash", costsOne(ofType(Ran, jobtype.Crash)))),
	bug("executor-lost-to-exit", costsOne(ofType(Ran, jobtype.Exit))),
	bug("executor-lost-to-failure", costsOne(func(e *Event) bool { return e.Point == Ran && e.Outcome == Failed })),
	bug("executor-lost-to-repeat", catalogue.Keep(catalogue.Any(at(Delivered), fetches),
		func(s *struct {
			had  map[string]bool
			cost int
		}, e *Event) {
			switch {
			case e.Point == Delivered && s.cost == 0:
				s.cost = btoi(s.had[e.Job.JID])
				if s.had == nil {
					s.had = map[string]bool{}
				}
				s.had[e.Job.JID] = true
			case e.Point == Fetching && s.cost == 1:
				s.cost, e.Skip = 2, true
			}
		})),
	bug("executor-lost-to-long-job",
		costsOne(func(e *Event) bool { return e.Point == Delivered && len(e.Job.Text) > 1_000_000 })),
	bug("executor-lost-to-push", costsOne(func(e *Event) bool {
		return e.Point == Ran && e.Outcome == Failed && e.Job.Type == jobtype.Push
	})),
	bug("executor-lost-to-unknown-type", costsOne(func(e *Event) bool { return e.Point == Ran && isUnknown(e) })),
	bug("pushes-lost-untold", failing(func(e *Event) {
		if e.Job.Type == jobtype.Push {
			e.Fields["errtype"], e.Fields["message"] = "", ""
		}
	})),
}

// costsOne returns hooks by which the first step for which a condition holds costs the worker an executor: it fetches
// no more.
func costsOne(is func(*Event) bool) func() func(*Event) {
	return catalogue.Keep(catalogue.Any(is, fetches), func(cost *int, e *Event) {
		switch {
		case *cost == 0 && is(e):
			*cost = 1
		case *cost == 1 && e.Point == Fetching:
			*cost, e.Skip = 2, true
		}
	})
}

// apart makes a bug one of a worker whose executors are processes of their own.
func apart(f Bug) Bug {
	hook := f.Configure
	f.Configure = func(c *Config) {
		hook(c)
		c.Apart = true
	}
	return f
}

// ofType returns the condition that a step at a point is about a job of a type.
func ofType(p Point, name string) func(*Event) bool {
	return func(e *Event) bool { return e.Point == p && e.Job.Type == name }
}
