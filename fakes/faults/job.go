package faults

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// jobFaults are about the fields of jobs.
var jobFaults = []fakes.Fault{
	// About fields that are missing, null, or of another type.
	fault("job-jid-optional", keepAll(both(checked(fwp.PUSH), about("jid")), func(made *int, e *event) {
		*made++
		e.Object.SetText("jid", fmt.Sprintf("made-by-the-server-%d", *made))
		e.Accept()
	})),
	fault("job-null-dropped", contents("args custom", withoutNulls)),
	fault("job-queue-default", omitted("queue", `"standard"`)),
	fault("job-queue-null-lost", next(jid, nulls("queue"), at(fakes.Defaulted), skip)),
	fault("job-queue-null-refused", do(decline("queue", "queue is null"), nulls("queue"))),
	// About how many lines of a backtrace are kept.
	fault("job-backtrace-all", omitted("backtrace", "30")),
	fault("job-backtrace-follows", followsJob("backtrace")),
	fault("job-backtrace-null-refused", do(decline("backtrace", "backtrace is null"), nulls("backtrace"))),
	fault("job-backtrace-refused", refuses("backtrace", number("backtrace", above(30)))),
	// About custom.
	fault("job-custom-any-type", do(accept, checked(fwp.PUSH), about("custom"))),
	fault("job-custom-dropped", do(drop("custom"), at(fakes.Defaulted))),
	fault("job-custom-flat", contents("custom", func(v any) any {
		for k, inner := range v.(map[string]any) {
			if m, is := inner.(map[string]any); is {
				b, _ := json.Marshal(m) // it was JSON
				v.(map[string]any)[k] = string(b)
			}
		}
		return v
	})),
	fault("job-custom-follows", followsJob("custom")),
	fault("job-custom-integer-rounded", contents("custom", leaves(roundedInteger))),
	fault("job-custom-invented", omitted("custom", "{}")),
	fault("job-custom-long", do(drop("custom"), at(fakes.Defaulted), large("custom", 4<<10))),
	fault("job-custom-null-refused", refuses("custom", is("custom", "null"))),
	fault("job-custom-overrides", do(func(e *event) {
		custom, _ := fakes.ParseObject(e.Object.Get("custom")) // none, or another value
		for _, f := range custom.Fields() {
			switch f.Name {
			case "retry", "reserve_for", "queue", "backtrace":
				e.Object.Set(f.Name, string(f.Value))
			}
		}
	}, at(fakes.Defaulted), has("custom"))),
	// About the failure of a job, and about when it was enqueued.
	fault("job-enqueued-at-first", do(copies("enqueued_at", "created_at"), at(fakes.Delivered))),
	fault("job-enqueued-at-kept", sent("enqueued_at")),
	fault("job-enqueued-at-stale", firstValue(fakes.Delivered, "enqueued_at")),
	fault("job-failure-dropped", do(drop("failure"), at(fakes.Delivered))),
	fault("job-failure-first", firstValue(fakes.Failed, "failure")),
	fault("job-failure-kept", sent("failure")),
	fault("job-failure-mute", do(set("failure", `{"failed":true}`), at(fakes.Failed))),
	fault("job-failure-not-expired", do(drop("failure"), at(fakes.Expired))),
	fault("job-failure-text", do(func(e *event) { e.Object.SetText("failure", string(e.Object.Get("failure"))) },
		at(fakes.Delivered), has("failure"))),
	// These confuse the ids of jobs in reports.
	fault("job-ids-blanks", do(change("jid", strings.TrimSpace), valid(fwp.ACK))),
	fault("job-ids-cut", likeJob(func(s string) string { return s[:min(40, len(s))] })),
	fault("job-ids-folded",
		keep(func(e *event) string { return strings.ToLower(jid(e)) }, checked(fwp.ACK), func(done *string, e *event) {
			if *done != "" && *done != jid(e) {
				e.Decline(fakes.AboutJob, "no such job")
			} else if e.Err == nil {
				*done = jid(e)
			}
		})),
	// These change the numbers and the hashes within args and custom.
	fault("job-empty-array-null", leaf(only(func(a []any) any {
		if len(a) == 0 {
			return nil
		}
		return a
	}))),
	fault("job-exponent-dropped",
		leaf(numbers(func(n string) string { n, _, _ = strings.Cut(strings.ToLower(n), "e"); return n }))),
	fault("job-fraction-single", leaf(numbers(func(n string) string {
		f, err := strconv.ParseFloat(n, 64)
		if _, other := json.Number(n).Int64(); other == nil || err != nil {
			return n
		}
		return strconv.FormatFloat(float64(float32(min(f, math.MaxFloat32))), 'g', -1, 64)
	}))),
	fault("job-nesting-cut", contents("args", shallow(8))),
	fault("job-truth-number", leaf(func(v any) any {
		return turns(false, json.Number("0"))(turns(true, json.Number("1"))(v))
	})),
	// These change the integers within args and custom.
	fault("job-integer-32-bits", leaf(integers(func(n int64) any {
		return json.Number(strconv.Itoa(int(int32(n))))
	}))),
	fault("job-integer-rounded", do(roundArgs, checked(fwp.PUSH))),
	// These change the keys of hashes within args and custom.
	fault("job-keys-array", leaf(only(asList))),
	fault("job-keys-cut", contents("args custom", keys(func(s string) string { return cut(s, 64) }))),
	fault("job-keys-folded", contents("args custom", keys(strings.ToLower))),
	// About the args of a job.
	fault("job-args-any-type", do(accept, checked(fwp.PUSH), about("args"))),
	fault("job-args-empty-null", do(set("args", "null"), at(fakes.Delivered), is("args", "[]"))),
	fault("job-args-empty-refused", refuses("args", is("args", "[]"))),
	fault("job-args-hundred",
		contents("args", func(v any) any { a, _ := v.([]any); return a[:min(100, len(a))] })),
	fault("job-args-reversed", do(reverseArgs, checked(fwp.PUSH))),
	fault("job-args-seldom-reversed", every(60, at(fakes.Delivered), reverseArgs)),
	fault("job-args-set", contents("args", leaves(only(asSet)))),
	// About when a job was created.
	fault("job-created-at-ahead",
		do(setNow("created_at"), at(fakes.Defaulted), moment("created_at", func(at time.Time) bool {
			return time.Until(at) > time.Minute
		}))),
	fault("job-created-at-day", delivered("created_at", func(at string) string {
		if len(at) > 10 {
			return at[:10] + "T00:00:00Z"
		}
		return at
	})),
	fault("job-created-at-follows", followsJob("created_at")),
	fault("job-created-at-missing", omitted("created_at", `""`)),
	fault("job-created-at-offset", do(change("created_at", func(at string) string {
		if zone := len(at) - len("+00:00"); zone > 0 && (at[zone] == '+' || at[zone] == '-') {
			return at[:zone] + "Z"
		}
		return at
	}), at(fakes.Defaulted))),
	fault("job-created-at-offset-refused", refuses("created_at", moment("created_at", hasOffset))),
	fault("job-created-at-replaced", do(setNow("created_at"), at(fakes.Defaulted))),
	// About the id of a job.
	fault("job-id-beyond-ascii",
		do(decline(fakes.AboutJob, "no such job"), valid(fwp.ACK), text("jid", beyondASCII))),
	fault("job-id-cut", delivered("jid", func(s string) string { return cut(s, 200) })),
	fault("job-id-escaped", do(declineJob, valid(fwp.ACK, fwp.FAIL), escaped("jid"))),
	fault("job-id-lower-case", delivered("jid", strings.ToLower)),
	fault("job-id-nested", do(func(e *event) {
		if custom, err := fakes.ParseObject(e.Object.Get("custom")); err == nil && custom.Text("jid") != "" {
			e.Object.SetText("jid", custom.Text("jid"))
		}
	}, at(fakes.Delivered), has("custom"))),
	fault("job-id-number", delivered("jid", digits)),
	fault("job-id-plain",
		do(decline("jid", "a jid has letters, digits and dashes"), checked(fwp.PUSH), text("jid", with("_")))),
	fault("job-id-quotes", delivered("jid", strings.NewReplacer(`"`, "").Replace)),
	// About the jobtype of a job.
	fault("job-jobtype-html", delivered("jobtype", strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace)),
	fault("job-jobtype-number", delivered("jobtype", digits)),
	fault("job-jobtype-optional", do(accept, checked(fwp.PUSH), about("jobtype"))),
	fault("job-jobtype-scheduled", do(accept, checked(fwp.PUSH), about("jobtype"), has("at"))),
	fault("job-jobtype-trimmed", delivered("jobtype", strings.TrimSpace)),
	// About how long a job is held.
	fault("job-reserve-default", omitted("reserve_for", "60")),
	fault("job-reserve-default-unseen",
		next(jid, both(checked(fwp.PUSH), lacks("reserve_for")), at(fakes.Reserved), lasts(time.Minute))),
	fault("job-reserve-follows", followsJob("reserve_for")),
	fault("job-reserve-minute-refused", refuses("reserve_for", is("reserve_for", "60"))),
	fault("job-reserve-null-short", do(set("reserve_for", "60"), nulls("reserve_for"))),
	fault("job-reserve-short", do(accept, checked(fwp.PUSH), about("reserve_for"))),
	// About how often a job is to be tried again.
	fault("job-retry-any-type", do(accept, checked(fwp.PUSH), about("retry"))),
	fault("job-retry-follows", keepAll(valid(fwp.PUSH), func(last *retries, e *event) {
		if n, is := last.see(e); !is {
			e.Object.SetInt("retry", n)
		}
	})),
	fault("job-retry-follows-unseen", retryFollowsUnseen()),
	fault("job-retry-many-refused", refuses("retry", number("retry", above(defaultRetry)))),
	fault("job-retry-mixed", retryMixed()),
	// About the time of a job that is to be scheduled.
	fault("job-at-anything", do(accept, checked(fwp.PUSH), about("at"))),
	fault("job-at-follows", followsJob("at")),
	fault("job-at-fraction-refused",
		do(decline("at", "at has whole seconds"), checked(fwp.PUSH), text("at", with(".")))),
	fault("job-at-now-lost",
		loses(moment("at", func(at time.Time) bool { return time.Until(at).Abs() < time.Second }))),
	fault("job-at-offset",
		do(shift("at", func(t time.Time) time.Time { return t.Add(offset(t)).UTC() }), at(fakes.Defaulted))),
	fault("job-at-offset-refused", refuses("at", moment("at", hasOffset))),
	fault("job-at-past-lost", loses(moment("at", func(at time.Time) bool { return at.Before(time.Now()) }))),
	fault("job-at-zoneless",
		do(func(e *event) { change("at", func(at string) string { return at + "Z" })(e); accept(e) },
			checked(fwp.PUSH), about("at"), text("at", func(at string) bool { return len(at) == len("2030-01-01T00:00:00") }))),
	// These change the texts within args and custom.
	fault("job-text-backslash", replacing(`\`, "")),
	fault("job-text-cut", contents("args custom", texts(func(s string) string { return cut(s, 255) }))),
	fault("job-text-ends-at-nul",
		contents("args custom", texts(func(s string) string { s, _, _ = strings.Cut(s, "\x00"); return s }))),
	fault("job-text-html", replacing("<", "&lt;", ">", "&gt;", "&", "&amp;")),
	fault("job-text-planes", contents("args custom", texts(func(s string) string {
		return strings.Map(func(r rune) rune {
			if r > 0xFFFF {
				return '\uFFFD'
			}
			return r
		}, s)
	}))),
	fault("job-text-quoted", replacing(`"`, `""`)),
	fault("job-text-tabs", replacing("\t", " ")),
	fault("job-text-trimmed",
		contents("args custom", texts(func(s string) string { return strings.Trim(s, " ") }))),
}

// nulls holds for a PUSH that is right and has null in a field.
func nulls(field string) condition { return both(valid(fwp.PUSH), is(field, "null")) }

// retries is the last retry that a job had, less the default.
type retries int64

// see returns the retry of a job, or the last one that a job had, and whether it is that of the job.
func (r *retries) see(e *event) (n int64, is bool) {
	if n, is = e.Object.Int("retry"); is {
		*r = retries(n - defaultRetry)
	}
	return int64(*r) + defaultRetry, is
}

// retryFollowsUnseen leaves the field as it is and changes only where the job goes.
func retryFollowsUnseen() func() func(*event) {
	type jobs struct {
		last   retries
		doomed memory[string, bool]
	}
	return keepAll(either(valid(fwp.PUSH), at(fakes.Failed)), func(j *jobs, e *event) {
		if e.Point == fakes.Failed {
			if _, doomed := j.doomed.Take(jid(e)); doomed {
				discard(e)
			}
		} else if n, is := j.last.see(e); !is && n <= 0 {
			j.doomed.Of(jid(e))
		}
	})
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

// offset is how far the zone of a time is ahead of UTC.
func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

func hasOffset(t time.Time) bool { return offset(t) != 0 }
