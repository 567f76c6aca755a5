package faults

import (
	"cmp"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// fetchFaults are about FETCH.
var fetchFaults = []fakes.Fault{
	// About the reply to a FETCH.
	fault("fetch-drained-refused", after(func(e *event) string {
		if e.Point == fakes.Delivered {
			return e.Object.Text("queue")
		}
		return firstQueue(e)
	}, at(fakes.Delivered), both(ran(), foundNone), reply(fakes.ErrorReply("the queue is empty")))),
	fault("fetch-error-for-none", do(reply(fakes.ErrorReply("no job")), ran(), foundNone)),
	fault("fetch-simple", do(kind(fwp.SimpleString), ran(), foundJob)),
	fault("fetch-slow-seldom", every(30, at(fakes.Delivered), delay(3*time.Second))),
	// About the queues of a FETCH.
	fault("fetch-default-first",
		do(func(e *event) { e.Queues = slices.Concat([]string{defaultQueue}, e.Queues) }, valid(fwp.FETCH),
			func(e *event) bool { return slices.Contains(e.Queues, defaultQueue) })),
	fault("fetch-default-too",
		do(func(e *event) { e.Queues = append(slices.Clone(e.Queues), defaultQueue) }, valid(fwp.FETCH))),
	fault("fetch-oldest-queue",
		keepAll(either(at(fakes.Enqueued, fakes.Reserved), valid(fwp.FETCH)), oldestQueue)),
	fault("fetch-order", do(reverseQueues, checked(fwp.FETCH))),
	fault("fetch-order-seldom", every(30, checked(), reverseQueues)),
	fault("fetch-other-queue", moreQueues(func(string, string) bool { return true })),
	fault("fetch-queues-kept", queuesKept()),
	fault("fetch-rotates", keep(conn, both(valid(fwp.FETCH), several), func(fetches *int, e *event) {
		n := *fetches % len(e.Queues)
		*fetches++
		e.Queues = slices.Concat(e.Queues[n:], e.Queues[:n])
	})),
	fault("fetch-ten-queues",
		do(func(e *event) { e.Queues = e.Queues[:min(10, len(e.Queues))] }, valid(fwp.FETCH))),
	// About a FETCH without a queue.
	fault("fetch-bare", do(findNone, checked(fwp.FETCH), bare)),
	fault("fetch-bare-anywhere",
		keepAll(either(at(fakes.Defaulted), both(checked(fwp.FETCH), bare)), func(known *[]string, e *event) {
			switch queue := e.Object.Text("queue"); {
			case e.Point == fakes.Checked:
				e.Queues = append([]string{defaultQueue}, *known...)
			case queue != defaultQueue && !slices.Contains(*known, queue):
				*known = append(*known, queue)
			}
		})),
	fault("fetch-bare-repeats", keep(conn, checked(fwp.FETCH), func(last *[]string, e *event) {
		if !bare(e) {
			*last = slices.Clone(e.Queues)
		} else if *last != nil {
			e.Queues = *last
			*last = nil
		}
	})),
	// About for how long a FETCH waits.
	fault("fetch-blocks-long", do(waitFor(4*time.Second), checked(fwp.FETCH))),
	fault("fetch-never-blocks", do(waitFor(0), checked(fwp.FETCH))),
	fault("fetch-renewed",
		keepAll(either(at(fakes.Defaulted), both(ran(), foundNone)), func(pushed *time.Time, e *event) {
			if e.Point == fakes.Defaulted {
				*pushed = time.Now()
			} else {
				e.Delay = max(0, e.Wait-time.Since(*pushed))
			}
		})),
	fault("fetch-second-late", do(delay(1900*time.Millisecond), at(fakes.Delivered), several, fromLaterQueue)),
	fault("fetch-second-waiter-null", whileWaiting(2, valid(fwp.FETCH), waitFor(0))),
	fault("fetch-several-never-wait", do(waitFor(0), valid(fwp.FETCH), several)),
	fault("fetch-waits-for-each",
		do(func(e *event) { e.Wait *= time.Duration(max(1, len(e.Queues))) }, valid(fwp.FETCH))),
	// About a FETCH that waits and a job that is pushed.
	fault("fetch-flushed-deaf", deafened(done(fwp.FLUSH), func(*event, string) bool { return true })),
	fault("fetch-sleeps", do(waitForNone, checked(fwp.FETCH))),
	fault("fetch-waits-on-last",
		do(func(e *event) { e.Block = e.Queues[max(0, len(e.Queues)-1):] }, valid(fwp.FETCH))),
	fault("fetch-wakes-one", oneAtATime(firstQueue, waitForNone)),
	fault("fetch-woken-late",
		recall(conn, checked(fwp.FETCH), clock, at(fakes.Delivered), func(began time.Time, e *event) {
			if waited := time.Since(began); waited > 100*time.Millisecond {
				e.Delay = e.Wait - waited
			}
		})),
	fault("fetch-woken-once", after(conn, at(fakes.Delivered), valid(fwp.FETCH), waitForNone)),
	fault("fetch-woken-stays", next(jid, endsWait, at(fakes.Delivered), again)),
	// About what a FETCH does to others.
	fault("fetch-both-that-wait",
		keepAll(either(both(either(valid(fwp.FETCH), done(fwp.FETCH)), some), both(at(fakes.Delivered), some)),
			bothWaiting)),
	fault("fetch-left-behind", leftBehind()),
	fault("fetch-once-a-worker", oneAtATime(worker, findNone)),
	fault("fetch-over-takes", overTakes()),
	fault("fetch-quiet-for-all",
		after(server, both(at(fakes.Notified), either(changed, text("current_state", longer(0)))),
			valid(fwp.FETCH), findNone)),
	fault("fetch-refused-deaf",
		next(conn, both(checked(fwp.FETCH), wrong, func(e *event) bool { return e.Conn.Identified }),
			valid(fwp.FETCH), findNone)),
	fault("fetch-stalls-all", inPlaces(1, parsed())),
	fault("fetch-stalls-worker", stallsWorker),
	fault("fetch-ten-at-a-time", inPlaces(10, parsed(fwp.FETCH))),
	fault("fetch-twice-named",
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

func waitFor(d time.Duration) func(*event) { return func(e *event) { e.Wait = d } }

func reverseQueues(e *event) {
	e.Queues = slices.Clone(e.Queues)
	slices.Reverse(e.Queues)
}

// moreQueues adds known queues to a FETCH, behind those that it names.
func moreQueues(matches func(named, known string) bool) func() func(*event) {
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
			if slices.ContainsFunc(names, func(name string) bool { return matches(name, queue) }) {
				e.Queues = append(e.Queues, queue)
			}
		}
	})
}

