package fakes

import (
	"bytes"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// situationFaults show in one situation only: with one kind of name, at one time, or beside another client.
func situationFaults() []Fault {
	return slices.Concat(
		situationHelloFaults(), situationEarlyFaults(), situationNowFaults(), situationWaitFaults(), situationLateFaults(),
		situationSeldomFaults(),
	)
}

func situationHelloFaults() []Fault {
	return []Fault{
		fault("hello-pid-large-refused", "HELLO-16",
			"a pid above 65,535 is declined",
			when(Checked, fwp.HELLO, func(e *Event) {
				if n, ok := e.Object.Int("pid"); ok && n > 65535 {
					e.decline("pid", "the pid is too large")
				}
			})),
		statefulFault("auth-known-worker", "AUTH-04",
			"the hash of a worker that was accepted before is not checked",
			func() func(*Event) {
				var known notes[string, bool]
				return when(Checked, fwp.HELLO, func(e *Event) {
					wid := e.Object.Text("wid")
					if wid == "" {
						return
					}
					_, is := known.take(wid)
					if e.Err == nil || is {
						known.put(wid, true)
					}
					if is && e.about() == "pwdhash" {
						e.accept()
					}
				})
			}),
	}
}

func situationEarlyFaults() []Fault {
	return []Fault{
		fault("state-fetch-before-hello", "STATE-01 AUTH-06",
			"a FETCH before HELLO is refused, and takes a job",
			when(Ran, fwp.FETCH, func(e *Event) {
				if e.about() == AboutState && !e.Conn.Identified {
					for _, q := range queuesOf(e.Command) {
						for _, s := range e.Conn.server.store.Jobs() {
							if s.Job.queue == q && e.Conn.server.store.Purge(s.Job.jid) {
								return
							}
						}
					}
				}
			})),
	}
}

func situationNowFaults() []Fault {
	return []Fault{
		fault("job-at-now-lost", "WU-06 WU-04",
			"a job whose at is less than a second ago or ahead is answered with OK and lost",
			on(Defaulted, func(e *Event) {
				if at, ok := asTime(e.Object.Get("at")); ok {
					if d := time.Until(at); d < time.Second && d > -time.Second {
						e.Skip = true
					}
				}
			})),
	}
}

func situationWaitFaults() []Fault {
	return []Fault{
		statefulFault("fetch-second-waiter-null", "FETCH-05",
			"a FETCH of a queue at which another one waits is answered with null at once",
			whileWaiting(func(w *waits, e *Event) {
				if e.Point == Checked && e.Command.Verb == fwp.FETCH && e.Err == nil && w.count(queuesOf(e.Command)[0]) > 1 {
					e.Wait = 0
				}
			})),
		fault("beat-state-word", "BEAT-03",
			"the state of a worker that is to terminate is stop",
			on(Notified, func(e *Event) {
				if e.State == "terminate" {
					e.State = "stop"
				}
			})),
		fault("beat-state-member", "BEAT-03 BEAT-04",
			"a change of state is in a member that is called current_state",
			when(Ran, fwp.BEAT, func(e *Event) {
				e.Reply.Text = bytes.Replace(e.Reply.Text, []byte(`"state"`), []byte(`"current_state"`), 1)
			})),
	}
}

func situationLateFaults() []Fault {
	return []Fault{
		fault("beat-signal-gone", "BEAT-03",
			"a signal is forgotten when another connection of the worker greets",
			when(Ran, fwp.HELLO, func(e *Event) {
				if wid := e.Conn.Worker; e.Err == nil && wid != "" {
					ws := &e.Conn.server.workers
					ws.mu.Lock()
					defer ws.mu.Unlock()
					if w := ws.byWID[wid]; w != nil {
						w.signal = running
					}
				}
			})),
		statefulFault("worker-ids-cut", "BEAT-01",
			"a signal for a worker is for all whose ids have the same 40 first bytes",
			signalFor(func(a, b string) bool { return a[:min(len(a), 40)] == b[:min(len(b), 40)] })),
		statefulFault("ack-slow-lost", "WU-05 ACK-02",
			"an ACK that comes more than 5 s after the FETCH is answered with OK and has no effect",
			lateReports(fwp.ACK, 5*time.Second)),
		statefulFault("fail-slow-lost", "STATE-09",
			"a FAIL that comes more than 5 s after the FETCH is answered with OK and has no effect",
			lateReports(fwp.FAIL, 5*time.Second)),
	}
}

func situationSeldomFaults() []Fault {
	return []Fault{
		statefulFault("push-refused-seldom", "LINK-03 PUSH-01",
			"every 97th PUSH is refused",
			func() func(*Event) {
				var n atomic.Int64
				return when(Checked, fwp.PUSH, func(e *Event) {
					if e.Err == nil && n.Add(1)%97 == 0 {
						e.decline(AboutLimit, "busy")
					}
				})
			}),
	}
}

func lateReports(verb string, after time.Duration) func() func(*Event) {
	return func() func(*Event) {
		var since notes[string, time.Time]
		return func(e *Event) {
			switch {
			case e.Point == Delivered:
				since.put(e.Object.Text("jid"), time.Now())
			case e.Point == Checked && e.Command.Verb == verb && e.Err == nil:
				if t, is := since.take(e.Object.Text("jid")); is && time.Since(t) > after {
					e.Skip = true
				}
			}
		}
	}
}
