package fakes

import (
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// never is longer than any run.
const never = 10_000 * time.Hour

// pathFaults are about jobs that came to their worker in one way only: after a wait, from a second queue, again.
func pathFaults() []Fault {
	return []Fault{
		fault("reserve-woken-kept", "STATE-07",
			"the reservation of a job that ended the wait of a FETCH never runs out",
			when(Reserved, fwp.PUSH, func(e *Event) { e.Until = e.Until.Add(never) })),
		fault("reserve-woken-none", "ACK-01 FAIL-01 STATE-07 HELLO-11",
			"a job that ended the wait of a FETCH is not held", when(Reserved, fwp.PUSH, skip)),
		statefulFault("fetch-woken-stays", "STATE-05",
			"a job that ended the wait of a FETCH stays in its queue",
			noted(endsWait, Delivered, func(e *Event) { e.Again = true })),
		fault("reserve-second-queue-kept", "STATE-07",
			"the reservation of a job that is not of the first queue of its FETCH never runs out",
			when(Reserved, fwp.FETCH, func(e *Event) {
				if e.Object.Text("queue") != e.Queues[0] {
					e.Until = e.Until.Add(never)
				}
			})),
		statefulFault("reserve-from-first", "WU-05",
			"each reservation of a job counts from its first delivery", fromFirst),
		fault("expiry-last-lost", "STATE-07",
			"a job with one retry is discarded when its reservation runs out",
			on(Expired, func(e *Event) {
				if n, _ := e.Object.Int("retry"); n == 1 {
					e.Set = ""
				}
			})),
	}
}

func fromFirst() func(*Event) {
	var first notes[string, time.Time]
	return on(Reserved, func(e *Event) {
		jid := e.Object.Text("jid")
		at, again := first.take(jid)
		if !again {
			at = time.Now()
		}
		first.put(jid, at)
		e.Until = at.Add(time.Until(e.Until))
	})
}

// twiceFaults are about jobs that come out of a set in another number or order than they went in.
func twiceFaults() []Fault {
	return []Fault{
		statefulFault("retry-doubles", "STATE-05 RETRY-03 RETRY-05 FAIL-06 WU-13",
			"a job that failed is enqueued a second time, 20 s after its FAIL", retryDoubles),
		fault("schedule-doubles", "STATE-05 ACK-02 RETRY-01",
			"a job that was scheduled is enqueued twice",
			when(Ran, fwp.PUSH, func(e *Event) {
				if due, ok := asTime(e.Object.Get("at")); ok && e.Err == nil && time.Until(due) > 0 {
					again(e, e.Object.clone(), due)
				}
			})),
		statefulFault("schedule-in-turn", "STATE-11 WU-06",
			"a scheduled job waits for those that were scheduled before it", inTurn),
		fault("retry-32-bits", "WU-07",
			"a job whose retry has more than 31 bits is discarded when it fails",
			on(Failed, func(e *Event) {
				if n, _ := e.Object.Int("retry"); n > 1<<31-1 {
					e.Set = ""
				}
			})),
	}
}

func retryDoubles() func(*Event) {
	var held notes[string, *Object]
	return func(e *Event) {
		switch {
		case e.Point == Delivered:
			held.put(e.Object.Text("jid"), e.Object.clone())
		case e.Point == Ran && e.Command.Verb == fwp.FAIL && e.Err == nil:
			job, ok := held.take(e.Object.Text("jid"))
			if n, _ := job.Int("retry"); ok && n > 0 {
				again(e, job, time.Now().Add(20*time.Second))
			}
		}
	}
}

func inTurn() func(*Event) {
	var mu sync.Mutex
	var latest time.Time
	return on(Scheduled, func(e *Event) {
		if e.Set != "scheduled" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if e.Until.Before(latest) {
			e.Until = latest
		}
		latest = e.Until
	})
}

// besideFaults are about the other connections of a worker, and about the queue default beside others.
func besideFaults() []Fault {
	return []Fault{
		statefulFault("fetch-stalls-worker", "FETCH-06",
			"while a FETCH of a worker waits, its other connections are not served", stallsWorker),
		fault("fetch-default-first", "FETCH-04",
			"a FETCH that names the queue default searches that first",
			fetching(func(e *Event) {
				if slices.Contains(e.Queues, defaultQueue) {
					e.Queues = append([]string{defaultQueue}, e.Queues...)
				}
			})),
		fault("fetch-default-too", "FETCH-04",
			"a FETCH searches the queue default after those that it names",
			fetching(func(e *Event) { e.Queues = append(slices.Clone(e.Queues), defaultQueue) })),
		statefulFault("worker-gone-ack-ignored", "ACK-02",
			"an ACK for a job whose connection has ended is answered with OK and has no effect",
			ifGone(Delivered, accepted(fwp.ACK), skip)),
		statefulFault("worker-gone-fail-ignored", "STATE-09",
			"a FAIL for a job whose connection has ended is answered with OK and has no effect",
			ifGone(Delivered, accepted(fwp.FAIL), skip)),
	}
}

// stallsWorker lets the other connections of a worker wait until its FETCH is answered.
func stallsWorker() func(*Event) {
	var mu sync.Mutex
	waiting := map[string]chan struct{}{}
	wait := func(e *Event) <-chan struct{} {
		mu.Lock()
		defer mu.Unlock()
		wid := e.Conn.Worker
		switch over, is := waiting[wid]; {
		case e.Command.Verb != fwp.FETCH && e.Point == Parsed:
			return over
		case e.Command.Verb == fwp.FETCH && e.Point == Checked && !is:
			waiting[wid] = make(chan struct{})
		case e.Command.Verb == fwp.FETCH && e.Point == Ran && is:
			close(over)
			delete(waiting, wid)
		}
		return nil
	}
	return func(e *Event) {
		if e.Conn == nil || e.Conn.Worker == "" {
			return
		}
		if over := wait(e); over != nil {
			select {
			case <-over:
			case <-e.Conn.Done:
			}
		}
	}
}
