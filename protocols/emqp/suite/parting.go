package suite

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/scenarios"
)

// parting has a worker with READYs left, a client that awaits a REPLY and several schedulers leave. What they would
// have got is sent when the broker has long known it, so that no one waits.
type parting struct {
	at     time.Time // when they have left
	queues []string  // of the worker
}

// leavingSchedulers is how many schedulers leave: where they take turns, it is most likely that of one of them.
const leavingSchedulers = 4

// depart has them come and leave. The worker that has the REPLY stays.
func (w *routeMaker) depart() []explore.Step {
	newQueue := func() string {
		w.first++
		return fmt.Sprintf(`"$queue%d"`, w.first)
	}
	w.parting = &parting{at: w.Now(), queues: []string{newQueue(), newQueue(), newQueue()}}
	stayingQueues := []string{newQueue()}
	kbai := func(conn int) explore.Step { return w.build.Line(conn, "%s", w.message(emqp.KBAI)) }
	steps := []explore.Step{
		w.open(leavingClient, scenarios.Producer), w.open(leavingWorker, scenarios.Consumer),
		w.open(stayingWorker, scenarios.Consumer), w.inform(leavingWorker, w.parting.queues),
		w.inform(stayingWorker, stayingQueues), w.sendReady(stayingWorker),
		w.requestTo(stayingQueues, leavingClient, emqp.ReplyRequested),
	}
	for range w.parting.queues {
		steps = append(steps, w.sendReady(leavingWorker))
	}
	if w.Terms.Alone {
		for n := range leavingSchedulers {
			steps = append(steps, w.informScheduler(leavingScheduler+n)...)
		}
		steps = append(steps, w.send(firstClient, emqp.SCHEDULE, w.queues[0][0], `""`))
		for n := range leavingSchedulers {
			steps = append(steps, kbai(leavingScheduler+n))
		}
	}
	return append(steps, kbai(leavingWorker), kbai(leavingClient))
}

// testParting sends what is for those that have left, to the broker that has to know of it.
func (w *routeMaker) testParting() []explore.Step {
	serve := func() []explore.Step { return []explore.Step{w.sendReady(firstWorker), w.request(firstClient, 0)} }
	steps := append([]explore.Step{w.sendReply(stayingWorker)}, serve()...)
	for _, q := range w.parting.queues {
		steps = append(steps, w.requestTo([]string{q}, firstClient))
	}
	if w.Terms.Alone {
		steps = append(steps, w.send(firstClient, emqp.UNSCHEDULE, w.queues[0][0], `""`))
		for range 3 { // one of them is for the scheduler that has left, if schedulers take turns
			steps = append(steps, w.send(firstClient, emqp.SCHEDULE, w.queues[0][0], `""`))
		}
	}
	steps = append(append(steps, serve()...), w.build.Line(stayingWorker, "%s", w.message(emqp.KBAI)))
	w.parting = nil
	for conn := leavingClient; conn < leavingScheduler+leavingSchedulers; conn++ {
		steps = append(steps, explore.End(conn, scenarios.Closed))
	}
	return steps
}

// partingSteps are the steps of the parting that is next, nil if none is. One that is under way is awaited at the end.
func (w *routeMaker) partingSteps() []explore.Step {
	const period, kbaiWait = 100, 400 * time.Millisecond
	if !w.isWorker(stayingWorker) {
		w.parting = nil // the broker was started again
	}
	switch {
	case w.parting == nil && w.wayCount%period == 2:
		return w.depart()
	case w.parting == nil:
		return nil
	}
	remaining := w.Terms.Slack + kbaiWait - w.Now().Sub(w.parting.at)
	switch {
	case remaining <= 0:
		return w.testParting()
	case w.wayCount >= minWays && w.hasSentAll():
		return []explore.Step{explore.Wait(remaining)}
	}
	return nil
}
