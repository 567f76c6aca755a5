package fakes

import (
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

func fetchFaults() []Fault {
	return []Fault{
		fault("fetch-simple", "FETCH-01",
			"a job is a simple string",
			when(Ran, fwp.FETCH, func(e *Event) {
				if e.Reply.Kind == fwp.BulkString {
					e.Reply.Kind = fwp.SimpleString
				}
			})),
		fault("fetch-error-for-none", "FETCH-03 RESP-04",
			"no job is an error",
			when(Ran, fwp.FETCH, func(e *Event) {
				if e.Reply.Kind == fwp.NullBulk {
					e.Reply = refused("no job")
				}
			})),
		fault("fetch-order", "FETCH-04",
			"the queues of a FETCH are searched from the last to the first",
			when(Checked, fwp.FETCH, func(e *Event) {
				e.Queues = slices.Clone(e.Queues)
				slices.Reverse(e.Queues)
			})),
		fault("fetch-bare", "FETCH-08",
			"a FETCH without a queue never finds a job",
			when(Checked, fwp.FETCH, func(e *Event) {
				if e.Command.Args == nil {
					e.Queues, e.Block = nil, nil
				}
			})),
		statefulFault("fetch-bare-anywhere", "FETCH-08", "a FETCH without a queue searches all queues", bareAnywhere),
	}
}

func bareAnywhere() func(*Event) {
	var mu sync.Mutex
	known := []string{defaultQueue}
	return func(e *Event) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case e.Point == Defaulted && !slices.Contains(known, e.Object.Text("queue")):
			known = append(known, e.Object.Text("queue"))
		case e.Point == Checked && e.Command.Verb == fwp.FETCH && e.Command.Args == nil:
			e.Queues = slices.Clone(known)
		}
	}
}

func blockFaults() []Fault {
	wait := func(d time.Duration) func(*Event) {
		return when(Checked, fwp.FETCH, func(e *Event) { e.Wait = d })
	}
	return []Fault{
		fault("fetch-blocks-long", "FETCH-05", "a FETCH waits for 4 s", wait(4*time.Second)),
		fault("fetch-never-blocks", "FETCH-05 FETCH-06 FETCH-14", "a FETCH does not wait", wait(0)),
		fault("fetch-sleeps", "FETCH-06 FETCH-14 PUSH-04",
			"a job that is pushed while a FETCH waits does not end the wait",
			when(Checked, fwp.FETCH, func(e *Event) { e.Block = nil })),
		statefulFault("fetch-stalls-all", "FETCH-06 FETCH-14 FETCH-05 PUSH-04 RESP-06",
			"while a FETCH waits, no other connection is served",
			stallAll),
	}
}

// stallAll lets one command run at a time. A command that waits for its turn ends with
// its connection; the turn of a connection that has ended is free, because Ran is always
// reached.
func stallAll() func(*Event) {
	// Made at the first event, so that the hook may be made outside the synctest
	// bubble of its server.
	place := sync.OnceValue(func() chan struct{} { return make(chan struct{}, 1) })
	var mine notes[int64, bool]
	return func(e *Event) {
		switch turn := place(); e.Point {
		case Parsed:
			if e.Command.Verb != fwp.FETCH { // one that was sent at the same moment comes first, in every run
				select {
				case <-time.After(time.Millisecond):
				case <-e.Conn.Done:
				}
			}
			select {
			case turn <- struct{}{}:
				mine.put(e.Conn.ID, true)
			case <-e.Conn.Done:
			}
		case Ran:
			if _, ok := mine.take(e.Conn.ID); ok {
				<-turn
			}
		}
	}
}

