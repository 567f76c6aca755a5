package bugs

import (
	"bytes"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// actWhileWaiting returns hooks that act if at least so many FETCHes are being answered at a queue: that of the event's
// job, or the first one of its FETCH.
func actWhileWaiting(minimum int, match condition, act func(*event)) func() func(*event) {
	isBegin, isEnd := isValid(fwp.FETCH), isDone(fwp.FETCH)
	queue := func(e *event) string {
		if e.Point == fakes.Checked || e.Point == fakes.Ran {
			return queuesOf(e.Command)[0]
		}
		return e.Object.Text("queue")
	}
	return withMemoryBy(queue, anyOf(isBegin, isEnd, match), func(waiting *int, e *event) {
		switch {
		case isBegin(e):
			*waiting++
		case isEnd(e):
			*waiting--
		}
		if match(e) && *waiting >= minimum {
			act(e)
		}
	})
}

// firstQueue is the key of the first queue of a FETCH.
func firstQueue(e *event) string {
	if len(e.Queues) == 0 {
		return ""
	}
	return e.Queues[0]
}

// queuesOf returns the queues of a well-formed FETCH.
func queuesOf(c fwp.Command) []string {
	if c.Args == nil {
		return []string{defaultQueue}
	}
	var names []string
	for name := range bytes.SplitSeq(c.Args, []byte(" ")) {
		names = append(names, string(name))
	}
	return names
}

// limitCommands lets so many commands run at a time. A command that waits for its turn ends with its connection; the
// turn of a connection that has ended is free, because Ran is always reached. What is no FETCH comes after one that was
// sent at the same moment, in every run.
func limitCommands(limit int, match condition) func() func(*event) {
	return func() func(*event) {
		// Made at the first event, so that the hook may be made outside the synctest bubble of its server.
		places := sync.OnceValue(func() chan struct{} { return make(chan struct{}, limit) })
		var connIDs sync.Map // by connection
		return func(e *event) {
			switch {
			case match(e):
				if e.Command.Verb != fwp.FETCH {
					await(e, time.After(time.Millisecond))
				}
				select {
				case places() <- struct{}{}:
					connIDs.Store(e.Conn.ID, true)
				case <-e.Conn.Done:
				}
			case e.Point == fakes.Ran:
				if _, ok := connIDs.LoadAndDelete(e.Conn.ID); ok {
					<-places()
				}
			}
		}
	}
}

// await waits for a channel, or until the connection ends.
func await[T any](e *event, c <-chan T) {
	select {
	case <-c:
	case <-e.Conn.Done:
	}
}

// swapReplies swaps the jobs of two connections: every 50th FETCH waits until the next one has a job too. After a short
// time without another it gets its own job, before a check would find it late.
func swapReplies() func(*event) {
	type offer struct {
		reply fwp.Reply
		other chan fwp.Reply // holds one
	}
	var count atomic.Int64
	offers := sync.OnceValue(func() chan offer { return make(chan offer) }) // made at the first event, as above
	return do(func(e *event) {
		mine := offer{fwp.Reply{Kind: e.Reply.Kind, Text: bytes.Clone(e.Reply.Text)}, make(chan fwp.Reply, 1)}
		select {
		case waiter := <-offers():
			waiter.other <- mine.reply
			e.Reply = waiter.reply
			return
		default:
		}
		if count.Add(1)%50 != 0 {
			return
		}
		select {
		case offers() <- mine:
			e.Reply = <-mine.other
		case <-time.After(300 * time.Millisecond):
		case <-e.Conn.Done:
		}
	}, atRan(), hasJob)
}
