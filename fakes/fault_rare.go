package fakes

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// rareFaults are about what goes wrong once in so many times.
func rareFaults() []Fault {
	return []Fault{
		statefulFault("ack-ignored-seldom", "ACK-02",
			"every 40th ACK is answered with OK and has no effect",
			every(40, Acked, skip)),
		statefulFault("job-args-seldom-reversed", "WU-03 FETCH-01",
			"every 60th job is delivered with its args in reverse order",
			every(60, Delivered, func(e *Event) { reverseArgs(e.Object) })),
		fault("line-of-a-page", "RESP-06",
			"a line of 4,096 or 65,536 bytes is not answered",
			on(Ran, func(e *Event) {
				if n := len(e.Line) + len("\r\n"); n == 4096 || n == 65536 {
					e.Reply = fwp.Reply{}
				}
			})),
	}
}

// strictFaults accept a line of one verb only that breaks the syntax.
func strictFaults() []Fault {
	behind := func(verb string) func(*Event) { // two spaces count as one
		return on(LineRead, func(e *Event) {
			if rest, is := bytes.CutPrefix(e.Line, []byte(verb+"  ")); is {
				e.Line = slices.Concat([]byte(verb+" "), rest)
			}
		})
	}
	ends := func(verb string) func(*Event) {
		return on(LineRead, func(e *Event) {
			if bytes.HasPrefix(e.Line, []byte(verb+" ")) {
				e.Line = bytes.TrimRight(e.Line, " ")
			}
		})
	}
	return []Fault{
		fault("line-tab", "FRAME-03", "a tab behind a verb counts as a space", on(LineRead, func(e *Event) {
			if i := bytes.IndexByte(e.Line, '\t'); i > 0 && !bytes.Contains(e.Line[:i], []byte(" ")) {
				e.Line = slices.Clone(e.Line)
				e.Line[i] = ' '
			}
		})),
		fault("line-push-spaces", "FRAME-03", "two spaces behind PUSH are accepted", behind(fwp.PUSH)),
		fault("line-ack-spaces", "FRAME-03", "two spaces behind ACK are accepted", behind(fwp.ACK)),
		fault("line-fetch-spaces", "FRAME-03", "two spaces behind FETCH are accepted", behind(fwp.FETCH)),
		fault("line-fetch-ends", "FRAME-03", "spaces behind the last queue of a FETCH are accepted", ends(fwp.FETCH)),
		fault("line-push-ends", "FRAME-03", "spaces behind the job of a PUSH are accepted", ends(fwp.PUSH)),
		fault("line-fail-ends", "FRAME-03", "spaces behind the argument of a FAIL are accepted", ends(fwp.FAIL)),
		fault("line-push-lower-case", "FRAME-03", "push is accepted in lower case", on(LineRead, func(e *Event) {
			if rest, is := bytes.CutPrefix(e.Line, []byte("push ")); is {
				e.Line = slices.Concat([]byte("PUSH "), rest)
			}
		})),
		fault("end-arguments", "FRAME-03", "END with an argument is carried out", when(Parsed, fwp.END, func(e *Event) {
			e.Command.Args = nil
		})),
		fault("hello-spaces", "FRAME-03", "two spaces behind HELLO are accepted", behind(fwp.HELLO)),
	}
}

// companyFaults are about several connections, of one worker or of several.
func companyFaults() []Fault {
	return []Fault{
		statefulFault("reserve-quiet-lost", "STATE-07",
			"a reservation that runs out while its worker is quiet loses the job",
			quietLoses),
		statefulFault("end-finishes-jobs", "STATE-07 END-05 ACK-01",
			"END discards the jobs that its connection holds",
			inHand(func(h *hands, e *Event) {
				if ended(e) {
					finish(e, h.on(e))
				}
			})),
		statefulFault("end-finishes-others", "HELLO-11 STATE-07 ACK-01",
			"END discards the jobs that other connections of its worker hold",
			inHand(func(h *hands, e *Event) {
				if ended(e) {
					finish(e, h.of(func(one hand) bool { return one.worker == e.Conn.Worker && one.conn != e.Conn.ID }))
				}
			})),
		statefulFault("end-finishes-neighbours", "STATE-07 ACK-01",
			"END discards the jobs that other workers hold",
			inHand(func(h *hands, e *Event) {
				if ended(e) {
					finish(e, h.of(func(one hand) bool { return one.worker != e.Conn.Worker }))
				}
			})),
		statefulFault("fetch-once-a-worker", "FETCH-06 HELLO-11 FETCH-01",
			"while a FETCH of a worker waits, those of its other connections find nothing",
			oneFetchEach),
	}
}