// oldestQueue sorts the queues of a FETCH by the age of their jobs; all are the queues of the jobs, in the order of
// their entrance.
func oldestQueue(all *[]string, e *event) {
	switch queue := e.Object.Text("queue"); e.Point {
	case fakes.Enqueued:
		*all = append(*all, queue)
	case fakes.Reserved:
		if i := slices.Index(*all, queue); i >= 0 {
			*all = slices.Delete(*all, i, i+1)
		}
	default:
		age := func(queue string) uint { return uint(slices.Index(*all, queue)) } // of none it is the greatest
		e.Queues = slices.Clone(e.Queues)
		slices.SortStableFunc(e.Queues, func(a, b string) int { return cmp.Compare(age(a), age(b)) })
	}
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

// waiting is which connections began a FETCH when, and how many FETCHes are being answered at a queue.
type waiting struct {
	began memory[int64, time.Time]
	at    memory[string, int]
}

// bothWaiting acts where a FETCH has waited while another one waited at the same queue.
func bothWaiting(w *waiting, e *event) {
	switch at := w.at.Of(e.Queues[0]); e.Point {
	case fakes.Checked:
		*w.began.Of(e.Conn.ID) = time.Now()
		*at++
	case fakes.Delivered:
		e.Again = time.Since(*w.began.Of(e.Conn.ID)) > 10*time.Millisecond && *at > 1
	default:
		*at--
	}
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
