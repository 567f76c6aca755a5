package fakes

import (
	"bytes"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fwp"
)

// returnFaults are about jobs that come back, and jobs that were scheduled.
func returnFaults() []Fault {
	return []Fault{
		statefulFault("reserve-renewed-by-beat", "STATE-07 WU-05",
			"a job stays held as long as its worker sends BEATs", renewedByBeat),
		fault("reserve-from-queue", "WU-05",
			"a reservation counts from when its job was enqueued",
			on(Reserved, func(e *Event) {
				if at, ok := asTime(e.Object.Get("enqueued_at")); ok {
					e.Until = e.Until.Add(-time.Since(at))
				}
			})),
		fault("retry-drops-reserve", "STATE-07",
			"a job that failed before is held for 1800 s",
			on(Reserved, func(e *Event) {
				if e.Object.Get("failure") != nil {
					e.Until = time.Now().Add(1800 * time.Second)
				}
			})),
		statefulFault("schedule-drops-reserve", "STATE-07",
			"a job that was scheduled is held for 1800 s",
			wasScheduled(Reserved, func(e *Event) { e.Until = time.Now().Add(1800 * time.Second) })),
		statefulFault("schedule-drops-retry", "RETRY-01",
			"a job that was scheduled is retried whatever its retry is",
			wasScheduled(Failed, func(e *Event) { e.Set, e.Until = "retries", time.Now().Add(16*time.Second) })),
		fault("retry-drops-backtrace", "WU-09",
			"a job that failed comes back with a backtrace of 0",
			on(Failed, func(e *Event) { e.Object.Set("backtrace", "0") })),
		statefulFault("retry-once-less", "WU-07 STATE-09 RETRY-03",
			"a job is tried again once less than its retry says, if that is 2 or more", onceLess),
		fault("ack-again-returns", "ACK-02",
			"a job that failed before is enqueued again after its ACK",
			on(Acked, func(e *Event) { e.Again = e.Object.Get("failure") != nil })),
	}
}

// keptFaults are about jobs whose client, or whose server, has ended meanwhile.
func keptFaults() []Fault {
	return []Fault{
		statefulFault("schedule-with-its-connection", "PUSH-04 STATE-08",
			"a scheduled job is discarded when it comes due if the connection of its PUSH has ended",
			ifGone(Defaulted, due("scheduled"), skip)),
		statefulFault("restart-doubles", "STATE-05",
			"a job that was enqueued before a restart is delivered twice after it",
			beforeRestart(Enqueued, Delivered, func(e *Event) { e.Again = true })),
		statefulFault("restart-returns-done", "ACK-02",
			"the jobs that were acknowledged before a restart are enqueued after it", returnsDone),
	}
}

// renewedByBeat keeps a job for ever if its worker has sent a BEAT within a minute.
func renewedByBeat() func(*Event) {
	var mu sync.Mutex
	beat, holder := map[string]time.Time{}, map[string]string{}
	return func(e *Event) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case e.Point == Reserved && e.Conn != nil:
			holder[e.Object.Text("jid")] = e.Conn.Worker
		case e.Point == Ran && e.Command.Verb == fwp.BEAT && e.Err == nil:
			beat[e.Conn.Worker] = time.Now()
		case e.Point == Expired:
			e.Skip = time.Since(beat[holder[e.Object.Text("jid")]]) < time.Minute
		}
	}
}

// wasScheduled acts on jobs that were scheduled once.
func wasScheduled(p Point, act func(*Event)) func() func(*Event) {
	return func() func(*Event) {
		var scheduled notes[string, bool]
		return func(e *Event) {
			switch {
			case e.Point == Scheduled && e.Set == "scheduled":
				scheduled.put(e.Object.Text("jid"), true)
			case e.Point == p:
				if is, _ := scheduled.take(e.Object.Text("jid")); is {
					scheduled.put(e.Object.Text("jid"), true)
					act(e)
				}
			}
		}
	}
}

func onceLess() func(*Event) {
	var failures notes[string, int64]
	return on(Failed, func(e *Event) {
		n, _ := failures.take(e.Object.Text("jid"))
		failures.put(e.Object.Text("jid"), n+1)
		if most, _ := e.Object.Int("retry"); most >= 2 && n+1 >= most {
			e.Set = "dead"
		}
	})
}

func returnsDone() func(*Event) {
	var mu sync.Mutex
	var done, back [][]byte
	return func(e *Event) {
		mu.Lock()
		defer mu.Unlock()
		switch e.Point {
		case Acked:
			done = append(done, bytes.Clone(e.Object.text()))
		case Restarted:
			back, done = done, nil
		case Greeting:
			units := back
			back = nil
			mu.Unlock()
			for _, unit := range units {
				_ = e.Conn.server.Push(unit)
			}
			mu.Lock()
		}
	}
}

