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
	bug("fetch-simple", do(func(e *event) { e.Reply.Kind = fwp.SimpleString }, ran(), foundJob)),
	// About the queues of a FETCH.
	bug("fetch-default-first",
		do(func(e *event) { e.Queues = slices.Concat([]string{defaultQueue}, e.Queues) }, valid(fwp.FETCH),
			func(e *event) bool { return slices.Contains(e.Queues, defaultQueue) })),
	bug("fetch-order", do(reverseQueues, checked(fwp.FETCH))),
	bug("fetch-queues-kept", queuesKept()),
	bug("fetch-ten-queues",
		do(func(e *event) { e.Queues = e.Queues[:min(10, len(e.Queues))] }, valid(fwp.FETCH))),
	// About a FETCH without a queue.
	bug("fetch-bare-anywhere",
		keepAll(either(at(fakes.Defaulted), both(checked(fwp.FETCH), bare)), func(known *[]string, e *event) {
			switch queue := e.Object.Text("queue"); {
			case e.Point == fakes.Checked:
				e.Queues = append([]string{defaultQueue}, *known...)
			case queue != defaultQueue && !slices.Contains(*known, queue):
				*known = append(*known, queue)
			}
		})),
	// About for how long a FETCH waits.
	bug("fetch-second-late", do(func(e *event) { e.Delay = 1900 * time.Millisecond },
		at(fakes.Delivered), several, fromLaterQueue)),
	// About what a FETCH does to others.
	bug("fetch-left-behind", leftBehind()),
	bug("fetch-over-takes", overTakes()),
	bug("fetch-stalls-all", inPlaces(1, parsed())),
	bug("fetch-twice-named",
		do(func(e *event) { take(e, e.Object.Text("queue")) }, at(fakes.Delivered), func(e *event) bool {
			queue := e.Object.Text("queue")
			i := slices.Index(e.Queues, queue)
			return i >= 0 && slices.Contains(e.Queues[i+1:], queue)
		})),
}

// some, several and bare say how many queues a FETCH has, and fromLaterQueue that its job is not of the first one.
func some(e *event) bool    { return len(e.Queues) > 0 }
func several(e *event) bool { return len(e.Queues) > 1 }
func bare(e *event) bool    { return e.Command.Args == nil }
func fromLaterQueue(e *event) bool {
	return e.Command.Verb == fwp.FETCH && e.Object.Text("queue") != firstQueue(e)
}

func reverseQueues(e *event) {
	e.Queues = slices.Clone(e.Queues)
	slices.Reverse(e.Queues)
}

// prefixQueues adds the known queues whose names begin with one of its own to a FETCH, behind those.
func prefixQueues() func() func(*event) {
	named := both(valid(fwp.FETCH), not(bare))
	return keepAll(either(at(fakes.Defaulted), named), func(known *[]string, e *event) {
		if e.Point == fakes.Defaulted {
			if queue := e.Object.Text("queue"); !slices.Contains(*known, queue) {
				*known = append(*known, queue)
				slices.Sort(*known)
			}
			return
		}
		names := e.Queues
		e.Queues = slices.Clone(names)
		for _, queue := range *known {
			if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(queue, name) }) {
				e.Queues = append(e.Queues, queue)
			}
		}
	})
}

// queuesKept reads the queues of a FETCH only if its arguments are not those that were read last, and forgets that a
// FETCH without arguments has replaced the queues.
func queuesKept() func() func(*event) {
	type read struct {
		args   string
		queues []string
	}
	return keep(conn, valid(fwp.FETCH), func(last *read, e *event) {
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

// leftBehind has a FETCH wait at all of its queues, and take one more job of those that brought none.
func leftBehind() func() func(*event) {
	type left struct{ woken, stale memory[string, bool] }
	events := either(valid(fwp.FETCH), endsWait, at(fakes.Delivered, fakes.Enqueued))
	return keepAll(events, func(l *left, e *event) {
		switch queue := e.Object.Text("queue"); e.Point {
		case fakes.Checked:
			e.Block = e.Queues
		case fakes.Reserved:
			l.woken.Of(jid(e))
		case fakes.Enqueued:
			_, e.Skip = l.stale.Take(queue)
		case fakes.Delivered:
			if _, is := l.woken.Take(jid(e)); !is {
				return
			}
			for _, other := range e.Queues {
				if other != queue {
					l.stale.Of(other)
				}
			}
		}
	})
}

// overTakes loses a job that is pushed, not one that comes due or is tried again, soon after a FETCH found none.
func overTakes() func() func(*event) {
	type takes struct {
		over   memory[string, time.Time]
		pushed memory[string, bool]
	}
	pushed := both(at(fakes.Defaulted), not(has("at")))
	events := either(pushed, both(ran(), foundNone, func(e *event) bool { return len(e.Block) > 0 }), at(fakes.Enqueued))
	return keepAll(events, func(t *takes, e *event) {
		switch e.Point {
		case fakes.Defaulted:
			t.pushed.Of(jid(e))
		case fakes.Ran:
			*t.over.Of(e.Block[0]) = time.Now()
		default:
			if _, direct := t.pushed.Take(jid(e)); direct {
				at, known := t.over.Take(e.Object.Text("queue"))
				e.Skip = known && time.Since(at) < time.Second
			}
		}
	})
}
