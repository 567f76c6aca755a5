package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/history"
)

// consumer is a client that fetches and reports.
type consumer struct {
	*lane
	number  int             // of its wid
	done    <-chan struct{} // closed when nothing more is pushed
	hand    []string        // the jobs that it was given and has not reported
	fetches int
	inVain  int  // FETCHes in a row that brought nothing although a job should have been there
	failed  bool // since it waited last for what comes back
}

// enoughInVain is after how many such FETCHes a worker asks no more for what should be there.
const enoughInVain = 6

// inHand is how many jobs a worker has at a time at most.
const inHand = 3

// work fetches and reports until nothing more is pushed and the queues are empty.
func (m *crowd) work(ctx context.Context, number int, done <-chan struct{}) {
	w := &consumer{lane: m.newLane(number), number: number, done: done}
	defer w.leave()
	in := w.enter(ctx, number)
	for in && w.fetches <= m.Steps && ctx.Err() == nil { // a server may give jobs out for ever
		w.beat(ctx)
		in = w.step(ctx, isClosed(done))
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// step does one thing, and says whether there is more to do.
func (w *consumer) step(ctx context.Context, over bool) bool {
	if len(w.hand) > 0 && (over || len(w.hand) == inHand || w.IntN(2) == 0) {
		return w.report(ctx, over)
	}
	return w.fetch(ctx, over)
}

// fetch asks for a job where there should be one. If there should be none, it waits for
// what comes next, or learns that nothing is left; either may take two seconds.
func (w *consumer) fetch(ctx context.Context, over bool) bool {
	const moment = time.Millisecond
	if w.inVain >= enoughInVain { // that nothing comes is as certain as it will be, and costs two seconds each time
		if over {
			return w.lastFetch(ctx)
		}
		return sleep(ctx, moment)
	}
	if queue, found := w.tally.claim(w.own()); found {
		r, ok := w.bring(ctx, w.choose(queue, over))
		w.tally.landed()
		if w.inVain++; r.Kind == fwp.BulkString {
			w.inVain = 0
		}
		return w.goesOn(ctx, r, ok)
	}
	switch {
	case w.tally.underWay(): // else this FETCH could get what another worker asks for, and that one would wait
		return sleep(ctx, moment)
	case over:
		return w.lastFetch(ctx)
	case w.early():
		return w.waitingFetch(ctx)
	}
	return sleep(ctx, moment)
}

func (w *consumer) own() int { return w.number % w.Queues }

// early says whether more jobs are certain to come for everybody.
func (w *consumer) early() bool { return int(w.asked.Load()) < w.Steps/2 }

// waitingFetch waits for the next job of the worker's own queue.
func (w *consumer) waitingFetch(ctx context.Context) bool {
	w.tally.add(w.own(), -1) // nobody else should ask for that one
	r, ok := w.bring(ctx, []int{w.own()})
	if r.Kind == fwp.NullBulk {
		w.tally.add(w.own(), 1)
	}
	return w.goesOn(ctx, r, ok)
}

// lastFetch asks all queues, of which nothing is known to be in any.
func (w *consumer) lastFetch(ctx context.Context) bool {
	queues := w.tally.all(mostRare)
	w.Shuffle(len(queues), func(i, j int) { queues[i], queues[j] = queues[j], queues[i] })
	r, ok := w.bring(ctx, queues)
	if r.Kind == fwp.NullBulk {
		return w.emptied(ctx)
	}
	return w.goesOn(ctx, r, ok)
}

// bring sends a FETCH and keeps what comes.
func (w *consumer) bring(ctx context.Context, queues []int) (fwp.Reply, bool) {
	w.fetches++
	e, text := w.fetching(queues)
	r, job, ok := w.call(ctx, e, text)
	if job.jid != "" {
		w.hand = append(w.hand, job.jid)
	}
	return r, ok
}

// goesOn says whether there is a point in asking once more: a FETCH that was answered
// with neither a job nor nothing will be again.
func (w *consumer) goesOn(ctx context.Context, r fwp.Reply, ok bool) bool {
	if !ok {
		return w.again(ctx, w.number)
	}
	return (r.Kind == fwp.BulkString || r.Kind == fwp.NullBulk) && w.staysOrReturns(ctx)
}

// choose picks the queues of a FETCH, the first of which is the one where something is.
// Mostly it is alone, so that it shows if a job of another queue was sent to this worker.
func (w *consumer) choose(first int, over bool) []int {
	if over || w.IntN(4) > 0 {
		return []int{first}
	}
	others := slices.DeleteFunc(w.Perm(w.Queues), func(q int) bool { return q == first })
	return append([]int{first}, others[:w.IntN(len(others)+1)]...)
}

// fetching is a FETCH from these queues.
func (w *consumer) fetching(queues []int) (e history.Event, text string) {
	e.Op, e.Queues = history.Fetch, w.names(queues)
	return e, fwp.FETCH + " " + strings.Join(e.Queues, " ")
}

// emptied takes down that nothing is left, and says whether something may come back.
func (w *consumer) emptied(ctx context.Context) bool {
	w.mu.Lock()
	w.drained = true
	w.mu.Unlock()
	again := w.failed
	w.failed = false
	const comesBack = 30 * time.Second // after which most servers try a job again that failed once
	return again && sleep(ctx, comesBack)
}

// report tells what became of one of the jobs in hand.
func (w *consumer) report(ctx context.Context, over bool) bool {
	i := w.IntN(len(w.hand))
	op := history.Ack
	if w.FailOne > 0 && !over && w.IntN(w.FailOne) == 0 {
		op, w.failed = history.Fail, true
	}
	if _, _, ok := w.call(ctx, history.Event{Op: op, JID: w.hand[i]}, reporting(op, w.hand[i])); !ok {
		return w.again(ctx, w.number)
	}
	if op == history.Ack {
		w.tally.finished(w.hand[i])
	}
	w.hand = slices.Delete(w.hand, i, i+1)
	return w.staysOrReturns(ctx)
}

// reporting is an ACK or a FAIL.
func reporting(op history.Op, jid string) string {
	if op == history.Fail {
		return fmt.Sprintf(`FAIL {"jid":%q,"errtype":"Example","message":"on purpose","backtrace":[]}`, jid)
	}
	return fmt.Sprintf(`ACK {"jid":%q}`, jid)
}