func quietLoses() func(*Event) {
	var holder notes[string, *Conn]
	return func(e *Event) {
		switch {
		case e.Point == Reserved && e.Conn != nil:
			holder.put(e.Object.Text("jid"), e.Conn)
		case e.Point == Expired:
			if c, is := holder.take(e.Object.Text("jid")); is && c.server.workers.isQuiet(c.Worker) {
				e.Set = ""
			}
		}
	}
}

func oneFetchEach() func(*Event) {
	var mu sync.Mutex
	waiting := map[string]int64{} // the connection by worker
	return func(e *Event) {
		if e.Conn == nil || e.Command.Verb != fwp.FETCH || e.Conn.Worker == "" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		switch e.Point {
		case Checked:
			if other, is := waiting[e.Conn.Worker]; is && other != e.Conn.ID {
				e.Queues, e.Block = nil, nil
			} else {
				waiting[e.Conn.Worker] = e.Conn.ID
			}
		case Ran:
			if waiting[e.Conn.Worker] == e.Conn.ID {
				delete(waiting, e.Conn.Worker)
			}
		}
	}
}

// laterFaults are about what works until something else has happened.
func laterFaults() []Fault {
	return []Fault{
		statefulFault("flush-stops-schedule", "STATE-11 FLUSH-02",
			"a job that is scheduled after a FLUSH never comes due", afterFlush("scheduled")),
		statefulFault("flush-stops-retries", "STATE-09",
			"a job that fails after a FLUSH is never retried", afterFlush("retries")),
		statefulFault("retry-default-one", "RETRY-04 WU-07",
			"a job without retry is retried once", func() func(*Event) {
				var failed notes[string, bool]
				return on(Failed, func(e *Event) {
					if n, is := e.Object.Int("retry"); !is || n == 25 {
						if before, _ := failed.take(e.Object.Text("jid")); before {
							e.Set = "dead"
						}
						failed.put(e.Object.Text("jid"), true)
					}
				})
			}),
		statefulFault("fetch-refused-deaf", "STATE-12",
			"after a FETCH that was refused the next one of its connection finds nothing", func() func(*Event) {
				var deaf notes[int64, bool]
				return when(Checked, fwp.FETCH, func(e *Event) {
					is, _ := deaf.take(e.Conn.ID)
					switch {
					case e.Err != nil && e.Conn.Identified:
						deaf.put(e.Conn.ID, true)
					case is && e.Err == nil:
						e.Queues, e.Block = nil, nil
					}
				})
			}),
		fault("fetch-second-late", "FETCH-04 FETCH-05 FETCH-14",
			"a job in the second queue of a FETCH is delivered when the wait is over",
			when(Delivered, fwp.FETCH, func(e *Event) {
				if len(e.Queues) > 1 && e.Object.Text("queue") != e.Queues[0] {
					e.Delay = 1900 * time.Millisecond
				}
			})),
		statefulFault("reserve-of-the-first", "WU-05 STATE-07 FAIL-02",
			"a job is held as long as the one that its connection fetched first", firstReservation),
	}
}

// afterFlush loses the jobs that come to a set after a FLUSH.
func afterFlush(set string) func() func(*Event) {
	return func() func(*Event) {
		var mu sync.Mutex
		flushed := false
		return func(e *Event) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case e.Point == Flushed:
				flushed = true
			case e.Point == Due && e.Set == set && flushed:
				e.Skip = true
			}
		}
	}
}

func firstReservation() func(*Event) {
	var mu sync.Mutex
	first := map[int64]int64{}
	return on(Reserved, func(e *Event) {
		if e.Conn == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		n, is := e.Object.Int("reserve_for")
		if !is {
			n = 1800
		}
		if first[e.Conn.ID] == 0 {
			first[e.Conn.ID] = n
		}
		e.Until = e.Until.Add(time.Duration(first[e.Conn.ID]-n) * time.Second)
	})
}
