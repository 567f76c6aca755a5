package bugs

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// jobBugs are about the fields of jobs.
var jobBugs = []fakes.Bug{
	// About fields that are missing, null, or of another type.
	bug("job-jid-optional", withMemory(allOf(atChecked(fwp.PUSH), isAbout("jid")), func(count *int, e *event) {
		*count++
		e.Object.SetText("jid", fmt.Sprintf("made-by-the-server-%d", *count))
		e.Accept()
	})),
	bug("job-null-dropped", contents("args custom", withoutNulls)),
	// About how many lines of a backtrace are kept.
	bug("job-backtrace-follows", repeatField("backtrace")),
	// About custom.
	bug("job-custom-follows", repeatField("custom")),
	// About the failure of a job, and about when it was enqueued.
	bug("job-enqueued-at-first", do(func(e *event) {
		e.Object.Set("enqueued_at", string(e.Object.Get("created_at")))
	}, at(fakes.Delivered))),
	bug("job-failure-kept", restoreField("failure")),
	bug("job-failure-text", do(func(e *event) { e.Object.SetText("failure", string(e.Object.Get("failure"))) },
		at(fakes.Delivered), hasMember("failure"))),
	// These confuse the ids of jobs in reports.
	bug("job-ids-blanks", do(changeText("jid", strings.TrimSpace), isValid(fwp.ACK))),
	bug("job-ids-cut", actOnHeldJobs(isValid(fwp.ACK, fwp.FAIL), func(e *event, h heldJob) bool {
		id := jid(e)
		return id[:min(40, len(id))] == h.jid[:min(40, len(h.jid))]
	}, setFirstJID)),
	// These change the integers within args and custom.
	bug("job-integer-rounded", do(roundArgs, atChecked(fwp.PUSH))),
	// About the args of a job.
	bug("job-args-reversed", do(reverseArgs, atChecked(fwp.PUSH))),
	// About when a job was created.
	bug("job-created-at-follows", repeatField("created_at")),
	bug("job-created-at-replaced", do(func(e *event) {
		e.Object.SetTime("created_at", time.Now())
	}, at(fakes.Defaulted))),
	// About the id of a job.
	bug("job-id-lower-case", changeDelivered("jid", strings.ToLower)),
	bug("job-id-nested", do(func(e *event) {
		if custom, err := fakes.ParseObject(e.Object.Get("custom")); err == nil && custom.Text("jid") != "" {
			e.Object.SetText("jid", custom.Text("jid"))
		}
	}, at(fakes.Delivered), hasMember("custom"))),
	bug("job-id-number", changeDelivered("jid", digits)),
	// About the jobtype of a job.
	bug("job-jobtype-html", changeDelivered("jobtype", strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace)),
	bug("job-jobtype-number", changeDelivered("jobtype", digits)),
	// About how often a job is to be tried again.
	bug("job-retry-follows", withMemory(isValid(fwp.PUSH), func(last *retries, e *event) {
		if n, ok := last.readRetry(e); !ok {
			e.Object.SetInt("retry", n)
		}
	})),
	bug("job-retry-mixed", mixRetries()),
	// About the time of a job that is to be scheduled.
	bug("job-at-now-lost",
		loseJob(hasTime("at", func(at time.Time) bool { return time.Until(at).Abs() < time.Second }))),
	bug("job-at-past-lost", loseJob(hasTime("at", func(at time.Time) bool { return at.Before(time.Now()) }))),
	// These change the texts within args and custom.
	bug("job-text-cut", contents("args custom", mapTexts(func(s string) string { return cut(s, 255) }))),
}

// retries is the last retry that a job had, less the default.
type retries int64

// readRetry returns the retry of a job, or the last one that a job had, and whether it is that of the job.
func (r *retries) readRetry(e *event) (n int64, ok bool) {
	if n, ok = e.Object.Int("retry"); ok {
		*r = retries(n - defaultRetry)
	}
	return int64(*r) + defaultRetry, ok
}

// mixRetries gives every 50th job the retry that was the last one but one.
func mixRetries() func() func(*event) {
	type mix struct{ count, last, other int64 }
	return withMemory(allOf(isValid(fwp.PUSH), hasInteger("retry", anyInteger)), func(m *mix, e *event) {
		if n, _ := e.Object.Int("retry"); n != m.last {
			m.last, m.other = n, m.last
		}
		if m.count++; m.count%50 == 0 {
			e.Object.SetInt("retry", m.other)
		}
	})
}
