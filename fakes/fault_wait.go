package fakes

import (
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// waits are the FETCHes that are being answered, by the first of their queues.
type waits struct {
	mu sync.Mutex
	at map[string]int
}

// see counts a FETCH from when it is checked until it is answered.
func (w *waits) see(e *Event) {
	if e.Command.Verb != fwp.FETCH || e.Err != nil || e.Point != Checked && e.Point != Ran {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at == nil {
		w.at = map[string]int{}
	}
	more := 1
	if e.Point == Ran {
		more = -1
	}
	w.at[queuesOf(e.Command)[0]] += more
}

// count returns how many FETCHes wait at a queue.
func (w *waits) count(queue string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at[queue]
}

// whileWaiting returns hooks that know which FETCHes wait.
func whileWaiting(act func(*waits, *Event)) func() func(*Event) {
	return func() func(*Event) {
		w := &waits{}
		return func(e *Event) {
			w.see(e)
			act(w, e)
		}
	}
}

// whileWaitingFaults are about jobs that enter a set while a FETCH waits at their queue.
func whileWaitingFaults() []Fault {
	return []Fault{
		statefulFault("schedule-woken", "WU-06 STATE-11",
			"a scheduled job that is pushed while a FETCH waits at its queue is delivered at once",
			whileWaiting(func(w *waits, e *Event) {
				if e.Point == Defaulted && w.count(e.Object.Text("queue")) > 0 {
					e.Object.Delete("at")
				}
			})),
		statefulFault("retry-woken", "STATE-06",
			"a job that fails while a FETCH waits at its queue is delivered at once",
			whileWaiting(func(w *waits, e *Event) {
				if e.Point == Failed && e.Set == "retries" && w.count(e.Object.Text("queue")) > 0 {
					e.Until = time.Now()
				}
			})),
		statefulFault("retry-woken-last", "RETRY-01 RETRY-02 RETRY-03",
			"a job without retries that fails while a FETCH waits at its queue is delivered once more",
			whileWaiting(func(w *waits, e *Event) {
				if e.Point == Failed && e.Set != "retries" && w.count(e.Object.Text("queue")) > 0 {
					e.Set, e.Until = "retries", time.Now()
				}
			})),
	}
}

// waitFaults are about what a FETCH that waits, or has waited, does to others.
func waitFaults() []Fault {
	return []Fault{
		statefulFault("fetch-left-behind", "PUSH-04",
			"a FETCH waits at all of its queues, and when it is over takes one more job of those that brought none",
			leftBehind),
		fault("fetch-twice-named", "PUSH-04",
			"a FETCH that names a queue twice takes two jobs and delivers one",
			when(Delivered, fwp.FETCH, func(e *Event) {
				queue := e.Object.Text("queue")
				if i := slices.Index(e.Queues, queue); i < 0 || !slices.Contains(e.Queues[i+1:], queue) {
					return
				}
				for _, s := range e.Conn.server.store.Jobs() {
					if s.Job.queue == queue && s.Due.IsZero() && e.Conn.server.store.Purge(s.Job.jid) {
						return
					}
				}
			})),
		statefulFault("fetch-ten-at-a-time", "FETCH-05",
			"a FETCH is not looked at before there are fewer than ten that wait", tenAtATime),
		statefulFault("worker-end-deaf", "FETCH-06 HELLO-11",
			"when a connection of a worker has ended, the FETCHes that wait on its others are not ended by a job",
			deafened(closesOne, func(e *Event, waiting string) bool { return waiting == e.Conn.Worker })),
	}
}

func leftBehind() func(*Event) {
	var woken, stale notes[string, bool]
	return func(e *Event) {
		switch {
		case e.Point == Checked && e.Command.Verb == fwp.FETCH && e.Err == nil:
			e.Block = e.Queues
		case e.Point == Reserved && e.Command.Verb == fwp.PUSH:
			woken.put(e.Object.Text("jid"), true)
		case e.Point == Delivered:
			if is, _ := woken.take(e.Object.Text("jid")); !is {
				return
			}
			for _, queue := range e.Queues {
				if queue != e.Object.Text("queue") {
					stale.put(queue, true)
				}
			}
		case e.Point == Enqueued:
			e.Skip, _ = stale.take(e.Object.Text("queue"))
		}
	}
}

func tenAtATime() func(*Event) {
	places := make(chan struct{}, 10)
	var has notes[int64, bool]
	return func(e *Event) {
		if e.Conn == nil || e.Command.Verb != fwp.FETCH {
			return
		}
		switch e.Point {
		case Parsed:
			select {
			case places <- struct{}{}:
				has.put(e.Conn.ID, true)
			case <-e.Conn.Done:
			}
		case Ran:
			if took, _ := has.take(e.Conn.ID); took {
				<-places
			}
		}
	}
}

// closesOne reports whether a connection of a worker ends.
func closesOne(e *Event) bool {
	return (e.Point == Unfinished || e.Point == Ran && e.Command.Verb == fwp.END) && e.Conn.Worker != ""
}

// deafened returns hooks that, at some events, have FETCHes that wait not end before their time: those of the workers
// for which hit returns true.
func deafened(some func(*Event) bool, hit func(e *Event, waiting string) bool) func() func(*Event) {
	return func() func(*Event) {
		var mu sync.Mutex
		waiting, deaf := map[int64]string{}, map[int64]bool{} // by connection; of those that wait the worker
		return func(e *Event) {
			if e.Conn == nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			switch id := e.Conn.ID; {
			case e.Point == Checked && e.Command.Verb == fwp.FETCH && e.Err == nil:
				waiting[id] = e.Conn.Worker
			case some(e):
				for other, wid := range waiting {
					deaf[other] = deaf[other] || hit(e, wid)
				}
			case e.Point == Delivered && deaf[id]:
				e.Delay = 2 * time.Second
			case e.Point == Ran && e.Command.Verb == fwp.FETCH:
				delete(waiting, id)
				delete(deaf, id)
			}
		}
	}
}
