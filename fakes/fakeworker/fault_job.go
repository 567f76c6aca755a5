package fakeworker

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// fetchFaults are about FETCH. (FETCH)
func fetchFaults() []Fault {
	return []Fault{
		statefulFault("one-job-at-a-time", "FETCH-11", "It runs one job at a time, whatever its concurrency is.",
			func() func(*Event) {
				var busy atomic.Int64
				return func(e *Event) {
					if e.Point == Fetching && !e.Skip && !busy.CompareAndSwap(0, int64(e.Conn)) && busy.Load() != int64(e.Conn) {
						e.Skip, e.Delay = true, 100*time.Millisecond
					}
				}
			}),
		fault("fetch-default-only", "WRK-11", "It fetches from the queue default, whatever its queues are.",
			on(Fetching, func(e *Event) { e.Queues = []string{"default"} })),
		fault("fetch-first-queue-only", "WRK-11", "It fetches from the first of its queues only.",
			on(Fetching, func(e *Event) { e.Queues = e.Queues[:1] })),
	}
}

// reportFaults are about the reports on jobs. (ACK; FAIL)
func reportFaults() []Fault {
	ran := func(name, clauses, summary string, act func(*Event)) Fault {
		return fault(name, clauses, summary, on(Ran, act))
	}
	failed := func(name, clauses, summary string, act func(*Event)) Fault {
		return ran(name, clauses, summary, func(e *Event) {
			if e.Outcome != Succeeded {
				act(e)
			}
		})
	}
	unknown := func(act func(*Event)) func(*Event) {
		return func(e *Event) {
			if !strings.HasPrefix(e.Job.Type, "fwp.") || e.Job.Type == "fwp.unknown" {
				act(e)
			}
		}
	}
	ack := func(e *Event) { e.Verb, e.Fields = fwp.ACK, Fields{"jid": e.Job.JID} }
	return []Fault{
		ran("report-never", "FETCH-09 END-04 STATE-21", "It reports no job.", skip),
		ran("ack-never", "FETCH-09 END-04 STATE-21", "It reports no job that succeeded.",
			func(e *Event) { e.Skip = e.Outcome == Succeeded }),
		ran("fail-never", "FETCH-09 END-04 STATE-21", "It reports no job that failed.",
			func(e *Event) { e.Skip = e.Outcome != Succeeded }),
		ran("report-twice", "FETCH-10", "It reports each job twice.", func(e *Event) { e.Again = true }),
		fault("job-runs-twice", "FETCH-10", "It runs each job twice.", on(Delivered, func(e *Event) { e.Again = true })),
		failed("failure-acknowledged", "ACK-05 WRK-07", "It acknowledges a job that failed.", ack),
		ran("success-reported-as-failure", "FAIL-04", "It reports a job as failed that succeeded.", func(e *Event) {
			if e.Outcome == Succeeded {
				e.Verb = fwp.FAIL
				e.Fields["errtype"], e.Fields["message"], e.Fields["backtrace"] = "Error", "none", []string{}
			}
		}),
		fault("ack-before-run", "WRK-07 FETCH-10 ACK-05 FAIL-04 FETCH-11", "It acknowledges a job before it runs it.",
			both(
				on(Delivered, func(e *Event) { e.Worker.say(fwp.ACK, Fields{"jid": e.Job.JID}) }),
				on(Ran, skip))),
		statefulFault("report-lost-seldom", "FETCH-09 END-04 STATE-21", "It forgets the report of every tenth job.",
			func() func(*Event) {
				var n atomic.Int64
				return on(Ran, func(e *Event) { e.Skip = n.Add(1)%10 == 0 })
			}),
		ran("ack-more-fields", "ACK-06", "Its ACKs have the job type too.",
			func(e *Event) { e.Fields["jobtype"] = e.Job.Type }),
		failed("fail-without-errtype", "FAIL-05 WRK-04", "Its FAILs have no errtype.", field("errtype", nil)),
		failed("fail-without-message", "FAIL-05 WRK-04", "Its FAILs have no message.", field("message", nil)),
		failed("fail-message-empty", "WRK-04", "All fields of its FAILs but the jid are empty.", func(e *Event) {
			e.Fields["errtype"], e.Fields["message"], e.Fields["backtrace"] = "", "", []string{}
		}),
		failed("fail-message-null", "FAIL-05", "The message of a FAIL is null if the job gave none.", func(e *Event) {
			if e.Fields["message"] == "" {
				e.Fields["message"] = json.RawMessage("null")
			}
		}),
		failed("empty-failure-acknowledged", "ACK-05", "It acknowledges a failure without a message.", func(e *Event) {
			if e.Fields["message"] == "" {
				ack(e)
			}
		}),
		statefulFault("fail-message-cut", "FRAME-09", "It cuts the message of a FAIL to 1000 bytes.",
			func() func(*Event) {
				return sent(fwp.FAIL, func(e *Event) { e.Line = cutMessage(e.Line, 1000) })
			}),
		fault("fail-message-cut-late", "FRAME-09", "It cuts the message of a FAIL to 16 KiB.",
			sent(fwp.FAIL, func(e *Event) { e.Line = cutMessage(e.Line, 16<<10) })),
		failed("fail-without-backtrace", "FAIL-05", "Its FAILs have no backtrace.", field("backtrace", nil)),
		failed("fail-backtrace-text", "FAIL-05", "The backtrace of its FAILs is a string.",
			field("backtrace", "line 1\nline 2")),
		failed("fail-message-object", "FAIL-05", "The message of its FAILs is an object.",
			field("message", Fields{"text": "x"})),
		ran("jid-shortened", "FETCH-09 WRK-03 END-04 STATE-21", "It shortens the jids of its reports to 20 characters.",
			func(e *Event) {
				if jid := e.Job.JID; len(jid) > 20 {
					e.Fields["jid"] = jid[:20]
				}
			}),
		ran("unknown-type-acknowledged", "ACK-05", "It acknowledges a job whose type it does not know.", unknown(ack)),
		fault("unknown-type-dropped", "FETCH-09", "It ignores a job whose type it does not know.",
			on(Delivered, unknown(skip))),
		fault("unknown-type-ends", "FETCH-09 STATE-15", "It ends at a job whose type it does not know.",
			on(Delivered, unknown(func(e *Event) { e.Worker.Exit(1); e.Skip = true }))),
	}
}

