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
	bug("fetch-first-queue-only", actAt(Fetching, func(e *Event) { e.Queues = e.Queues[:1] })),
	bug("fetch-in-batches", inBatches),
	// About what a delivered job holds, and when it is delivered. (Required fields; FETCH)
	argsBug("args-first-only",
		func(args []json.RawMessage) []json.RawMessage { return args[:min(1, len(args))] }),
	bug("job-again-dropped", catalogue.ActOnRepeat(jidOf, at(Delivered), skip)),
	bug("job-late-dropped", actAt(Delivered, func(e *Event) { e.Skip = e.Worker.state() == "quiet" })),
	bug("job-late-dropped-at-end", actAt(Delivered, func(e *Event) { e.Skip = e.Worker.state() == "terminate" })),
	bug("job-long-dropped", actAt(Delivered, func(e *Event) { e.Skip = len(e.Job.Text) > 64<<10 })),
	bug("job-runs-twice", actAt(Delivered, repeat)),
	bug("unknown-type-dropped", actAt(Delivered, catalogue.ActIf(isUnknown, skip))),
	bug("unknown-type-ends", actAt(Delivered, catalogue.ActIf(isUnknown, catalogue.Chain(exit(1), skip)))),
}

// inBatches has a worker that runs as many jobs as it may wait for the end of all of them.
func inBatches() func(*Event) {
	return catalogue.WithMemory(catalogue.Any(at(Delivered), fetches), func(isFull *bool, e *Event) {
		switch count := e.Worker.RunningJobs(); {
		case e.Point == Delivered:
			*isFull = *isFull || count+1 >= e.Worker.cfg.Concurrency
		case count == 0:
			*isFull = false
		case *isFull:
			postponeFetch(100 * time.Millisecond)(e)
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
	return bug(name, actAt(Delivered, func(e *Event) {
		if e.Job.Type == jobtype.Echo {
			e.Job.Args = change(e.Job.Args)
		}
	}))
}

// executorBugs are about executors that a job breaks, and about jobs that push others.
var executorBugs = []Bug{
	bug("crash-breaks-pool", catalogue.WithMemory(catalogue.Any(at(Delivered), at(Ran)), func(isBroken *bool, e *Event) {
		if e.Job.Type == jobtype.Crash {
			*isBroken, e.Skip = true, true
		}
		if *isBroken && e.Point == Ran {
			e.Verb, e.Fields = fwp.FAIL, Fields{
				"jid": e.Job.JID, "errtype": "BrokenPool", "message": "the pool is broken", "backtrace": []string{},
			}
		}
	})),
	bug("crash-ends-executors", catalogue.WithMemory(catalogue.Any(isType(Delivered, jobtype.Crash), at(Fetching)),
		func(isBroken *bool, e *Event) {
			if e.Point == Delivered {
				*isBroken, e.Skip = true, true
			} else if *isBroken {
				postponeFetch(longPause)(e)
			}
		})),
	// About what costs an executor. (FETCH)
	bug("executor-lost-to-ack-error", loseExecutor(isRefusal(fwp.ACK))),
	bug("executor-lost-to-beat-error", loseExecutor(isRefusal(fwp.BEAT))),
	separate(bug("executor-lost-to-crash", loseExecutor(isType(Ran, jobtype.Crash)))),
	bug("executor-lost-to-exit", loseExecutor(isType(Ran, jobtype.Exit))),
	bug("executor-lost-to-failure", loseExecutor(func(e *Event) bool { return e.Point == Ran && e.Outcome == Failed })),
	bug("executor-lost-to-repeat", catalogue.WithMemory(catalogue.Any(at(Delivered), fetches),
		func(s *struct {
			jids map[string]bool
			cost int
		}, e *Event) {
			switch {
			case e.Point == Delivered && s.cost == 0:
				s.cost = btoi(s.jids[e.Job.JID])
				if s.jids == nil {
					s.jids = map[string]bool{}
				}
				s.jids[e.Job.JID] = true
			case e.Point == Fetching && s.cost == 1:
				s.cost, e.Skip = 2, true
			}
		})),
	bug("executor-lost-to-long-job",
		loseExecutor(func(e *Event) bool { return e.Point == Delivered && len(e.Job.Text) > 1_000_000 })),
	bug("executor-lost-to-push", loseExecutor(func(e *Event) bool {
		return e.Point == Ran && e.Outcome == Failed && e.Job.Type == jobtype.Push
	})),
	bug("executor-lost-to-unknown-type", loseExecutor(func(e *Event) bool { return e.Point == Ran && isUnknown(e) })),
	bug("pushes-lost-untold", actOnFail(func(e *Event) {
		if e.Job.Type == jobtype.Push {
			e.Fields["errtype"], e.Fields["message"] = "", ""
		}
	})),
}

// loseExecutor returns hooks by which the first step for which a condition holds costs the worker an executor: it
// fetches no more.
func loseExecutor(match func(*Event) bool) func() func(*Event) {
	return catalogue.WithMemory(catalogue.Any(match, fetches), func(cost *int, e *Event) {
		switch {
		case *cost == 0 && match(e):
			*cost = 1
		case *cost == 1 && e.Point == Fetching:
			*cost, e.Skip = 2, true
		}
	})
}

// separate makes a bug one of a worker whose executors are processes of their own.
func separate(f Bug) Bug {
	hook := f.Configure
	f.Configure = func(c *Config) {
		hook(c)
		c.SeparateProcesses = true
	}
	return f
}

// isType returns the condition that a step at a point is about a job of a type.
func isType(p Point, name string) func(*Event) bool {
	return func(e *Event) bool { return e.Point == p && e.Job.Type == name }
}
