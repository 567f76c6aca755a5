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
	fault("job-jid-optional", "WU-01 RESP-02",
		"a job without jid, or with one that is not a string, gets one from the server",
		keepAll(both(checked(fwp.PUSH), about("jid")), func(made *int, e *event) {
			*made++
			e.Object.SetText("jid", fmt.Sprintf("made-by-the-server-%d", *made))
			e.Accept()
		})),
	fault("job-null-dropped", "WU-03 WU-11", "members of hashes that are null are dropped",
		contents("args custom", withoutNulls)).Also("job-keys-dollar", "job-keys-empty", "job-zeros-dropped"),
	fault("job-queue-default", "WU-04", "a job without queue goes to another queue than default",
		omitted("queue", `"standard"`)),
	fault("job-queue-null-lost", "WU-04", "a job whose queue is null is answered with OK and lost",
		next(jid, nulls("queue"), at(fakes.Defaulted), skip)),
	fault("job-queue-null-refused", "WU-04", "a queue of null is refused",
		do(decline("queue", "queue is null"), nulls("queue"))),
	// About how many lines of a backtrace are kept.
	fault("job-backtrace-all", "WU-08", "a job without backtrace keeps all lines", omitted("backtrace", "30")),
	fault("job-backtrace-follows", "WU-08", "a job without backtrace keeps as many lines as the one before",
		followsJob("backtrace")),
	fault("job-backtrace-null-refused", "WU-08", "a backtrace of null is refused",
		do(decline("backtrace", "backtrace is null"), nulls("backtrace"))),
	fault("job-backtrace-refused", "WU-09 PUSH-01", "a backtrace above 30 is refused",
		refuses("backtrace", number("backtrace", above(30)))),
	// About custom.
	fault("job-custom-any-type", "WU-11 WU-14", "custom may be of any type",
		do(accept, checked(fwp.PUSH), about("custom"))),
	fault("job-custom-dropped", "WU-11", "custom is not delivered", do(drop("custom"), at(fakes.Defaulted))),
	fault("job-custom-flat", "WU-11", "hashes within custom become texts", contents("custom", func(v any) any {
		for k, inner := range v.(map[string]any) {
			if m, is := inner.(map[string]any); is {
				b, _ := json.Marshal(m) // it was JSON
				v.(map[string]any)[k] = string(b)
			}
		}
		return v
	})),
	fault("job-custom-follows", "WU-11", "a job without custom gets that of the job before", followsJob("custom")).
		Also("job-custom-mixed"),
	fault("job-custom-integer-rounded", "WU-11", "integers in custom beyond 2^53 are rounded",
		contents("custom", leaves(roundedInteger))),
	fault("job-custom-invented", "WU-11", "a job without custom gets an empty one", omitted("custom", "{}")),
	fault("job-custom-long", "WU-11", "custom of more than 4 KiB is dropped",
		do(drop("custom"), at(fakes.Defaulted), large("custom", 4<<10))),
	fault("job-custom-null-refused", "WU-11", "a custom of null is refused", refuses("custom", is("custom", "null"))),
	fault("job-custom-overrides", "WU-11",
		"members of custom with the names of optional fields replace those of the job", do(func(e *event) {
			custom, _ := fakes.ParseObject(e.Object.Get("custom")) // none, or another value
			for _, f := range custom.Fields() {
				switch f.Name {
				case "retry", "reserve_for", "queue", "backtrace":
					e.Object.Set(f.Name, string(f.Value))
				}
			}
		}, at(fakes.Defaulted), has("custom"))),
	// About the failure of a job, and about when it was enqueued.
	fault("job-enqueued-at-first", "WU-12", "enqueued_at is the time of creation",
		do(copies("enqueued_at", "created_at"), at(fakes.Delivered))),
	fault("job-enqueued-at-kept", "WU-12", "enqueued_at of the producer is kept, if there is one", sent("enqueued_at")),
	fault("job-enqueued-at-stale", "WU-12", "enqueued_at keeps its first value",
		firstValue(fakes.Delivered, "enqueued_at")),
	fault("job-failure-dropped", "WU-13 FAIL-06", "failure is not delivered", do(drop("failure"), at(fakes.Delivered))),
	fault("job-failure-first", "WU-13 WU-09", "failure keeps its first value", firstValue(fakes.Failed, "failure")),
	fault("job-failure-kept", "WU-13", "failure of the producer is kept, if there is one", sent("failure")),
	fault("job-failure-mute", "FAIL-06", "failure does not contain what the worker reported",
		do(set("failure", `{"failed":true}`), at(fakes.Failed))),
	fault("job-failure-not-expired", "WU-13", "a job whose reservation ran out has no failure",
		do(drop("failure"), at(fakes.Expired))),
	fault("job-failure-text", "WU-13 FAIL-06 WU-09", "failure is a text",
		do(func(e *event) { e.Object.SetText("failure", string(e.Object.Get("failure"))) },
			at(fakes.Delivered), has("failure"))),
	// These confuse the ids of jobs in reports.
	fault("job-ids-blanks", "STATE-07", "blanks around the jid of an ACK do not count",
		do(change("jid", strings.TrimSpace), valid(fwp.ACK))),
	fault("job-ids-cut", "STATE-09 ACK-02 STATE-07",
		"the report of a job is for the one in hand that was fetched first of those with the same 40 first bytes",
		likeJob(func(s string) string { return s[:min(40, len(s))] })).Also("job-ids-begin", "job-ids-numbers"),
	fault("job-ids-folded", "ACK-01", "an ACK is refused if a jid that differs only in case was acknowledged before",
		keep(func(e *event) string { return strings.ToLower(jid(e)) }, checked(fwp.ACK), func(done *string, e *event) {
			if *done != "" && *done != jid(e) {
				e.Decline(fakes.AboutJob, "no such job")
			} else if e.Err == nil {
				*done = jid(e)
			}
		})),
	// These change the numbers and the hashes within args and custom.
	fault("job-empty-array-null", "WU-03 WU-11", "an empty array within args or custom becomes null",
		leaf(only(func(a []any) any {
			if len(a) == 0 {
				return nil
			}
			return a
		}))).Also("job-empty-hash-array"),
	fault("job-exponent-dropped", "WU-03 WU-11", "a number loses its exponent",
		leaf(numbers(func(n string) string { n, _, _ = strings.Cut(strings.ToLower(n), "e"); return n }))),
	fault("job-fraction-single", "WU-03 WU-11", "numbers that are not integers have single precision",
		leaf(numbers(func(n string) string {
			f, err := strconv.ParseFloat(n, 64)
			if _, other := json.Number(n).Int64(); other == nil || err != nil {
				return n
			}
			return strconv.FormatFloat(float64(float32(min(f, math.MaxFloat32))), 'g', -1, 64)
		}))).Also("job-fraction-cut"),
	fault("job-nesting-cut", "WU-03", "what is nested more than eight levels deep becomes null",
		contents("args", shallow(8))),
	fault("job-truth-number", "WU-03 WU-11", "true and false become 1 and 0", leaf(func(v any) any {
		return turns(false, json.Number("0"))(turns(true, json.Number("1"))(v))
	})),
	// These change the integers within args and custom.
	fault("job-integer-32-bits", "WU-03 WU-11", "integers keep their last 32 bits", leaf(integers(func(n int64) any {
		return json.Number(itoa(int64(int32(n))))
	}))).Also("job-integer-32", "job-integer-signless", "job-integer-text", "job-integer-unsigned"),
	fault("job-integer-rounded", "WU-03", "integers in args beyond 2^53 are rounded", do(roundArgs, checked(fwp.PUSH))),
	// These change the keys of hashes within args and custom.
	fault("job-keys-array", "WU-03 WU-11", "a hash whose keys are 0, 1 and so on becomes an array", leaf(only(asList))),
	fault("job-keys-cut", "WU-03 WU-11", "a key is cut after 64 bytes",
		contents("args custom", keys(func(s string) string { return cut(s, 64) }))),
	fault("job-keys-folded", "WU-03 WU-11", "the keys of hashes are in lower case",
		contents("args custom", keys(strings.ToLower))).Also("job-keys-split"),
	// About the args of a job.
	fault("job-args-any-type", "WU-03 RESP-02", "args may be missing or of any type",
		do(accept, checked(fwp.PUSH), about("args"))),
	fault("job-args-empty-null", "WU-03", "args without an element are delivered as null",
		do(set("args", "null"), at(fakes.Delivered), is("args", "[]"))),
	fault("job-args-empty-refused", "WU-03 PUSH-01 FLUSH-04 STATE-03 WU-06", "args without an element are refused",
		refuses("args", is("args", "[]"))),
	fault("job-args-hundred", "WU-03", "args have no more than 100 elements",
		contents("args", func(v any) any { a, _ := v.([]any); return a[:min(100, len(a))] })),
	fault("job-args-reversed", "WU-03", "args are delivered in reverse order", do(reverseArgs, checked(fwp.PUSH))),
	fault("job-args-seldom-reversed", "WU-03 FETCH-01", "every 60th job is delivered with its args in reverse order",
		every(60, at(fakes.Delivered), reverseArgs)),
	fault("job-args-set", "WU-03", "equal elements of an array in args are delivered once",
		contents("args", leaves(only(asSet)))),
	// About when a job was created.
	fault("job-created-at-ahead", "WU-10", "a created_at that is ahead becomes the time of the PUSH",
		do(setNow("created_at"), at(fakes.Defaulted), moment("created_at", func(at time.Time) bool {
			return time.Until(at) > time.Minute
		}))),
	fault("job-created-at-day", "WU-10", "created_at keeps its date only",
		delivered("created_at", func(at string) string {
			if len(at) > 10 {
				return at[:10] + "T00:00:00Z"
			}
			return at
		})),
	fault("job-created-at-follows", "WU-10", "a job without created_at gets that of the job before",
		followsJob("created_at")),
	fault("job-created-at-missing", "WU-10", "created_at stays empty if the producer left it out",
		omitted("created_at", `""`)),
	fault("job-created-at-offset", "WU-10", "the offset of created_at is read as UTC",
		do(change("created_at", func(at string) string {
			if zone := len(at) - len("+00:00"); zone > 0 && (at[zone] == '+' || at[zone] == '-') {
				return at[:zone] + "Z"
			}
			return at
		}), at(fakes.Defaulted))),
	fault("job-created-at-offset-refused", "WU-10 PUSH-01", "a created_at with an offset is refused",
		refuses("created_at", moment("created_at", hasOffset))).Also("job-created-at-null-refused"),
	fault("job-created-at-replaced", "WU-10", "created_at is the time of the PUSH, whatever the producer sent",
		do(setNow("created_at"), at(fakes.Defaulted))),
	// About the id of a job.
	fault("job-id-beyond-ascii", "ACK-01", "an ACK whose jid has characters beyond ASCII is refused",
		do(decline(fakes.AboutJob, "no such job"), valid(fwp.ACK), text("jid", beyondASCII))),
	fault("job-id-cut", "FETCH-01 FRAME-06", "a jid is delivered without what follows its first 200 bytes",
		delivered("jid", func(s string) string { return cut(s, 200) })),
	fault("job-id-escaped", "ACK-01", "escapes in the jid of a report are not decoded",
		do(declineJob, valid(fwp.ACK, fwp.FAIL), escaped("jid"))),
	fault("job-id-lower-case", "FETCH-01 PUSH-04", "a jid is delivered in lower case", delivered("jid", strings.ToLower)),
	fault("job-id-nested", "FETCH-01", "a jid within custom replaces that of the job", do(func(e *event) {
		if custom, err := fakes.ParseObject(e.Object.Get("custom")); err == nil && custom.Text("jid") != "" {
			e.Object.SetText("jid", custom.Text("jid"))
		}
	}, at(fakes.Delivered), has("custom"))),
	fault("job-id-number", "FETCH-01", "a jid of digits is delivered without the zeros that lead it",
		delivered("jid", digits)),
	fault("job-id-plain", "WU-01", "a jid with an underscore is refused",
		do(decline("jid", "a jid has letters, digits and dashes"), checked(fwp.PUSH), text("jid", with("_")))),
	fault("job-id-quotes", "FETCH-01", "a quotation mark in a jid is dropped",
		delivered("jid", strings.NewReplacer(`"`, "").Replace)),
	// About the jobtype of a job.
	fault("job-jobtype-html", "FETCH-01", "a jobtype is delivered with entities for < and >",
		delivered("jobtype", strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace)).Also("job-jobtype-format"),
	fault("job-jobtype-number", "FETCH-01", "a jobtype of digits is delivered without the zeros that lead it",
		delivered("jobtype", digits)),
	fault("job-jobtype-optional", "WU-02 RESP-02", "jobtype may be missing or of any type",
		do(accept, checked(fwp.PUSH), about("jobtype"))),
	fault("job-jobtype-scheduled", "WU-02", "the jobtype of a job that is scheduled may be missing or of any type",
		do(accept, checked(fwp.PUSH), about("jobtype"), has("at"))),
	fault("job-jobtype-trimmed", "FETCH-01", "a jobtype loses the white space at its ends",
		delivered("jobtype", strings.TrimSpace)).
		Also("job-jobtype-backslash", "job-jobtype-cut", "job-jobtype-lower-case"),
	// About how long a job is held.
	fault("job-reserve-default", "WU-05", "a job without reserve_for is held for 60 s", omitted("reserve_for", "60")),
	fault("job-reserve-default-unseen", "WU-05",
		"a job without reserve_for is held for 60 s, but is delivered with the right default",
		next(jid, both(checked(fwp.PUSH), lacks("reserve_for")), at(fakes.Reserved), lasts(time.Minute))),
	fault("job-reserve-follows", "WU-05", "a job without reserve_for is held as long as the one before",
		followsJob("reserve_for")),
	fault("job-reserve-minute-refused", "WU-05 PUSH-01", "a reserve_for of 60 is refused",
		refuses("reserve_for", is("reserve_for", "60"))).Also("job-reserve-null-refused"),
	fault("job-reserve-null-short", "WU-05", "a job whose reserve_for is null is held for 60 s",
		do(set("reserve_for", "60"), nulls("reserve_for"))),
	fault("job-reserve-short", "WU-05b", "a reserve_for under 60 s is accepted and used",
		do(accept, checked(fwp.PUSH), about("reserve_for"))),
	// About how often a job is to be tried again.
	fault("job-retry-any-type", "WU-14", "retry may be of any type", do(accept, checked(fwp.PUSH), about("retry"))),
	fault("job-retry-follows", "RETRY-04 WU-07", "a job without retry gets that of the job before",
		keepAll(valid(fwp.PUSH), func(last *retries, e *event) {
			if n, is := last.see(e); !is {
				e.Object.SetInt("retry", n)
			}
		})),
	fault("job-retry-follows-unseen", "RETRY-04 WU-07",
		"a job without retry is not retried if the job before had a retry of 0 or less", retryFollowsUnseen()),
	fault("job-retry-many-refused", "WU-07 PUSH-01", "a retry above 25 is refused",
		refuses("retry", number("retry", above(defaultRetry)))).
		Also("job-retry-negative-refused", "job-retry-null-refused"),
	fault("job-retry-mixed", "WU-07", "every 50th job gets the retry of an earlier one", retryMixed()),
	// About the time of a job that is to be scheduled.
	fault("job-at-anything", "WU-06b", "an at that is not a time counts as omitted",
		do(accept, checked(fwp.PUSH), about("at"))),
	fault("job-at-follows", "WU-06", "a job without at gets that of the job before", followsJob("at")),
	fault("job-at-fraction-refused", "WU-06 PUSH-01", "an at with a fraction of a second is refused",
		do(decline("at", "at has whole seconds"), checked(fwp.PUSH), text("at", with(".")))),
	fault("job-at-now-lost", "WU-06 WU-04",
		"a job whose at is less than a second ago or ahead is answered with OK and lost",
		loses(moment("at", func(at time.Time) bool { return time.Until(at).Abs() < time.Second }))),
	fault("job-at-offset", "WU-06 WU-12", "the offset of at is read as UTC",
		do(shift("at", func(t time.Time) time.Time { return t.Add(offset(t)).UTC() }), at(fakes.Defaulted))).
		Also("job-at-east", "job-at-half-hours"),
	fault("job-at-offset-refused", "WU-06 PUSH-01", "an at with an offset is refused",
		refuses("at", moment("at", hasOffset))).Also("job-at-tenths-refused"),
	fault("job-at-past-lost", "WU-06 PUSH-04", "a job whose at is in the past is answered with OK and lost",
		loses(moment("at", func(at time.Time) bool { return at.Before(time.Now()) }))),
	fault("job-at-zoneless", "WU-06b", "an at without a zone is accepted",
		do(func(e *event) { change("at", func(at string) string { return at + "Z" })(e); accept(e) },
			checked(fwp.PUSH), about("at"), text("at", func(at string) bool { return len(at) == len("2030-01-01T00:00:00") }))),
	// These change the texts within args and custom.
	fault("job-text-backslash", "WU-03 WU-11", "a backslash in a text is dropped", replacing(`\`, "")),
	fault("job-text-cut", "WU-03 WU-11", "a text is cut after 255 bytes",
		contents("args custom", texts(func(s string) string { return cut(s, 255) }))).
		Also("job-text-percent", "job-text-plus"),
	fault("job-text-ends-at-nul", "WU-03 WU-11 FRAME-09", "a text ends at its first U+0000",
		contents("args custom", texts(func(s string) string { s, _, _ = strings.Cut(s, "\x00"); return s }))),
	fault("job-text-html", "WU-03 WU-11", "the characters < > & in texts become entities",
		replacing("<", "&lt;", ">", "&gt;", "&", "&amp;")),
	fault("job-text-planes", "WU-03 WU-11 FRAME-09", "a character beyond U+FFFF becomes U+FFFD",
		contents("args custom", texts(func(s string) string {
			return strings.Map(func(r rune) rune {
				if r > 0xFFFF {
					return '\uFFFD'
				}
				return r
			}, s)
		}))),
	fault("job-text-quoted", "WU-03 WU-11", "a quotation mark in a text is doubled", replacing(`"`, `""`)).
		Also("job-text-empty-null"),
	fault("job-text-tabs", "WU-03 WU-11", "a tab in a text becomes a space", replacing("\t", " ")).
		Also("job-text-composed", "job-text-joiners", "job-text-line-ends"),
	fault("job-text-trimmed", "WU-03 WU-11", "texts lose the spaces at their ends",
		contents("args custom", texts(func(s string) string { return strings.Trim(s, " ") }))).Also("job-text-number"),
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
