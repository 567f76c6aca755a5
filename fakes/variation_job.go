package fakes

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// delivered returns a hook that changes the jobs that consumers get.
func delivered(act func(job *Object)) func(*Event) {
	return on(Delivered, func(e *Event) { act(e.Object) })
}

// spelledOut holds the optional fields with their defaults, or with a value that means
// none. (Work units, Optional fields)
var spelledOut = [...]Field{
	{"queue", json.RawMessage(`"default"`)}, {"reserve_for", json.RawMessage("1800")}, {"at", json.RawMessage(`""`)},
	{"retry", json.RawMessage("25")}, {"backtrace", json.RawMessage("0")},
	{"custom", json.RawMessage("null")}, {"failure", json.RawMessage("null")},
}

// shownVariations are about the fields of a delivered job.
func shownVariations() []Variation {
	return []Variation{
		variation("job-defaults-left-out", "AMB-18",
			"a job is delivered without the fields that have their default",
			delivered(func(job *Object) {
				for _, f := range spelledOut {
					if string(job.Get(f.Name)) == string(f.Value) {
						job.Delete(f.Name)
					}
				}
			})),
		variation("job-defaults-spelled-out", "AMB-18",
			"a job is delivered with all fields, also those that have their default",
			delivered(func(job *Object) {
				for _, f := range spelledOut {
					setDefault(job, f.Name, string(f.Value))
				}
			})),
		variation("job-at-left-out", "AMB-18",
			"a job is delivered without at",
			delivered(func(job *Object) { job.Delete("at") })),
		setting("job-messages-short", "AMB-22",
			"a failure keeps 100 bytes of its message and 5 lines of its backtrace",
			func(c *Config) { c.MaxMessage, c.MaxBacktrace = 100, 5 }),
		variation("job-failure-names", "Read-only fields for enqueued jobs",
			"a failure has other field names than FAIL, and the backtrace as one text",
			func(e *Event) {
				if e.Point == Failed || e.Point == Expired {
					renameFailure(e.Object)
				}
			}),
	}
}

// jobVariations refuse jobs that other servers accept.
func jobVariations() []Variation {
	return []Variation{
		variation("job-read-only-refused", "Read-only fields for enqueued jobs",
			"a PUSH with read-only fields is refused",
			when(Checked, fwp.PUSH, func(e *Event) {
				for _, name := range [...]string{"enqueued_at", "failure"} {
					if e.Object.Get(name) != nil {
						e.decline(About(name), name+" is read-only")
					}
				}
			})),
		statefulVariation("job-jid-once", "AMB-33", "a jid that was used before is refused", once),
		setting("job-jid-lengths", "AMB-15",
			"a jid of fewer than 16 or more than 64 bytes is refused",
			func(c *Config) { c.MinJID, c.MaxJID = 16, 64 }),
	}
}

// jobNameVariations refuse names in jobs that other servers accept.
func jobNameVariations() []Variation {
	return []Variation{
		variation("job-queue-lower-case", "AMB-14",
			"a queue name of other characters than small letters, digits and dashes is refused",
			on(Checked, func(e *Event) {
				names := e.Queues
				if e.Command.Verb == fwp.PUSH {
					names = []string{e.Object.Text("queue")}
				}
				if strings.Trim(strings.Join(names, ""), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
					e.decline("queue", "a queue has a plain name")
				}
			})),
		variation("job-jobtype-short", "AMB-14",
			"a jobtype of more than 200 bytes is refused",
			when(Checked, fwp.PUSH, func(e *Event) {
				if len(e.Object.Text("jobtype")) > 200 {
					e.decline("jobtype", "the jobtype is too long")
				}
			})),
		variation("job-keys-first", "Work units",
			"of two members of a hash in args with the same name the first counts",
			when(Checked, fwp.PUSH, func(e *Event) {
				args := string(e.Object.Get("args"))
				e.Object.Set("args", strings.ReplaceAll(args, `{"a":1,"a":2}`, `{"a":1}`))
			})),
		variation("job-queue-letters", "AMB-14",
			"a queue name of other characters than letters, digits, dashes and underscores, or of more than 64, is refused",
			on(Checked, plainQueues)),
	}
}

