package fakes

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// delivered has a hook change the jobs that consumers get.
func delivered(act func(job *Object)) func(*Event) {
	return on(Delivered, func(e *Event) { act(e.Object) })
}

// spelledOut are the optional fields with the values that stand for none, or for the
// default. (Work units, Optional fields)
var spelledOut = [...]Field{
	{"queue", json.RawMessage(`"default"`)}, {"reserve_for", json.RawMessage("1800")}, {"at", json.RawMessage(`""`)},
	{"retry", json.RawMessage("25")}, {"backtrace", json.RawMessage("0")},
	{"custom", json.RawMessage("null")}, {"failure", json.RawMessage("null")},
}

// shownVariations are about what a job that is delivered looks like.
func shownVariations() []Variation {
	return []Variation{
		variation("job-defaults-left-out", "AMB-18",
			"a job is delivered without the fields that hold their default",
			delivered(func(job *Object) {
				for _, f := range spelledOut {
					if string(job.Get(f.Name)) == string(f.Value) {
						job.Delete(f.Name)
					}
				}
			})),
		variation("job-defaults-spelled-out", "AMB-18",
			"a job is delivered with all fields, those that hold their default too",
			delivered(func(job *Object) {
				for _, f := range spelledOut {
					setDefault(job, f.Name, string(f.Value))
				}
			})),
		variation("job-at-left-out", "AMB-18",
			"a job is delivered without at, since it is over",
			delivered(func(job *Object) { job.Delete("at") })),
		setting("job-messages-short", "AMB-22",
			"a failure keeps 100 bytes of its message and 5 lines of its backtrace",
			func(c *Config) { c.MaxMessage, c.MaxBacktrace = 100, 5 }),
		variation("job-failure-names", "Read-only fields for enqueued jobs",
			"a failure has names of its own for what FAIL brought, and all lines in one text",
			func(e *Event) {
				if e.Point == Failed || e.Point == Expired {
					renameFailure(e.Object)
				}
			}),
	}
}

// jobVariations refuse jobs that others take.
func jobVariations() []Variation {
	return []Variation{
		variation("job-read-only-refused", "Read-only fields for enqueued jobs",
			"a PUSH that brings read-only fields is refused",
			when(Judged, fwp.PUSH, func(e *Event) {
				for _, name := range [...]string{"enqueued_at", "failure"} {
					if e.Object.Get(name) != nil {
						e.decline(About(name), name+" is read-only")
					}
				}
			})),
		varying("job-jid-once", "AMB-33", "a jid that was used before is refused", once),
		setting("job-jid-lengths", "AMB-15",
			"a jid of fewer than 16 or more than 64 bytes is refused",
			func(c *Config) { c.MinJID, c.MaxJID = 16, 64 }),
		variation("job-queue-letters", "AMB-14",
			"the name of a queue is made of at most 64 letters, digits, dashes and underscores",
			on(Judged, plainQueues)),
	}
}

// renameFailure writes what a job's failure says in another way.
func renameFailure(job *Object) {
	said, r := parseObject(job.Get("failure"))
	if r != nil {
		return
	}
	lines, _ := asStrings(said.Get("backtrace"))
	o := &Object{}
	o.SetText("why", said.Text("errtype")+": "+said.Text("message"))
	o.SetText("trace", strings.Join(lines, "\n"))
	job.Set("failure", string(o.Append(nil)))
}

func once() func(*Event) {
	var used notes[string, bool]
	return when(Judged, fwp.PUSH, func(e *Event) {
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
			"the server writes its times without fractions, and +00:00 for UTC",
			delivered(serverTimes("2006-01-02T15:04:05-07:00"))),
		variation("time-milliseconds", "Work units",
			"the server cuts its times to milliseconds",
			delivered(serverTimes("2006-01-02T15:04:05.000Z07:00"))),
		variation("time-zone", "Work units",
			"all times are written with the server's offset",
			delivered(func(job *Object) {
				for _, name := range [...]string{"created_at", "at", "enqueued_at"} {
					if t, ok := asTime(job.Get(name)); ok {
						job.SetText(name, t.In(time.FixedZone("", -9*3600-1800)).Format(time.RFC3339Nano))
					}
				}
			})),
		varying("time-clock-ahead", "AMB-36", "the server's clock is an hour ahead", clock(time.Hour)),
		varying("time-clock-behind", "AMB-36", "the server's clock is 20 s behind", clock(-20*time.Second)),
	}
}

// serverTimes writes the times that are the server's own in another form.
func serverTimes(layout string) func(job *Object) {
	return func(job *Object) {
		if t, ok := asTime(job.Get("enqueued_at")); ok {
			job.SetText("enqueued_at", t.UTC().Format(layout))
		}
	}
}

// clock has the server live at another time than everybody else: what it stamps is
// moved, and it takes each at for one of its own times.
func clock(ahead time.Duration) func() func(*Event) {
	return func() func(*Event) {
		var asked notes[string, json.RawMessage]
		return func(e *Event) {
			switch {
			case e.Point == Judged && e.Command.Verb == fwp.PUSH && e.Err == nil && given(e.Object, "created_at") == nil:
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
