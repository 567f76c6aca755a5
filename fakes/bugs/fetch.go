package bugs

import (
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// fetchBugs are about FETCH.
var fetchBugs = []fakes.Bug{
	// About the reply to a FETCH.
	bug("fetch-simple", do(func(e *event) { e.Reply.Kind = fwp.SimpleString }, atRan(), hasJob)),
	// About the queues of a FETCH.
	bug("fetch-default-first",
		do(func(e *event) { e.Queues = slices.Concat([]string{defaultQueue}, e.Queues) }, isValid(fwp.FETCH),
			func(e *event) bool { return slices.Contains(e.Queues, defaultQueue) })),
	bug("fetch-order", do(reverseQueues, atChecked(fwp.FETCH))),
	bug("fetch-queues-kept", reuseQueues()),
	bug("fetch-ten-queues",
		do(func(e *event) { e.Queues = e.Queues[:min(10, len(e.Queues))] }, isValid(fwp.FETCH))),
	// About a FETCH without a queue.
	bug("fetch-bare-anywhere",
		withMemory(anyOf(at(fakes.Defaulted), allOf(atChecked(fwp.FETCH), hasNoArguments)),
			func(previous *[]string, e *event) {
				switch queue := e.Object.Text("queue"); {
				case e.Point == fakes.Checked:
					e.Queues = append([]string{defaultQueue}, *previous...)
				case queue != defaultQueue && !slices.Contains(*previous, queue):
					*previous = append(*previous, queue)
				}
			})),
	// About for how long a FETCH waits.
	bug("fetch-second-late", do(func(e *event) { e.Delay = 1900 * time.Millisecond },
		at(fakes.Delivered), hasSeveralQueues, isFromLaterQueue)),
	// About what a FETCH does to others.
	bug("fetch-left-behind", waitAtAllQueues()),
	bug("fetch-over-takes", loseLatePush()),
	bug("fetch-stalls-all", limitCommands(1, atParsed())),
	bug("fetch-twice-named",
		do(func(e *event) { purgeFirst(e, e.Object.Text("queue")) }, at(fakes.Delivered), func(e *event) bool {
			queue := e.Object.Text("queue")
			i := slices.Index(e.Queues, queue)
			return i >= 0 && slices.Contains(e.Queues[i+1:], queue)
		})),
}

// hasQueues, hasSeveralQueues and hasNoArguments say what queues a FETCH names; isFromLaterQueue, that its job is not
// of the first one.
func hasQueues(e *event) bool        { return len(e.Queues) > 0 }
func hasSeveralQueues(e *event) bool { return len(e.Queues) > 1 }
func hasNoArguments(e *event) bool   { return e.Command.Args == nil }
func isFromLaterQueue(e *event) bool {
	return e.Command.Verb == fwp.FETCH && e.Object.Text("queue") != firstQueue(e)
}

func reverseQueues(e *event) {
	e.Queues = slices.Clone(e.Queues)
	slices.Reverse(e.Queues)
}

// prefixQueues adds the known queues whose names begin with one of its own to a FETCH, behind those.
func prefixQueues() func() func(*event) {
	hasNames := allOf(isValid(fwp.FETCH), not(hasNoArguments))
	return withMemory(anyOf(at(fakes.Defaulted), hasNames), func(queueNames *[]string, e *event) {
		if e.Point == fakes.Defaulted {
			if queue := e.Object.Text("queue"); !slices.Contains(*queueNames, queue) {
				*queueNames = append(*queueNames, queue)
				slices.Sort(*queueNames)
			}
			return
		}
		names := e.Queues
		e.Queues = slices.Clone(names)
		for _, queue := range *queueNames {
			if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(queue, name) }) {
				e.Queues = append(e.Queues, queue)
			}
		}
	})
}

// reuseQueues reads the queues of a FETCH only if its arguments are not those that were read last, and forgets that a
// FETCH without arguments has replaced the queues.
func reuseQueues() func() func(*event) {
	type read struct {
		args   string
		queues []string
	}
	return withMemoryBy(conn, isValid(fwp.FETCH), func(last *read, e *event) {
		switch args := string(e.Command.Args); args {
		case "":
			last.queues = slices.Clone(e.Queues)
		case last.args:
			e.Queues = last.queues
		default:
			*last = read{args, slices.Clone(e.Queues)}
		}
	})
}

// waitAtAllQueues has a FETCH wait at all of its queues, and take one more job of those that brought none.
func waitAtAllQueues() func() func(*event) {
	type fetchState struct{ wokenJobs, staleQueues memory[string, bool] }
	events := anyOf(isValid(fwp.FETCH), isEndOfWait, at(fakes.Delivered, fakes.Enqueued))
	return withMemory(events, func(l *fetchState, e *event) {
		switch queue := e.Object.Text("queue"); e.Point {
		case fakes.Checked:
			e.WaitQueues = e.Queues
		case fakes.Reserved:
			l.wokenJobs.GetOrAdd(jid(e))
		case fakes.Enqueued:
			_, e.Skip = l.staleQueues.Take(queue)
		case fakes.Delivered:
			if _, ok := l.wokenJobs.Take(jid(e)); !ok {
				return
			}
			for _, other := range e.Queues {
				if other != queue {
					l.staleQueues.GetOrAdd(other)
				}
			}
		}
	})
}

// loseLatePush loses a job that is pushed, not one that comes due or is tried again, soon after a FETCH found none.
func loseLatePush() func() func(*event) {
	type takes struct {
		emptyTimes memory[string, time.Time]
		pushedJobs memory[string, bool]
	}
	isPush := allOf(at(fakes.Defaulted), not(hasMember("at")))
	events := anyOf(isPush, allOf(atRan(), hasNoJob, func(e *event) bool { return len(e.WaitQueues) > 0 }),
		at(fakes.Enqueued))
	return withMemory(events, func(t *takes, e *event) {
		switch e.Point {
		case fakes.Defaulted:
			t.pushedJobs.GetOrAdd(jid(e))
		case fakes.Ran:
			*t.emptyTimes.GetOrAdd(e.WaitQueues[0]) = time.Now()
		default:
			if _, direct := t.pushedJobs.Take(jid(e)); direct {
				at, ok := t.emptyTimes.Take(e.Object.Text("queue"))
				e.Skip = ok && time.Since(at) < time.Second
			}
		}
	})
}
