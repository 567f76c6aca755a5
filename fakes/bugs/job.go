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
	bug("job-jid-optional", keepAll(both(checked(fwp.PUSH), about("jid")), func(made *int, e *event) {
		*made++
		e.Object.SetText("jid", fmt.Sprintf("made-by-the-server-%d", *made))
		e.Accept()
	})),
	bug("job-null-dropped", contents("args custom", withoutNulls)),
	// About how many lines of a backtrace are kept.
	bug("job-backtrace-follows", follows("backtrace")),
	// About custom.
	bug("job-custom-follows", follows("custom")),
	// About the failure of a job, and about when it was enqueued.
	bug("job-enqueued-at-first", do(func(e *event) {
		e.Object.Set("enqueued_at", string(e.Object.Get("created_at")))
	}, at(fakes.Delivered))),
	bug("job-failure-kept", sent("failure")),
	bug("job-failure-text", do(func(e *event) { e.Object.SetText("failure", string(e.Object.Get("failure"))) },
		at(fakes.Delivered), has("failure"))),
	// These confuse the ids of jobs in reports.
	bug("job-ids-blanks", do(change("jid", strings.TrimSpace), valid(fwp.ACK))),
	bug("job-ids-cut", inHand(valid(fwp.ACK, fwp.FAIL), func(e *event, h hand) bool {
		of := jid(e)
		return of[:min(40, len(of))] == h.jid[:min(40, len(h.jid))]
	}, reportFirst)),
	// These change the integers within args and custom.
	bug("job-integer-rounded", do(roundArgs, checked(fwp.PUSH))),
	// About the args of a job.
	bug("job-args-reversed", do(reverseArgs, checked(fwp.PUSH))),
	// About when a job was created.
	bug("job-created-at-follows", follows("created_at")),
	bug("job-created-at-replaced", do(func(e *event) {
		e.Object.SetTime("created_at", time.Now())
	}, at(fakes.Defaulted))),
	// About the id of a job.
	bug("job-id-lower-case", delivered("jid", strings.ToLower)),
	bug("job-id-nested", do(func(e *event) {
		if custom, err := fakes.ParseObject(e.Object.Get("custom")); err == nil && custom.Text("jid") != "" {
			e.Object.SetText("jid", custom.Text("jid"))
		}
	}, at(fakes.Delivered), has("custom"))),
	bug("job-id-number", delivered("jid", digits)),
	// About the jobtype of a job.
	bug("job-jobtype-html", delivered("jobtype", strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace)),
	bug("job-jobtype-number", delivered("jobtype", digits)),
	// About how often a job is to be tried again.
	bug("job-retry-follows", keepAll(valid(fwp.PUSH), func(last *retries, e *event) {
		if n, is := last.see(e); !is {
			e.Object.SetInt("retry", n)
		}
	})),
	bug("job-retry-mixed", retryMixed()),
	// About the time of a job that is to be scheduled.
	bug("job-at-now-lost",
		loses(moment("at", func(at time.Time) bool { return time.Until(at).Abs() < time.Second }))),
	bug("job-at-past-lost", loses(moment("at", func(at time.Time) bool { return at.Before(time.Now()) }))),
	// These change the texts within args and custom.
	bug("job-text-cut", contents("args custom", texts(func(s string) string { return cut(s, 255) }))),
}

// retries is the last retry that a job had, less the default.
type retries int64

// see returns the retry of a job, or the last one that a job had, and whether it is that of the job.
func (r *retries) see(e *event) (n int64, is bool) {
	if n, is = e.Object.Int("retry"); is {
		*r = retries(n - defaultRetry)
	}
	return int64(*r) + defaultRetry, is
}

// retryMixed gives every 50th job the retry that was the last one but one.
func retryMixed() func() func(*event) {
	type mix struct{ count, last, other int64 }
	return keepAll(both(valid(fwp.PUSH), number("retry", anyInteger)), func(m *mix, e *event) {
		if n, _ := e.Object.Int("retry"); n != m.last {
			m.last, m.other = n, m.last
		}
		if m.count++; m.count%50 == 0 {
			e.Object.SetInt("retry", m.other)
		}
	})
}
