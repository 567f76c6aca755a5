package faults

import (
	"math"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// retryFaults are about retries.
var retryFaults = []fakes.Fault{
	// About where a failed job goes, and when.
	fault("retry-at-once", do(now, at(fakes.Failed))),
	fault("retry-dead-revived", do(retry, at(fakes.Failed), func(e *event) bool { return e.Set == "dead" })),
	fault("retry-lost", do(skip, due("retries"))),
	fault("retry-negative-kept-late",
		do(revive, at(fakes.Failed), ends, number("retry", func(n int64) bool { return n < 0 }))),
	fault("retry-once-more", do(revive, at(fakes.Failed), ends, number("retry", above(0)))),
	fault("retry-with-its-connection", ifGone(fakes.Failed, due("retries"), skip)),
	fault("retry-woken", whileWaiting(1, both(at(fakes.Failed), not(ends)), now)),
	fault("retry-woken-last", whileWaiting(1, both(at(fakes.Failed), ends), retryIn(0))),
	fault("retry-zero-kept", do(retry, at(fakes.Failed), func(e *event) bool { return e.Set == "" })),
	fault("retry-zero-kept-late", do(revive, at(fakes.Failed), ends, is("retry", "0"))),
	// About how often a job is tried again.
	fault("retry-32-bits", do(discard, at(fakes.Failed), number("retry", above(math.MaxInt32)))),
	fault("retry-8-bits",
		do(discard, at(fakes.Failed), number("retry", func(n int64) bool { return n > 0 && n%256 == 0 }))),
	fault("retry-counted-apart",
		keep(func(e *event) string { return worker(e) + " " + jid(e) }, both(at(fakes.Failed), connected),
			func(failures *int64, e *event) {
				if limit, is := e.Object.Int("retry"); is && *failures < limit && ends(e) {
					retryIn(20 * time.Second)(e)
				}
				*failures++
			})),
	fault("retry-counted-by-worker",
		keep(worker, both(at(fakes.Failed), connected), func(failures *int64, e *event) {
			*failures++
			if n, is := e.Object.Int("retry"); is && n >= 0 && *failures > n {
				die(e)
			}
		})),
	fault("retry-default-none", omitted("retry", "0")),
	fault("retry-default-one",
		repeated(jid, both(at(fakes.Failed), either(is("retry", "25"), not(number("retry", anyInteger)))), die)),
	fault("retry-null-none", next(jid, nulls("retry"), at(fakes.Failed), discard)),
	fault("retry-once-ignored", do(die, at(fakes.Failed), is("retry", "1"))),
	fault("retry-once-less", keep(jid, at(fakes.Failed), func(failures *int64, e *event) {
		*failures++
		if most, _ := e.Object.Int("retry"); most >= 2 && *failures >= most {
			die(e)
		}
	})),
	// About the fields of a job that comes back.
	fault("retry-doubles", withJob(at(fakes.Delivered), done(fwp.FAIL), func(e *event, job *object) {
		if n, _ := job.Int("retry"); n > 0 {
			e.Push(job, time.Now().Add(20*time.Second))
		}
	})),
	fault("retry-drops-backtrace", do(set("backtrace", "0"), at(fakes.Failed))),
	fault("retry-drops-custom", next(jid, at(fakes.Failed), at(fakes.Delivered), drop("custom"))),
	fault("retry-drops-reserve", do(lasts(1800*time.Second), at(fakes.Reserved), has("failure"))),
	fault("retry-first-key-counts", next(jid, at(fakes.Failed), at(fakes.Delivered), func(e *event) {
		e.Object.Set("args", strings.ReplaceAll(string(e.Object.Get("args")), `{"a":1,"a":2}`, `{"a":1}`))
	})),
	fault("retry-integer-rounded", next(jid, at(fakes.Failed), at(fakes.Delivered), rounded)),
	fault("retry-lines-kept", keep(jid, at(fakes.Failed), func(lines *string, e *event) {
		failure, err := fakes.ParseObject(e.Object.Get("failure"))
		if err != nil {
			return
		}
		if *lines == "" {
			*lines = string(failure.Get("backtrace"))
		}
		if *lines != "" {
			failure.Set("backtrace", *lines)
			e.Object.Set("failure", string(failure.Append(nil)))
		}
	})),
	fault("retry-new-created-at", next(jid, at(fakes.Failed), at(fakes.Delivered), setNow("created_at"))),
	fault("retry-other-queue-shown", next(jid, at(fakes.Failed), at(fakes.Delivered), set("queue", `"retries"`))),
	fault("retry-reverses-args", next(jid, at(fakes.Failed), at(fakes.Delivered), reverseArgs)),
	fault("retry-text-escaped", next(jid, at(fakes.Failed), at(fakes.Delivered), func(e *event) {
		reshape(e.Object, "args custom", texts(strings.NewReplacer("\n", `\n`).Replace))
	})),
}

// ends holds if a job that failed is not tried again.
func ends(e *event) bool { return e.Set != "retries" }

// revive tries a job again after 16 s to 74 s.
func revive(e *event) {
	n, _ := e.Object.Int("retry")
	retryIn(drawn(16*time.Second, 74*time.Second, e, n))(e)
}