func reportFaults() []Fault {
	return []Fault{
		fault("ack-other-answer", "ACK-01", "an accepted ACK is answered with a number", answer(fwp.ACK, integer(1))),
		fault("ack-redelivered", "ACK-02 FETCH-03",
			"a job is enqueued again after its ACK",
			on(Acked, func(e *Event) { e.Again = true })),
		fault("ack-stays-held", "ACK-02", "a job stays held after its ACK", on(Acked, skip)),
		fault("ack-malformed-ok", "ACK-03 RESP-02",
			"an ACK without a jid is answered with OK",
			pretend(fwp.ACK, "jid")),
		fault("fail-other-answer", "FAIL-01",
			"an accepted FAIL is answered with a number",
			answer(fwp.FAIL, integer(1))),
		fault("fail-ignored", "STATE-06 STATE-09 FAIL-01", "a job stays held after its FAIL", on(Failed, skip)),
		fault("fail-malformed-ok", "FAIL-02 RESP-02",
			"a FAIL without a jid is answered with OK",
			pretend(fwp.FAIL, "jid")),
		fault("fail-malformed-counts", "FAIL-02",
			"a FAIL that is refused fails the job nevertheless",
			when(Checked, fwp.FAIL, func(e *Event) {
				if e.Err != nil && e.Conn.Identified {
					e.Skip = e.Object.Text("jid") == ""
				}
			})),
	}
}

func beatFaults() []Fault {
	return []Fault{
		fault("beat-bulk", "BEAT-01",
			"a BEAT is answered with OK in a bulk string",
			when(Ran, fwp.BEAT, func(e *Event) {
				if string(e.Reply.Text) == "OK" {
					e.Reply.Kind = fwp.BulkString
				}
			})),
		fault("beat-malformed-ok", "BEAT-02 RESP-02",
			"a BEAT without a wid is answered with OK",
			pretend(fwp.BEAT, "wid")),
		fault("beat-never-tells", "BEAT-03", "no BEAT is answered with a change of state", on(Notified, skip)),
		statefulFault("beat-tells-once", "BEAT-03", "only the first BEAT is answered with a change of state", notifyOnce),
		fault("beat-state-error", "BEAT-04 BEAT-03",
			"a change of state is sent as an error",
			when(Ran, fwp.BEAT, func(e *Event) {
				if e.Err == nil && e.State != "" {
					e.Reply.Kind = fwp.ErrorReply
				}
			})),
		fault("beat-unknown-ok", "BEAT-05",
			"a BEAT with an unknown wid is answered with OK",
			when(Ran, fwp.BEAT, func(e *Event) {
				if e.about() == AboutWorker {
					e.Err, e.Reply = nil, okay()
				}
			})),
	}
}

func notifyOnce() func(*Event) {
	var sent notes[string, bool]
	return on(Notified, func(e *Event) {
		key := e.Conn.Worker + " " + e.State
		if e.State != "" {
			_, e.Skip = sent.take(key)
			sent.put(key, true)
		}
	})
}

func commandFaults() []Fault {
	return []Fault{
		fault("info-simple", "INFO-01",
			"INFO is answered with a simple string",
			when(Ran, fwp.INFO, func(e *Event) {
				if e.Reply.Kind == fwp.BulkString {
					e.Reply.Kind = fwp.SimpleString
				}
			})),
		fault("info-arguments", "INFO-03", "INFO with an argument is served", allow(fwp.INFO, AboutArguments)),
		fault("flush-other-answer", "FLUSH-01", "FLUSH is answered with a number", answer(fwp.FLUSH, integer(1))),
		fault("flush-ignored", "FLUSH-02", "FLUSH clears nothing", on(Flushed, skip)),
		fault("flush-arguments", "FLUSH-03", "FLUSH with an argument is carried out", allow(fwp.FLUSH, AboutArguments)),
		fault("flush-refused-clears", "FLUSH-03",
			"FLUSH with an argument is refused and carried out nevertheless",
			when(Checked, fwp.FLUSH, func(e *Event) {
				if e.about() == AboutArguments && e.Conn.Identified {
					e.Skip = false
				}
			})),
		fault("flush-forgets-connections", "FLUSH-04",
			"after a FLUSH its connection is un-identified",
			when(Ran, fwp.FLUSH, func(e *Event) {
				if e.Err == nil {
					e.Conn.Identified = false
				}
			})),
		fault("end-error", "END-01",
			"END is answered with an error",
			when(Ran, fwp.END, func(e *Event) {
				if e.Close {
					e.Reply = refused("goodbye")
				}
			})),
	}
}