// turnFaults are about which FETCH gets which job, and about what depends on the kind of client, or on its past.
func turnFaults() []Fault {
	return []Fault{
		statefulFault("fetch-both-that-wait", "STATE-05",
			"a job that ends the wait of one FETCH is delivered to another one that waits there, too", bothWaiting),
		statefulFault("fetch-oldest-queue", "FETCH-04",
			"a FETCH returns the oldest job of all of its queues", oldestQueue),
		statefulFault("fetch-rotates", "FETCH-04",
			"each FETCH of a connection begins with the next one of its queues", rotates),
		fault("fetch-waits-on-last", "FETCH-06",
			"a FETCH waits at the last of its queues",
			when(Checked, fwp.FETCH, func(e *Event) {
				if e.Err == nil && len(e.Queues) > 0 {
					e.Block = e.Queues[len(e.Queues)-1:]
				}
			})),
		fault("push-quiet-lost", "PUSH-04",
			"a PUSH of a worker that knows that it is to be quiet is answered with OK and lost",
			on(Defaulted, func(e *Event) { e.Skip = e.Conn.server.workers.isQuiet(e.Conn.Worker) })),
		fault("beat-memory-untold", "BEAT-03",
			"a BEAT with rss_kb is not answered with a change of state",
			on(Notified, func(e *Event) { e.Skip = e.Object.Get("rss_kb") != nil })),
		statefulFault("hello-worker-once", "HELLO-16",
			"a HELLO with the wid of a worker that has sent END is declined", workerOnce),
		fault("info-null-without-jobs", "INFO-01",
			"INFO is null as long as there are no jobs",
			when(Ran, fwp.INFO, func(e *Event) {
				if e.Err == nil && e.Conn.server.store.Sizes().Jobs == 0 {
					e.Reply = null()
				}
			})),
	}
}

// bothWaiting acts where a FETCH has waited while another one waited at the same queue.
func bothWaiting() func(*Event) {
	var mu sync.Mutex
	began, waiting := map[int64]time.Time{}, map[string]int{}
	return func(e *Event) {
		if e.Command.Verb != fwp.FETCH || e.Err != nil || e.Conn == nil || len(e.Queues) == 0 {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		switch e.Point {
		case Checked:
			began[e.Conn.ID] = time.Now()
			waiting[e.Queues[0]]++
		case Delivered:
			e.Again = time.Since(began[e.Conn.ID]) > 10*time.Millisecond && waiting[e.Queues[0]] > 1
		case Ran:
			waiting[e.Queues[0]]--
		}
	}
}

func oldestQueue() func(*Event) {
	var mu sync.Mutex
	var all []string // the queues of the jobs, in the order of their entrance
	return func(e *Event) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case e.Point == Enqueued:
			all = append(all, e.Object.Text("queue"))
		case e.Point == Reserved:
			if i := slices.Index(all, e.Object.Text("queue")); i >= 0 {
				all = slices.Delete(all, i, i+1)
			}
		case e.Point == Checked && e.Command.Verb == fwp.FETCH && e.Err == nil:
			age := func(queue string) uint { return uint(slices.Index(all, queue)) } // of none it is the greatest
			sorted := slices.Clone(e.Queues)
			slices.SortStableFunc(sorted, func(a, b string) int {
				switch {
				case age(a) < age(b):
					return -1
				case age(a) > age(b):
					return 1
				}
				return 0
			})
			e.Queues = sorted
		}
	}
}

func rotates() func(*Event) {
	var fetches notes[int64, int]
	return when(Checked, fwp.FETCH, func(e *Event) {
		if e.Err != nil || len(e.Queues) < 2 {
			return
		}
		n, _ := fetches.take(e.Conn.ID)
		fetches.put(e.Conn.ID, n+1)
		n %= len(e.Queues)
		e.Queues = slices.Concat(e.Queues[n:], e.Queues[:n])
	})
}

func workerOnce() func(*Event) {
	var ended notes[string, bool]
	return func(e *Event) {
		switch {
		case e.Point == Ran && e.Command.Verb == fwp.END && e.Conn.Worker != "":
			ended.put(e.Conn.Worker, true)
		case e.Point == Checked && e.Command.Verb == fwp.HELLO && e.Err == nil:
			if is, _ := ended.take(e.Object.Text("wid")); is {
				ended.put(e.Object.Text("wid"), true)
				e.decline("wid", "this worker has ended")
			}
		}
	}
}

// pieceFaults are about where lines and segments end.
func pieceFaults() []Fault {
	return []Fault{
		fault("line-separators", "FRAME-09",
			"U+2028, U+2029 and U+0085 end a line",
			on(LineRead, func(e *Event) {
				if i := bytes.IndexAny(e.Line, "\u2028\u2029\u0085"); i >= 0 {
					e.Line = e.Line[:i]
				}
			})),
		fault("line-cr-apart", "FRAME-05 LINK-02",
			"a CR at the end of a segment is read as a space",
			on(Received, func(e *Event) {
				if n := len(e.Bytes); n > 0 && e.Bytes[n-1] == '\r' {
					e.Bytes[n-1] = ' '
				}
			})),
		statefulFault("line-character-cut", "FRAME-05 LINK-02",
			"the bytes of a character that arrives in two segments become question marks", characterCut),
	}
}

func characterCut() func(*Event) {
	var open notes[int64, bool] // the last segment ended within a character
	return on(Received, func(e *Event) {
		b := e.Bytes
		cut, _ := open.take(e.Conn.ID)
		for i := 0; cut && i < len(b) && !utf8.RuneStart(b[i]); i++ {
			b[i] = '?'
		}
		last := len(b) - 1
		for last >= 0 && !utf8.RuneStart(b[last]) {
			last--
		}
		if last >= 0 && !utf8.FullRune(b[last:]) {
			for i := last; i < len(b); i++ {
				b[i] = '?'
			}
			cut = true
		} else {
			cut = cut && last < 0
		}
		open.put(e.Conn.ID, cut)
	})
}
