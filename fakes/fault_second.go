package fakes

import (
	"slices"
	"sync"

	"github.com/fwpsuite/fwp/fwp"
)

// secondFaults are about what happens the second time, or after something else.
func secondFaults() []Fault {
	return []Fault{
		statefulFault("push-with-its-connection", "PUSH-01 PUSH-04",
			"a job of a client that is no consumer cannot be fetched when the connection of its PUSH has ended",
			withConnection),
		statefulFault("push-broken-ok-again", "PUSH-02 RESP-02 WU-00",
			"the second PUSH of a connection that cannot be read is answered with OK",
			secondRefusal(fwp.PUSH, func(e *Event) bool { return e.about() == AboutJSON || e.about() == AboutObject })),
		statefulFault("hello-broken-ok-again", "HELLO-04 HELLO-06 RESP-02",
			"the second HELLO of a connection with broken JSON is answered with OK",
			secondRefusal(fwp.HELLO, func(e *Event) bool { return e.about() == AboutJSON })),
		statefulFault("fetch-drained-refused", "FETCH-03 RESP-04",
			"a FETCH of a queue that has had jobs and has none is answered with an error", drainedRefused),
		statefulFault("fetch-woken-once", "FETCH-06 FETCH-14",
			"only the first FETCH of a connection that waits is ended by a job", wokenOnce),
		statefulFault("fetch-wakes-one", "FETCH-06 FETCH-14",
			"while a FETCH waits at a queue, a second one there is not ended by a job", wakesOne),
		statefulFault("link-jobs-counted", "LINK-03 FETCH-04 PUSH-04",
			"a connection that has fetched 95 jobs gets no more", jobsCounted),
		statefulFault("flush-breaks-queues", "PUSH-04 FLUSH-04",
			"a job of a queue that there was before a FLUSH is answered with OK and lost", flushBreaksQueues),
		statefulFault("end-stays-open-producer", "END-02 STATE-16",
			"the connection of a producer stays open after END",
			func() func(*Event) {
				return when(Ran, fwp.END, func(e *Event) { e.Close = e.Close && !e.Conn.isProducer() })
			}),
	}
}

func withConnection() func(*Event) {
	var from notes[string, <-chan struct{}]
	return func(e *Event) {
		switch {
		case e.Point == Defaulted && e.Conn.Worker == "":
			from.put(e.Object.Text("jid"), e.Conn.Done)
		case e.Point == Delivered:
			done, known := from.take(e.Object.Text("jid"))
			if !known {
				return
			}
			select {
			case <-done:
				e.Skip = true
			default:
			}
		}
	}
}

// secondRefusal answers with OK when a connection is refused a command for the second time.
func secondRefusal(verb string, which func(*Event) bool) func() func(*Event) {
	return func() func(*Event) {
		var once notes[int64, bool]
		return when(Ran, verb, func(e *Event) {
			if e.Err == nil || !which(e) {
				return
			}
			if _, again := once.take(e.Conn.ID); again {
				e.Err, e.Reply = nil, okay()
			}
			once.put(e.Conn.ID, true)
		})
	}
}

func drainedRefused() func(*Event) {
	var known notes[string, bool]
	return func(e *Event) {
		switch {
		case e.Point == Delivered:
			known.put(e.Object.Text("queue"), true)
		case e.Point == Ran && e.Command.Verb == fwp.FETCH && e.Reply.Kind == fwp.NullBulk && len(e.Queues) > 0:
			if had, _ := known.take(e.Queues[0]); had {
				known.put(e.Queues[0], true)
				e.Reply = refused("the queue is empty")
			}
		}
	}
}

func wokenOnce() func(*Event) {
	var waited notes[int64, bool]
	return func(e *Event) {
		switch {
		case e.Point == Checked && e.Command.Verb == fwp.FETCH && e.Err == nil:
			if again, _ := waited.take(e.Conn.ID); again {
				waited.put(e.Conn.ID, true)
				e.Block = nil
			}
		case e.Point == Delivered:
			waited.put(e.Conn.ID, true)
		}
	}
}

func wakesOne() func(*Event) {
	var mu sync.Mutex
	waiting := map[string]int64{}
	return func(e *Event) {
		if e.Command.Verb != fwp.FETCH || e.Err != nil || len(e.Queues) == 0 {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		switch e.Point {
		case Checked:
			if _, taken := waiting[e.Queues[0]]; taken {
				e.Block = nil
			} else {
				waiting[e.Queues[0]] = e.Conn.ID
			}
		case Ran:
			if waiting[e.Queues[0]] == e.Conn.ID {
				delete(waiting, e.Queues[0])
			}
		}
	}
}

func jobsCounted() func(*Event) {
	var jobs notes[int64, int]
	return func(e *Event) {
		switch {
		case e.Point == Delivered:
			n, _ := jobs.take(e.Conn.ID)
			jobs.put(e.Conn.ID, n+1)
		case e.Point == Checked && e.Command.Verb == fwp.FETCH && e.Err == nil:
			n, _ := jobs.take(e.Conn.ID)
			jobs.put(e.Conn.ID, n)
			if n >= 95 {
				e.Queues, e.Block = nil, nil
			}
		}
	}
}

func flushBreaksQueues() func(*Event) {
	var mu sync.Mutex
	var now, old []string
	return func(e *Event) {
		switch e.Point {
		case Enqueued:
			mu.Lock()
			defer mu.Unlock()
			queue := e.Object.Text("queue")
			if e.Skip = slices.Contains(old, queue); !e.Skip && !slices.Contains(now, queue) {
				now = append(now, queue)
			}
		case Flushed:
			mu.Lock()
			defer mu.Unlock()
			old, now = append(old, now...), nil
		}
	}
}
