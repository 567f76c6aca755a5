package fakeworker

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// laterFaults are those of a second connection, and of one that replaces a lost one. (Not Identified State; HELLO)
func laterFaults() []Fault {
	// afterLoss returns a fault of the introductions that follow a lost connection.
	afterLoss := func(name, clauses, summary string, act func(*Event)) Fault {
		return statefulFault(name, clauses, summary, after(hasLost, Introducing, act))
	}
	return []Fault{
		afterLoss("again-without-hello", "HELLO-01 STATE-02 HELLO-09 FETCH-11 BEAT-06 RESP-09 STATE-24 WRK-12",
			"It sends no HELLO when it has lost a connection.", skip),
		afterLoss("again-without-v", "HELLO-02", "Its HELLO has no v when it has lost a connection.", field("v", nil)),
		afterLoss("again-another-pid", "HELLO-12", "Its HELLO has another pid when it has lost a connection.",
			func(e *Event) { e.Fields["pid"] = e.Worker.cfg.PID + 1 }),
		afterLoss("again-as-producer", "HELLO-09 BEAT-06 BEAT-09 BEAT-10 STATE-24 STATE-15",
			"Its HELLO has no field of a worker when it has lost a connection.", func(e *Event) {
				for _, name := range []string{"wid", "hostname", "pid", "labels"} {
					delete(e.Fields, name)
				}
			}),
		statefulFault("hash-kept", "AUTH-03", "It sends the password hash of its first connection on all others.",
			func() func(*Event) {
				var mu sync.Mutex
				var first any
				return on(Introducing, func(e *Event) {
					mu.Lock()
					defer mu.Unlock()
					if first == nil {
						first = e.Fields["pwdhash"]
					}
					if first != nil {
						e.Fields["pwdhash"] = first
					}
				})
			}),
		fault("hi-in-order", "AUTH-01 AUTH-03", "It asks for i before s in HI, and takes any other HI for one without them.",
			on(Introducing, func(e *Event) {
				hi := string(e.Reply.Text)
				if strings.Index(hi, `"s"`) < strings.Index(hi, `"i"`) {
					delete(e.Fields, "pwdhash")
				}
			})),
		fault("wid-by-connection", "BEAT-06 BEAT-13 STATE-17 STATE-20 END-04",
			"Each of its connections has a wid of its own, and it sends BEAT for one of them.", func(e *Event) {
				if e.Point == Introducing && !e.Beats {
					e.Fields["wid"] = fmt.Sprintf("%s-%d", e.Worker.cfg.WID, e.Conn)
				}
			}),
		statefulFault("loss-gives-up", "FETCH-11", "It opens ten connections more for those that it lost, and then none.",
			func() func(*Event) {
				var lost atomic.Int64
				return on(Lost, func(e *Event) { e.Skip = lost.Add(1) > 9 })
			}),
	}
}

