package fakes

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// clientVariations are about workers and producers, and what a server knows of them.
func clientVariations() []Variation {
	return slices.Concat(clientStateVariations(), clientKnownVariations(), clientTextVariations())
}

func clientStateVariations() []Variation {
	return []Variation{
		variation("flush-refused", "FLUSH Command",
			"FLUSH is turned off: it is answered with an error, and clears nothing",
			when(Checked, fwp.FLUSH, func(e *Event) { e.decline(AboutLimit, "FLUSH is turned off") })).
			Leaving("flush/clears", "flush/clears-each-time", "flush/clears-every-queue", "flush/clears-what-failed",
				"flush/keeps-connections",
				"flush/keeps-other-connections", "flush/keeps-what-waits", "flush/schedules-afterwards",
				"flush/serves-afterwards"),
		variation("beat-state-mixed", "AMB-02",
			"quiet is sent as a bulk string, and terminate as a simple string",
			when(Ran, fwp.BEAT, func(e *Event) {
				if e.State == "terminate" && e.Reply.Kind == fwp.BulkString {
					e.Reply = simple(string(e.Reply.Text))
				}
			})),
		variation("quiet-null-at-once", "AMB-32",
			"a FETCH of a quiet worker is answered with null at once",
			when(Checked, fwp.FETCH, func(e *Event) {
				if e.Err == nil && e.Conn.server.workers.isQuiet(e.Conn.Worker) {
					e.Wait = time.Millisecond
				}
			})),
		variation("fetch-of-the-gone", "Work unit state diagram",
			"a job is given to a FETCH whose client has disconnected, and comes back when its reservation is over",
			func(e *Event) {
				if e.Point == Disconnected || e.Point == GivenBack {
					e.Skip = true
				}
			}),
	}
}

func clientKnownVariations() []Variation {
	return []Variation{
		variation("worker-connections-few", "AMB-14",
			"the HELLO of a fifth connection of a worker is declined",
			when(Checked, fwp.HELLO, func(e *Event) {
				if e.Err == nil && e.Conn.server.workers.open(e.Object.Text("wid")) >= 4 {
					e.decline(AboutLimit, "the worker has too many connections")
				}
			})).Leaving("push/accepted-or-without-effect", "push/odd-queue-with-at", "reserve/below-a-minute"),
		setting("queues-few", "AMB-14",
			"a PUSH to a 41st queue that holds jobs is refused",
			func(c *Config) { c.MaxQueues = 40 }),
		setting("queues-short", "PUSH Command",
			"a PUSH to a queue that holds 1500 jobs is refused",
			func(c *Config) { c.MaxQueueJobs = 1500 }).
			Leaving("push/ten-thousand-jobs"),
		statefulVariation("producer-closed-often", "End State",
			"the connection of a producer is closed instead of an answer to its eighth command", countedClosed(7)).
			Leaving("jobs/enqueued-at-once-each", "push/a-thousand-jobs", "push/ten-thousand-jobs", "retry/own-number"),
		statefulVariation("hello-identity-kept", "AMB-10",
			"a HELLO with a wid that had another hostname, pid or labels is declined, also when that worker has gone",
			identityKept),
		statefulVariation("job-jid-ignored", "AMB-33",
			"a PUSH with a jid that was used before is answered with OK and has no effect", jidIgnored),
		variation("hello-of-wid-alone", "Required Fields for Consumers",
			"a HELLO with a wid is one of a worker, whether or not it has hostname, pid and labels",
			when(Parsed, fwp.HELLO, widAlone)),
		statefulVariation("consumer-silent-forgotten", "AMB-23",
			"a BEAT that comes more than 60 s after the last one of its worker is refused", silentForgotten),
	}
}

func clientTextVariations() []Variation {
	return []Variation{
		variation("time-created-seconds", "Work units",
			"the server sets created_at without fractions of a second",
			when(Checked, fwp.PUSH, func(e *Event) {
				if e.Err == nil && given(e.Object, "created_at") == nil {
					e.Object.SetText("created_at", time.Now().UTC().Truncate(time.Second).Format(time.RFC3339))
				}
			})),
		variation("password-long-salt", "Not Identified State",
			"the salt has 2000 characters",
			on(Greeting, func(e *Event) {
				if e.Conn.Iterations > 0 {
					e.Conn.Salt = strings.Repeat("salt", 496) + e.Conn.Salt
					e.Reply = e.Conn.hi()
				}
			})),
		variation("line-verbs-in-any-case", "AMB-05",
			"verbs may be written in small letters",
			on(Parsed, func(e *Event) {
				e.Command.Verb = strings.ToUpper(e.Command.Verb)
			})).AdvisedAgainst("FWP-FRAME-03").Leaving("framing/flush-in-small-letters"),
	}
}

func identityKept() func(*Event) {
	var known notes[string, string]
	return when(Checked, fwp.HELLO, func(e *Event) {
		wid := e.Object.Text("wid")
		if e.Err != nil || wid == "" {
			return
		}
		now := string(e.Object.Get("hostname")) + string(e.Object.Get("pid")) + string(e.Object.Get("labels"))
		before, is := known.take(wid)
		if is && before != now {
			e.decline("wid", "the wid had another identity")
			now = before
		}
		known.put(wid, now)
	})
}

func jidIgnored() func(*Event) {
	var used notes[string, bool]
	return when(Checked, fwp.PUSH, func(e *Event) {
		if e.Err != nil {
			return
		}
		jid := e.Object.Text("jid")
		_, again := used.take(jid)
		used.put(jid, true)
		e.Skip = again
	})
}

// widAlone adds what the HELLO of a worker lacks.
func widAlone(e *Event) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(e.Command.Args, &fields) != nil || !isString(fields["wid"]) {
		return
	}
	for name, value := range map[string]string{"hostname": `""`, "pid": "0", "labels": "[]"} {
		if fields[name] == nil {
			fields[name] = json.RawMessage(value)
		}
	}
	if b, err := json.Marshal(fields); err == nil {
		e.Command.Args = b
	}
}

func silentForgotten() func(*Event) {
	var alive notes[string, time.Time]
	return on(Checked, func(e *Event) {
		wid := e.Object.Text("wid")
		switch {
		case wid == "" || e.Err != nil:
		case e.Command.Verb == fwp.HELLO:
			alive.put(wid, time.Now())
		case e.Command.Verb == fwp.BEAT:
			if last, known := alive.take(wid); known && time.Since(last) > time.Minute {
				e.decline(AboutWorker, "the worker is gone")
				return
			}
			alive.put(wid, time.Now())
		}
	})
}
