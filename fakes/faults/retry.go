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
	fault("retry-at-once", "STATE-06", "a failed job is enqueued again at once", do(now, at(fakes.Failed))),
	fault("retry-dead-revived", "RETRY-05 RETRY-02 RETRY-03", "a dead job is delivered again",
		do(retry, at(fakes.Failed), func(e *event) bool { return e.Set == "dead" })),
	fault("retry-lost", "STATE-09 STATE-06", "a job to be retried is discarded when it comes due",
		do(skip, due("retries"))),
	fault("retry-negative-kept-late", "RETRY-02", "a failed job with retry -1 is retried, after 16 s to 74 s",
		do(revive, at(fakes.Failed), ends, number("retry", func(n int64) bool { return n < 0 }))).
		Also("retry-negative-kept"),
	fault("retry-once-more", "RETRY-03 RETRY-05",
		"a job that has used up its retries is retried once more, after 16 s to 74 s",
		do(revive, at(fakes.Failed), ends, number("retry", above(0)))).Also("retry-without-limit"),
	fault("retry-with-its-connection", "STATE-09 STATE-08",
		"a failed job is discarded when it comes due if the connection of its FAIL has ended",
		ifGone(fakes.Failed, due("retries"), skip)),
	fault("retry-woken", "STATE-06", "a job that fails while a FETCH waits at its queue is delivered at once",
		whileWaiting(1, both(at(fakes.Failed), not(ends)), now)),
	fault("retry-woken-last", "RETRY-01 RETRY-02 RETRY-03",
		"a job without retries that fails while a FETCH waits at its queue is delivered once more",
		whileWaiting(1, both(at(fakes.Failed), ends), retryIn(0))),
	fault("retry-zero-kept", "RETRY-01", "a failed job with retry 0 is retried",
		do(retry, at(fakes.Failed), func(e *event) bool { return e.Set == "" })),
	fault("retry-zero-kept-late", "RETRY-01", "a failed job with retry 0 is retried once, after 16 s to 74 s",
		do(revive, at(fakes.Failed), ends, is("retry", "0"))),
	// About how often a job is tried again.
	fault("retry-32-bits", "WU-07", "a job whose retry has more than 31 bits is discarded when it fails",
		do(discard, at(fakes.Failed), number("retry", above(math.MaxInt32)))),
	fault("retry-8-bits", "WU-07", "of a retry only the last eight bits count",
		do(discard, at(fakes.Failed), number("retry", func(n int64) bool { return n > 0 && n%256 == 0 }))),
	fault("retry-counted-apart", "RETRY-03 RETRY-05", "the failures of a job are counted apart for each worker",
		keep(func(e *event) string { return worker(e) + " " + jid(e) }, both(at(fakes.Failed), connected),
			func(failures *int64, e *event) {
				if limit, is := e.Object.Int("retry"); is && *failures < limit && ends(e) {
					retryIn(20 * time.Second)(e)
				}
				*failures++
			})),
	fault("retry-counted-by-worker", "WU-07 STATE-09 RETRY-03", "the failures of all jobs of a worker count for each",
		keep(worker, both(at(fakes.Failed), connected), func(failures *int64, e *event) {
			*failures++
			if n, is := e.Object.Int("retry"); is && n >= 0 && *failures > n {
				die(e)
			}
		})),
	fault("retry-default-none", "WU-07 RETRY-04", "a job without retry is discarded when it fails",
		omitted("retry", "0")),
	fault("retry-default-one", "RETRY-04 WU-07", "a job without retry is retried once",
		repeated(jid, both(at(fakes.Failed), either(is("retry", "25"), not(number("retry", anyInteger)))), die)),
	fault("retry-null-none", "WU-07 RETRY-04", "a job whose retry is null is discarded when it fails",
		next(jid, nulls("retry"), at(fakes.Failed), discard)),
	fault("retry-once-ignored", "WU-07", "a failed job with retry 1 is not retried",
		do(die, at(fakes.Failed), is("retry", "1"))),
	fault("retry-once-less", "WU-07 STATE-09 RETRY-03",
		"a job is tried again once less than its retry says, if that is 2 or more",
		keep(jid, at(fakes.Failed), func(failures *int64, e *event) {
			*failures++
			if most, _ := e.Object.Int("retry"); most >= 2 && *failures >= most {
				die(e)
			}
		})),
	// About the fields of a job that comes back.
	fault("retry-doubles", "STATE-05 RETRY-03 RETRY-05 FAIL-06 WU-13",
		"a job that failed is enqueued a second time, 20 s after its FAIL",
		withJob(at(fakes.Delivered), done(fwp.FAIL), func(e *event, job *object) {
			if n, _ := job.Int("retry"); n > 0 {
				e.Push(job, time.Now().Add(20*time.Second))
			}
		})),
	fault("retry-drops-backtrace", "WU-09", "a job that failed comes back with a backtrace of 0",
		do(set("backtrace", "0"), at(fakes.Failed))),
	fault("retry-drops-custom", "WU-11", "a job that failed comes back without custom",
		next(jid, at(fakes.Failed), at(fakes.Delivered), drop("custom"))),
	fault("retry-drops-reserve", "STATE-07", "a job that failed before is held for 1800 s",
		do(lasts(1800*time.Second), at(fakes.Reserved), has("failure"))),
	fault("retry-first-key-counts", "WU-03",
		"of two members of a hash in args with the same name the first counts when a job comes back",
		next(jid, at(fakes.Failed), at(fakes.Delivered), func(e *event) {
			e.Object.Set("args", strings.ReplaceAll(string(e.Object.Get("args")), `{"a":1,"a":2}`, `{"a":1}`))
		})),
	fault("retry-integer-rounded", "WU-03 WU-11", "a job that failed comes back with its large integers rounded",
		next(jid, at(fakes.Failed), at(fakes.Delivered), rounded)),
	fault("retry-lines-kept", "WU-09 WU-13", "a job that fails again comes back with the lines of its first backtrace",
		keep(jid, at(fakes.Failed), func(lines *string, e *event) {
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
	fault("retry-new-created-at", "WU-10", "a job that failed comes back with the time of its FAIL in created_at",
		next(jid, at(fakes.Failed), at(fakes.Delivered), setNow("created_at"))),
	fault("retry-other-queue-shown", "FETCH-01 WU-04",
		"a job that failed comes back with retries as the name of its queue",
		next(jid, at(fakes.Failed), at(fakes.Delivered), set("queue", `"retries"`))),
	fault("retry-reverses-args", "WU-03", "a job that failed comes back with its args in reverse order",
		next(jid, at(fakes.Failed), at(fakes.Delivered), reverseArgs)),
	fault("retry-text-escaped", "WU-03 WU-11",
		"a job that failed comes back with the control characters of its texts as escapes",
		next(jid, at(fakes.Failed), at(fakes.Delivered), func(e *event) {
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