// growingFaults are those of a heartbeat that does not go on as it began. (Client Lifecycle; BEAT)
func growingFaults() []Fault {
	growing := func(name, clauses, summary string, next func(time.Duration) time.Duration) Fault {
		return statefulFault(name, clauses, summary, func() func(*Event) {
			pause := 10 * time.Second // the goroutine of BEATs alone uses it
			return on(Beating, func(e *Event) {
				e.Every = pause
				pause = next(pause)
			})
		})
	}
	return []Fault{
		growing("beat-interval-doubles", "BEAT-06 BEAT-08 STATE-19 BEAT-16",
			"Each pause between its BEATs is twice as long as the one before.",
			func(d time.Duration) time.Duration { return 2 * d }),
		growing("beat-interval-grows", "BEAT-08 BEAT-06 STATE-19 BEAT-16",
			"Each pause between its BEATs is 7 s longer than the one before.",
			func(d time.Duration) time.Duration { return d + 7*time.Second }),
		statefulFault("beat-three-only", "BEAT-06 STATE-19 BEAT-16 STATE-24 BEAT-13 STATE-20 STATE-22",
			"It sends three BEATs and no more.", func() func(*Event) {
				n := 0
				return on(Beating, func(e *Event) { n++; e.Skip = n > 3 })
			}),
		fault("beat-state-other", "BEAT-11", "The current_state of its BEATs is working, unless it has another one.",
			on(Beating, func(e *Event) {
				if e.Fields["current_state"] == nil {
					e.Fields["current_state"] = "working"
				}
			})),
		fault("beat-memory-text", "BEAT-12", "The rss_kb of its BEATs is a string.", on(Beating, field("rss_kb", "20000"))),
		fault("beat-bare-wid", "FRAME-02 FRAME-04 BEAT-06", "Its BEATs have the wid without JSON around it.",
			sent(fwp.BEAT, func(e *Event) { e.Line = fmt.Appendf(nil, "BEAT %s\r\n", e.Worker.cfg.WID) })),
		fault("state-exact", "BEAT-13 STATE-17 STATE-20 STATE-22",
			"It understands a state only if its JSON has no space.", replied(fwp.BEAT, func(e *Event) {
				if strings.Contains(string(e.Reply.Text), ": ") {
					e.Reply = fwp.Reply{Kind: fwp.SimpleString, Text: []byte("OK")}
				}
			})),
		statefulFault("state-second-only", "BEAT-13 STATE-17 STATE-20 STATE-21 STATE-22 STATE-24",
			"It takes a state for an order when it has been told twice.", func() func(*Event) {
				var told atomic.Int64
				return on(Ordered, func(e *Event) {
					e.Skip = e.State != "" && e.Signal == "" && told.Add(1) == 1
				})
			}),
		fault("terminate-not-from-quiet", "STATE-22 STATE-20 BEAT-13", "A quiet worker ignores the order to terminate.",
			on(Ordered, func(e *Event) { e.Skip = e.State == "terminate" && e.Worker.state() == "quiet" })),
		statefulFault("terminate-fails-one", "STATE-21 FETCH-09 END-04",
			"Of the jobs that still run when the time to terminate is up it reports one as failed.",
			func() func(*Event) {
				var done atomic.Bool
				return on(Ran, func(e *Event) { e.Skip = e.Outcome == Abandoned && done.Swap(true) })
			}),
		fault("terminate-fail-bare", "FAIL-05 WRK-04", "Its FAILs of jobs that still run have a jid and no other field.",
			on(Ran, func(e *Event) {
				if e.Outcome == Abandoned {
					e.Fields = Fields{"jid": e.Job.JID}
				}
			})),
		fault("terminate-fail-null", "FAIL-05", "The backtrace of its FAILs of jobs that still run is null.",
			on(Ran, func(e *Event) {
				if e.Outcome == Abandoned {
					e.Fields["backtrace"] = json.RawMessage("null")
				}
			})),
		fault("end-of-beats-only", "STATE-15", "It sends END on its connection for BEAT only.",
			on(Ending, func(e *Event) { e.Skip = !e.Beats })),
	}
}

// pausingFaults are those of a worker that asks for jobs too seldom, or in another form. (FETCH)
func pausingFaults() []Fault {
	fetch := func(name, clauses, summary, by string) Fault {
		return fault(name, clauses, summary, sent(fwp.FETCH, func(e *Event) {
			e.Line = []byte(strings.ReplaceAll(strings.Replace(string(e.Line), " ", "\x00", 1), " ", by))
			e.Line = []byte(strings.Replace(string(e.Line), "\x00", " ", 1))
		}))
	}
	return []Fault{
		fetch("fetch-two-spaces", "FRAME-04 FRAME-02", "Two spaces stand between the queues of its FETCHes.", "  "),
		statefulFault("fetch-in-batches", "FETCH-11", "It fetches no job before all that it runs have ended.", inBatches),
		fetch("fetch-commas", "WRK-11 FETCH-11 FETCH-09", "Commas stand between the queues of its FETCHes.", ","),
		statefulFault("fetch-rests", "FETCH-11", "It waits for half a minute when a FETCH has found no job.",
			func() func(*Event) {
				var mu sync.Mutex
				until := map[int]time.Time{}
				return func(e *Event) {
					mu.Lock()
					defer mu.Unlock()
					switch {
					case e.Point == Replied && e.Verb == fwp.FETCH && e.Reply.Kind == fwp.NullBulk:
						until[e.Conn] = time.Now().Add(30 * time.Second)
					case e.Point == Fetching && !e.Skip && time.Now().Before(until[e.Conn]):
						e.Skip, e.Delay = true, time.Second
					}
				}
			}),
		statefulFault("failure-ends-executor", "FETCH-11 RESP-09", "It runs one job less at a time after each that failed.",
			func() func(*Event) {
				var mu sync.Mutex
				ended := map[int]bool{}
				return func(e *Event) {
					mu.Lock()
					defer mu.Unlock()
					switch {
					case e.Point == Ran && e.Outcome == Failed:
						ended[e.Conn] = true
					case e.Point == Fetching && !e.Skip && ended[e.Conn]:
						e.Skip, e.Delay = true, time.Second
					}
				}
			}),
	}
}

// inBatches has a worker that runs as many jobs as it may wait for the end of all of them.
func inBatches() func(*Event) {
	var full atomic.Bool
	return func(e *Event) {
		switch {
		case e.Point == Delivered && e.Worker.Running()+1 >= e.Worker.cfg.Concurrency:
			full.Store(true)
		case e.Point == Fetching && !e.Skip && e.Worker.Running() == 0:
			full.Store(false)
		case e.Point == Fetching && !e.Skip && full.Load():
			e.Skip, e.Delay = true, 100*time.Millisecond
		}
	}
}
