package fakes

import (
	"encoding/json"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// moreFaults are those that show late: after a restart, when a reservation has run
// out, when a job comes back, with a long life of a connection or among many jobs.
func moreFaults() []Fault {
	return slices.Concat(restartFaults(), longLifeFaults(), goneFaults(), leakFaults(), limitFaults(), redeliveryFaults(), oddQueueFaults())
}

func restartFaults() []Fault {
	return []Fault{
		fault("restart-forgets", "STATE-08", "an orderly restart loses everything", on(Restarted, func(e *Event) {
			e.Skip = !e.Reset
		})),
		counting("restart-drops-schedule", "STATE-08", "what was scheduled or to be retried before a restart is thrown away when it comes due", beforeRestart(Scheduled, Due, func(e *Event) {
			e.Skip = true
		})),
		counting("restart-drops-held", "STATE-08", "what was held before a restart is thrown away when its reservation runs out", beforeRestart(Reserved, Expired, func(e *Event) {
			e.Set = ""
		})),
	}
}

// beforeRestart acts on jobs that come to one point after a restart and have come to
// another before it.
func beforeRestart(enter, leave Point, act func(*Event)) func() func(*Event) {
	return func() func(*Event) {
		var restarts atomic.Int64
		var entered notes[string, int64]
		return func(e *Event) {
			switch e.Point {
			case Restarted:
				restarts.Add(1)
			case enter:
				entered.put(e.Object.Text("jid"), restarts.Load())
			case leave:
				if when, ok := entered.take(e.Object.Text("jid")); ok && when < restarts.Load() {
					act(e)
				}
			}
		}
	}
}

func longLifeFaults() []Fault {
	return []Fault{
		counting("consumer-idle-closed", "STATE-13", "a consumer that has done nothing but BEAT four times is sent away", func() func(*Event) {
			var beats notes[int64, int]
			return on(Ran, func(e *Event) {
				n, _ := beats.take(e.Conn.ID)
				if e.Command.Verb == fwp.BEAT {
					beats.put(e.Conn.ID, n+1)
					e.Close = n+1 == 4
				}
			})
		}),
		fault("link-commands-counted", "LINK-03", "from the 151st command of a connection on INFO is refused", when(Judged, fwp.INFO, func(e *Event) {
			if e.Err == nil && e.Conn.Commands > 150 {
				e.Err, e.Skip = refuse(AboutLimit, "too many commands"), true
			}
		})),
		counting("push-lost-seldom", "PUSH-04", "every 5,000th PUSH is answered with OK and lost", every(5000, Defaulted, func(e *Event) { e.Skip = true })),
		counting("push-lost-rarely", "PUSH-04", "every 500th PUSH is answered with OK and lost", every(500, Defaulted, func(e *Event) { e.Skip = true })),
	}
}

// goneFaults are those of jobs whose consumer has gone away.
func goneFaults() []Fault {
	return []Fault{
		counting("waiting-job-gone", "PUSH-04", "a job that is given to a consumer which went away while it waited never comes back", waitingJobGone),
		counting("gone-consumer-job-lost", "STATE-07 STATE-08", "a reservation that runs out after its connection has ended loses the job", goneConsumer),
		counting("end-returns-jobs", "END-05 STATE-05", "END gives back what the connection holds", endReturns),
	}
}

func waitingJobGone() func(*Event) {
	var lost notes[string, bool]
	return func(e *Event) {
		switch e.Point {
		case Gone:
			e.Skip = true
		case GivenBack:
			e.Skip = true
			lost.put(e.Object.Text("jid"), true)
		case Expired:
			if gone, _ := lost.take(e.Object.Text("jid")); gone {
				e.Set = ""
			}
		}
	}
}

func goneConsumer() func(*Event) {
	var holder notes[string, <-chan struct{}]
	return func(e *Event) {
		switch e.Point {
		case Reserved:
			if e.Conn != nil {
				holder.put(e.Object.Text("jid"), e.Conn.Done)
			}
		case Expired:
			done, _ := holder.take(e.Object.Text("jid"))
			select {
			case <-done:
				e.Set = ""
			default:
			}
		}
	}
}

func endReturns() func(*Event) {
	var mu sync.Mutex
	fetched := make(map[int64][]string)
	return func(e *Event) {
		switch {
		case e.Point == Delivered:
			mu.Lock()
			defer mu.Unlock()
			fetched[e.Conn.ID] = append(fetched[e.Conn.ID], e.Object.Text("jid"))
		case e.Point == Ran && e.Command.Verb == fwp.END && e.Err == nil:
			mu.Lock()
			jids := fetched[e.Conn.ID]
			mu.Unlock()
			for _, jid := range jids {
				e.Conn.server.store.unhold(e.Conn, jid)
			}
		}
	}
}

// unhold gives a job back that nobody has reported.
func (st *store) unhold(c *Conn, jid string) {
	st.mu.Lock()
	t := st.held[jid]
	st.mu.Unlock()
	if t != nil {
		st.giveBack(&Event{Conn: c}, t)
	}
}

// leakFaults are defaults that other jobs change.
func leakFaults() []Fault {
	return []Fault{
		counting("job-reserve-follows", "WU-05", "a job that names no reserve_for is held as long as the one before", follows("reserve_for")),
		counting("job-reserve-default-unseen", "WU-05", "a job that names no reserve_for is held for 60 s, and says nothing of it", reserveUnseen),
		counting("job-backtrace-follows", "WU-08", "a job that names no backtrace keeps as many lines as the one before", follows("backtrace")),
		counting("job-retry-mixed", "WU-07", "every 50th job gets the retry of an earlier one", retryMixed),
		counting("job-retry-follows-unseen", "RETRY-04 WU-07", "a job that names no retry is not tried again if the one before was not to be", retryFollowsUnseen),
	}
}

// follows gives a job that leaves a field out the value of the last job that had it.
func follows(field string) func() func(*Event) {
	return func() func(*Event) {
		var last notes[string, json.RawMessage]
		return when(Judged, fwp.PUSH, func(e *Event) {
			if e.Err != nil {
				return
			}
			value := given(e.Object, field)
			if value == nil {
				if value, _ = last.take(field); value == nil {
					return
				}
				e.Object.Set(field, string(value))
			}
			last.put(field, slices.Clone(value))
		})
	}
}

func retryMixed() func(*Event) {
	var mu sync.Mutex
	var count, last, other int64
	return when(Judged, fwp.PUSH, func(e *Event) {
		n, ok := e.Object.Int("retry")
		if e.Err != nil || !ok {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if n != last {
			last, other = n, last
		}
		if count++; count%50 == 0 {
			e.Object.Set("retry", itoa(other))
		}
	})
}

func reserveUnseen() func(*Event) {
	var silent notes[string, bool]
	return func(e *Event) {
		switch {
		case e.Point == Judged && e.Command.Verb == fwp.PUSH && given(e.Object, "reserve_for") == nil:
			silent.put(e.Object.Text("jid"), true)
		case e.Point == Reserved:
			if is, _ := silent.take(e.Object.Text("jid")); is {
				e.Until = time.Now().Add(time.Minute)
			}
		}
	}
}

// retryFollowsUnseen leaves the field as it is: only what becomes of the job tells.
func retryFollowsUnseen() func(*Event) {
	var last atomic.Int64
	last.Store(defaultRetry)
	var doomed notes[string, bool]
	return func(e *Event) {
		switch {
		case e.Point == Judged && e.Command.Verb == fwp.PUSH && e.Err == nil:
			if n, ok := e.Object.Int("retry"); ok {
				last.Store(n)
			} else {
				doomed.put(e.Object.Text("jid"), last.Load() <= 0)
			}
		case e.Point == Failed:
			if is, _ := doomed.take(e.Object.Text("jid")); is {
				e.Set = ""
			}
		}
	}
}

func limitFaults() []Fault {
	move := func(retry int64, to string) func(*Event) {
		return on(Failed, func(e *Event) {
			if n, ok := e.Object.Int("retry"); ok && n == retry {
				e.Set = to
			}
		})
	}
	return []Fault{
		fault("retry-negative-kept", "RETRY-02", "a failed job with retry -1 is tried again", move(-1, "retries")),
		fault("retry-once-ignored", "WU-07", "a failed job with retry 1 is not tried again", move(1, "dead")),
		fault("retry-default-none", "WU-07 RETRY-04", "a job that names no retry is discarded when it fails", omitted("retry", "0")),
		fault("backtrace-line-short", "WU-09", "one line of a backtrace less is kept than the job says", when(Defaulted, fwp.PUSH, func(e *Event) {
			if n, _ := e.Object.Int("backtrace"); n > 1 {
				e.Object.Set("backtrace", itoa(n-1))
			}
		})),
		fault("backtrace-whole", "WU-09", "all lines of a backtrace are kept if the job asks for some", when(Defaulted, fwp.PUSH, func(e *Event) {
			if n, _ := e.Object.Int("backtrace"); n > 0 {
				e.Object.Set("backtrace", "30")
			}
		})),
	}
}

// redeliveryFaults are about what a job says that comes back.
func redeliveryFaults() []Fault {
	return []Fault{
		counting("job-enqueued-at-stale", "WU-12", "enqueued_at stays that of the first time", first(Delivered, "enqueued_at")),
		counting("job-failure-first", "WU-13", "failure stays that of the first time", first(Failed, "failure")),
		fault("job-failure-not-expired", "WU-13", "a job whose reservation ran out has no failure", on(Expired, func(e *Event) {
			e.Object.Delete("failure")
		})),
	}
}

// first has a field keep the value that it had when its job came to a point first.
func first(p Point, field string) func() func(*Event) {
	return func() func(*Event) {
		var values notes[string, json.RawMessage]
		return on(p, func(e *Event) {
			jid := e.Object.Text("jid")
			value, ok := values.take(jid)
			if ok {
				e.Object.Set(field, string(value))
			} else {
				value = slices.Clone(e.Object.Get(field))
			}
			values.put(jid, value)
		})
	}
}

var plainQueue = regexp.MustCompile(`^[a-z0-9-]+$`)

// oddQueueFaults are those of queues whose names nobody would choose.
func oddQueueFaults() []Fault {
	return []Fault{
		fault("schedule-odd-queue", "PUSH-04", "a scheduled job of a queue with an odd name is thrown away when it comes due", on(Due, func(e *Event) {
			e.Skip = !plainQueue.MatchString(e.Object.Text("queue"))
		})),
		fault("schedule-queue-spaces", "WU-16 PUSH-04", "a queue name with a space is taken if the job is scheduled", when(Judged, fwp.PUSH, func(e *Event) {
			if at, ok := asTime(e.Object.Get("at")); ok && at.After(time.Now()) && e.about() == "queue" && e.Object.Text("queue") != "" {
				e.Err, e.Skip = nil, false
			}
		})),
	}
}
