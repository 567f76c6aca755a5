package variations

import (
	"math"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// jobVariations are about jobs.
var jobVariations = []fakes.Variation{
	// About the fields of a delivered job.
	variation("job-at-left-out", "AMB-18", "a job is delivered without at",
		delivered(func(job *object) { job.Delete("at") })),
	variation("job-defaults-left-out", "AMB-18", "a job is delivered without the fields that have their default",
		delivered(func(job *object) {
			for _, f := range spelledOut {
				if string(job.Get(f.Name)) == f.Value {
					job.Delete(f.Name)
				}
			}
		})),
	variation("job-defaults-spelled-out", "AMB-18",
		"a job is delivered with all fields, also those that have their default", delivered(func(job *object) {
			for _, f := range spelledOut {
				setDefault(job, f.Name, f.Value)
			}
		})),
	variation("job-failure-names", "Read-only fields for enqueued jobs",
		"a failure has other field names than FAIL, and the backtrace as one text",
		do(func(e *event) { renameFailure(e.Object) }, at(fakes.Failed, fakes.Expired))),
	setting("job-messages-short", "AMB-22", "a failure keeps 100 bytes of its message and 5 lines of its backtrace",
		func(c *fakes.Config) { c.MaxMessage, c.MaxBacktrace = 100, 5 }),
	// These refuse jobs that other servers accept, or take them for done.
	variation("job-jid-ignored", "AMB-33",
		"a PUSH with a jid that was used before is answered with OK and has no effect", usedBefore(skip)),
	setting("job-jid-lengths", "AMB-15", "a jid of fewer than 16 or more than 64 bytes is refused",
		func(c *fakes.Config) { c.MinJID, c.MaxJID = 16, 64 }),
	variation("job-jid-once", "AMB-33", "a jid that was used before is refused",
		usedBefore(decline("jid", "the jid is in use"))),
	variation("job-jobtype-short", "AMB-14", "a jobtype of more than 200 bytes is refused",
		do(decline("jobtype", "the jobtype is too long"), of(fakes.Checked, fwp.PUSH), func(e *event) bool {
			return len(e.Object.Text("jobtype")) > 200
		})),
	variation("job-keys-first", "Work units", "of two members of a hash in args with the same name the first counts",
		do(func(e *event) {
			e.Object.Set("args", strings.ReplaceAll(string(e.Object.Get("args")), `{"a":1,"a":2}`, `{"a":1}`))
		}, of(fakes.Checked, fwp.PUSH))),
	variation("job-queue-letters", "AMB-14",
		"a queue name of other characters than letters, digits, dashes and underscores, or of more than 64, is refused",
		plainQueues(64, letters+capitals+"_")),
	variation("job-queue-lower-case", "AMB-14",
		"a queue name of other characters than small letters, digits and dashes is refused",
		plainQueues(math.MaxInt, letters)),
	variation("job-read-only-refused", "Read-only fields for enqueued jobs", "a PUSH with read-only fields is refused",
		do(func(e *event) {
			for _, name := range [...]string{"enqueued_at", "failure"} {
				if e.Object.Get(name) != nil {
					e.Decline(fakes.About(name), name+" is read-only")
				}
			}
		}, of(fakes.Checked, fwp.PUSH))),
	// About what counts as left out.
	variation("null-for-defaults", "AMB-18",
		"an optional field of a job that has its default, or was not given, is delivered as null",
		delivered(func(job *object) {
			for _, f := range spelledOut {
				if value := job.Get(f.Name); value == nil || string(value) == f.Value {
					job.Set(f.Name, "null")
				}
			}
		})),
	variation("null-for-none", "AMB-18", "a job without custom, and one that never failed, is delivered with nulls",
		delivered(func(job *object) {
			setDefault(job, "custom", "null")
			setDefault(job, "failure", "null")
		})),
	variation("null-for-omitted", "AMB-18",
		"reserve_for, retry, backtrace and at are delivered as null, whatever the producer sent",
		delivered(func(job *object) {
			for _, name := range [...]string{"reserve_for", "retry", "backtrace", "at"} {
				job.Set(name, "null")
			}
		})),
	variation("null-is-empty-text", "Work units", "an empty created_at or queue counts as left out", do(func(e *event) {
		for _, name := range [...]string{"created_at", "queue"} {
			if string(e.Object.Get(name)) == `""` {
				e.Object.Delete(name)
			}
		}
		e.Recheck()
	}, of(fakes.Checked, fwp.PUSH), about("created_at", "queue"))),
	variation("null-is-left-out", "AMB-18", "a job is delivered without the fields that the producer sent as null",
		do(func(e *event) {
			for _, f := range e.Object.Clone().Fields() {
				if e.Object.Given(f.Name) == nil {
					e.Object.Delete(f.Name)
				}
			}
		}, at(fakes.Defaulted))),
}

const (
	letters  = "abcdefghijklmnopqrstuvwxyz0123456789-"
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// spelledOut holds the optional fields with their defaults, or with a value that means none. (Work units, Optional
// fields)
var spelledOut = [...]struct{ Name, Value string }{
	{"queue", `"default"`}, {"reserve_for", "1800"}, {"at", `""`}, {"retry", "25"}, {"backtrace", "0"},
	{"custom", "null"}, {"failure", "null"},
}

func setDefault(job *object, name, value string) {
	if job.Get(name) == nil {
		job.Set(name, value)
	}
}

// renameFailure replaces a job's failure by one with other fields.
func renameFailure(job *object) {
	failure, err := fakes.ParseObject(job.Get("failure"))
	if err != nil {
		return
	}
	lines, _ := failure.Texts("backtrace")
	var o object
	o.SetText("why", failure.Text("errtype")+": "+failure.Text("message"))
	o.SetText("trace", strings.Join(lines, "\n"))
	job.Set("failure", string(o.Append(nil)))
}

// usedBefore acts on a PUSH with a jid that there was before.
func usedBefore(act func(*event)) func() func(*event) {
	return catalogue.Again(jid, valid(fwp.PUSH), act)
}

// plainQueues refuses names of queues with other characters, or more.
func plainQueues(most int, chars string) func(*event) {
	return do(decline("queue", "a queue has a plain name"), at(fakes.Checked), func(e *event) bool {
		names := e.Queues
		if e.Command.Verb == fwp.PUSH {
			names = []string{e.Object.Text("queue")}
		}
		return slices.ContainsFunc(names, func(name string) bool {
			return len(name) > most || strings.Trim(name, chars) != ""
		})
	})
}