// renameFailure replaces a job's failure by one with other fields.
func renameFailure(job *Object) {
	failure, r := parseObject(job.Get("failure"))
	if r != nil {
		return
	}
	lines, _ := asStrings(failure.Get("backtrace"))
	o := &Object{}
	o.SetText("why", failure.Text("errtype")+": "+failure.Text("message"))
	o.SetText("trace", strings.Join(lines, "\n"))
	job.Set("failure", string(o.Append(nil)))
}

func once() func(*Event) {
	var used notes[string, bool]
	return when(Checked, fwp.PUSH, func(e *Event) {
		if e.Err != nil {
			return
		}
		jid := e.Object.Text("jid")
		if _, again := used.take(jid); again {
			e.decline("jid", "the jid is in use")
		}
		used.put(jid, true)
	})
}

func plainQueues(e *Event) {
	names := e.Queues
	if e.Command.Verb == fwp.PUSH {
		names = []string{e.Object.Text("queue")}
	}
	if slices.ContainsFunc(names, func(name string) bool {
		return len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool {
			return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		})
	}) {
		e.decline("queue", "a queue has a plain name")
	}
}

func timeVariations() []Variation {
	return []Variation{
		variation("time-seconds", "Work units",
			"the server writes its own times without fractions, and with +00:00 for UTC",
			delivered(serverTimes("2006-01-02T15:04:05-07:00"))),
		variation("time-milliseconds", "Work units",
			"the server writes its own times in whole milliseconds",
			delivered(serverTimes("2006-01-02T15:04:05.000Z07:00"))),
		variation("time-zone", "Work units",
			"all times are written with the server's offset",
			delivered(times(func(_ string, t time.Time) string {
				return t.In(time.FixedZone("", -9*3600-1800)).Format(time.RFC3339Nano)
			}))),
		variation("time-lower-case", "Work units",
			"all times are written with a small t and z, which RFC 3339 allows",
			delivered(times(func(text string, _ time.Time) string { return strings.ToLower(text) }))),
		statefulVariation("time-clock-ahead", "AMB-36", "the server's clock is an hour ahead", clock(time.Hour)).
			// every job is due at once there
			Leaving("workunit/enqueued-at-when-due", "jobs/scheduled-while-a-fetch-waits", "restart/keeps-contents"),
		statefulVariation("time-clock-behind", "AMB-36", "the server's clock is 20 s behind", clock(-20*time.Second)),
	}
}

// serverTimes writes the server's own times in another layout.
func serverTimes(layout string) func(job *Object) {
	return func(job *Object) {
		if t, ok := asTime(job.Get("enqueued_at")); ok {
			job.SetText("enqueued_at", t.UTC().Format(layout))
		}
	}
}

// times writes every time of a job anew.
func times(write func(text string, t time.Time) string) func(job *Object) {
	return func(job *Object) {
		for _, name := range [...]string{"created_at", "at", "enqueued_at"} {
			if t, ok := asTime(job.Get(name)); ok {
				job.SetText(name, write(job.Text(name), t))
			}
		}
	}
}

// clock moves the server's clock: its own times are moved, and it reads each at as a time
// of its clock.
func clock(ahead time.Duration) func() func(*Event) {
	return func() func(*Event) {
		var asked notes[string, json.RawMessage]
		return func(e *Event) {
			switch {
			case e.Point == Checked && e.Command.Verb == fwp.PUSH && e.Err == nil && given(e.Object, "created_at") == nil:
				e.Object.Set("created_at", stamp(time.Now().Add(ahead)))
			case e.Point == Defaulted:
				if at, ok := asTime(e.Object.Get("at")); ok {
					asked.put(e.Object.Text("jid"), e.Object.Get("at"))
					e.Object.Set("at", stamp(at.Add(-ahead)))
				}
			case e.Point == Delivered:
				if at, ok := asked.take(e.Object.Text("jid")); ok {
					e.Object.Set("at", string(at))
				}
				if t, ok := asTime(e.Object.Get("enqueued_at")); ok {
					e.Object.Set("enqueued_at", stamp(t.Add(ahead)))
				}
			}
		}
	}
}