// cutMessage cuts the message in the line of a FAIL to a number of bytes, also where that is inside a character.
func cutMessage(line []byte, most int) []byte {
	_, text, has := bytes.Cut(line, []byte(`"message":"`))
	end := bytes.IndexByte(text, '"')
	if !has || end <= most {
		return line
	}
	head := line[:len(line)-len(text)]
	return slices.Concat(head, text[:most], text[end:])
}

// lossFaults are about lost connections. (Connection, Lost jobs? of the worker architecture; Network Connection)
func lossFaults() []Fault {
	return []Fault{
		fault("loss-ends", "FETCH-11 STATE-15 STATE-18", "It ends when it loses a connection.",
			on(Lost, func(e *Event) { e.Worker.Exit(1) })),
		fault("loss-final", "FETCH-11", "It opens no other connection for one that it lost.", on(Lost, skip)),
		statefulFault("loss-reported-as-failure", "FAIL-04", "It reports a job as failed whose ACK got no reply.",
			func() func(*Event) {
				var lost atomic.Bool
				return func(e *Event) {
					switch {
					case e.Point == Lost && !e.Beats:
						lost.Store(true)
					case e.Point == Sending && e.Verb == fwp.ACK && lost.Swap(false):
						e.Line = bytes.Replace(e.Line, []byte("ACK {"), []byte(`FAIL {"backtrace":[],"errtype":"E","message":"lost",`), 1)
					}
				}
			}),
		statefulFault("loss-renames", "BEAT-10 BEAT-06",
			"It greets under another wid after a loss, and beats under the old one.",
			after(hasLost, Introducing, func(e *Event) { e.Fields["wid"] = e.Worker.cfg.WID + "-again" })),
		statefulFault("loss-ends-beats", "BEAT-06 STATE-24 WRK-12 STATE-19",
			"It sends no BEAT any more when it has lost a connection.", after(hasLost, Beating, skip)),
		setting("connection-for-each-command", "WRK-09", "It opens a connection for each command.",
			func(c *Config) { c.Single = true }),
		setting("provider-ignored", "WRK-02", "It ignores FAKTORY_PROVIDER.", func(c *Config) {
			lookup := c.Lookup
			c.Lookup = func(name string) (string, bool) {
				if name == "FAKTORY_PROVIDER" || lookup == nil {
					return "", false
				}
				return lookup(name)
			}
		}),
	}
}
