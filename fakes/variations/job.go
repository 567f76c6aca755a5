package variations

import (
	"strings"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// jobVariations are about jobs.
var jobVariations = []fakes.Variation{
	// About the fields of a delivered job.
	variation("job-defaults-left-out", changeDelivered(func(job *object) {
		for _, f := range defaultFields {
			if string(job.Get(f.Name)) == f.Value {
				job.Delete(f.Name)
			}
		}
	})),
	variation("job-defaults-spelled-out", changeDelivered(func(job *object) {
		for _, f := range defaultFields {
			setDefault(job, f.Name, f.Value)
		}
	})),
	variation("job-failure-names",
		do(func(e *event) { renameFailure(e.Object) }, at(fakes.Failed, fakes.Expired))),
	setting("job-messages-short", func(c *fakes.Config) { c.MaxMessage, c.MaxBacktrace = 100, 5 }),
	// These refuse jobs that other servers accept, or take them for done.
	variation("job-jid-ignored", actOnUsedJID(isValid(fwp.PUSH), skip)),
	setting("job-jid-lengths", func(c *fakes.Config) { c.MinJID, c.MaxJID = 16, 64 }),
	variation("job-jid-once", actOnUsedJID(catalogue.All(atPoint(fakes.Checked, fwp.PUSH), func(e *event) bool {
		return e.Conn.Identified && jid(e) != ""
	}), decline("jid", "the jid is in use"))),
	variation("job-keys-first", do(func(e *event) {
		e.Object.Set("args", strings.ReplaceAll(string(e.Object.Get("args")), `{"a":1,"a":2}`, `{"a":1}`))
	}, atPoint(fakes.Checked, fwp.PUSH))),
	// About what counts as left out.
	variation("null-for-defaults", changeDelivered(func(job *object) {
		for _, f := range defaultFields {
			if value := job.Get(f.Name); value == nil || string(value) == f.Value {
				job.Set(f.Name, "null")
			}
		}
	})),
	variation("null-is-empty-text", do(func(e *event) {
		for _, name := range [...]string{"created_at", "queue"} {
			if string(e.Object.Get(name)) == `""` {
				e.Object.Delete(name)
			}
		}
		e.Recheck()
	}, atPoint(fakes.Checked, fwp.PUSH), isAbout("created_at", "queue"))),
	variation("null-is-left-out", do(func(e *event) {
		for _, f := range e.Object.Clone().Fields() {
			if e.Object.NonNull(f.Name) == nil {
				e.Object.Delete(f.Name)
			}
		}
	}, at(fakes.Defaulted))),
}

// defaultFields holds the optional fields with their defaults, or with a value that means none. (Work units, Optional
// fields)
var defaultFields = [...]struct{ Name, Value string }{
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

// actOnUsedJID acts on a PUSH with a jid that there was before, and behind the last FLUSH.
func actOnUsedJID(match func(*event) bool, act func(*event)) func() func(*event) {
	type jids = catalogue.Memory[string, bool]
	return catalogue.WithMemory(catalogue.Any(match, at(fakes.Flushed)), func(usedJIDs *jids, e *event) {
		if e.Point == fakes.Flushed {
			*usedJIDs = jids{}
			return
		}
		isUsed := usedJIDs.GetOrAdd(jid(e))
		if *isUsed {
			act(e)
		}
		*isUsed = true
	})
}
