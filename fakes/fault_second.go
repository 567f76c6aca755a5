package fakes

import (
	"slices"
	"sync"

	"github.com/fwpsuite/fwp/fwp"
)

// secondFaults are about what happens the second time, or after something else.
func secondFaults() []Fault {
	return []Fault{
		statefulFault("push-with-its-connection", "PUSH-01",
			"the only job of a client that is no consumer cannot be fetched when the connection of its PUSH has ended",
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
		statefulFault("link-jobs-counted", "LINK-03 FETCH-04",
			"a connection that has pushed and fetched 95 jobs gets no more", jobsCounted),
		statefulFault("state-push-after-beat", "STATE-03",
			"a PUSH is refused on a connection whose first command behind HELLO was a BEAT", pushAfterBeat),
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
	type source struct {
		done <-chan struct{}
		conn int64
	}
	var from notes[string, source]
	var pushed notes[int64, int]
	return func(e *Event) {
		switch {
		case e.Point == Defaulted && e.Conn.Worker == "":
			n, _ := pushed.take(e.Conn.ID)
			pushed.put(e.Conn.ID, n+1)
			from.put(e.Object.Text("jid"), source{e.Conn.Done, e.Conn.ID})
		case e.Point == Delivered:
			of, known := from.take(e.Object.Text("jid"))
			if !known {
				return
			}
			n, _ := pushed.take(of.conn)
			pushed.put(of.conn, n)
			select {
			case <-of.done:
				e.Skip = n == 1
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
	var pushed, fetched notes[int64, int]
	add := func(count *notes[int64, int], e *Event, more int) int {
		n, _ := count.take(e.Conn.ID)
		count.put(e.Conn.ID, n+more)
		return n + more
	}
	return func(e *Event) {
		switch {
		case e.Point == Defaulted:
			add(&pushed, e, 1)
		case e.Point == Delivered:
			add(&fetched, e, 1)
		case e.Point == Checked && e.Command.Verb == fwp.FETCH && e.Err == nil:
			if add(&pushed, e, 0) >= 95 && add(&fetched, e, 0) >= 95 {
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

func pushAfterBeat() func(*Event) {
	var first notes[int64, string]
	return on(Checked, func(e *Event) {
		if !e.Conn.Identified || e.Command.Verb == fwp.HELLO {
			return
		}
		verb, known := first.take(e.Conn.ID)
		if !known {
			verb = e.Command.Verb
		}
		first.put(e.Conn.ID, verb)
		if verb == fwp.BEAT && e.Command.Verb == fwp.PUSH {
			e.decline(AboutState, "the order is another one")
		}
	})
}
