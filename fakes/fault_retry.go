package fakes

import "time"

// retryFaults are about where a failed job goes.
func retryFaults() []Fault {
	move := func(from, to string) func(*Event) {
		return on(Failed, func(e *Event) {
			if e.Set == from {
				e.Set = to
			}
		})
	}
	return []Fault{
		fault("retry-at-once", "STATE-06",
			"a failed job is enqueued again at once",
			on(Failed, func(e *Event) { e.Until = time.Now() })),
		fault("retry-lost", "STATE-09 STATE-06",
			"a job to be retried is discarded when it comes due",
			on(Due, func(e *Event) { e.Skip = e.Set == "retries" })),
		fault("retry-zero-kept", "RETRY-01", "a failed job with retry 0 is retried", move("", "retries")),
		fault("retry-dead-revived", "RETRY-05 RETRY-02 RETRY-03",
			"a dead job is delivered again",
			move("dead", "retries")),
		fault("retry-without-limit", "RETRY-03 RETRY-05",
			"the number of retries is not limited",
			on(Failed, func(e *Event) {
				if n, _ := e.Object.Int("retry"); n > 0 {
					e.Set = "retries"
				}
			})),
	}
}

// retryLimitFaults are about how often a job is to be retried.
func retryLimitFaults() []Fault {
	move := func(retry int64, to string) func(*Event) {
		return on(Failed, func(e *Event) {
			if n, ok := e.Object.Int("retry"); ok && n == retry {
				e.Set = to
			}
		})
	}
	return []Fault{
		fault("retry-negative-kept", "RETRY-02", "a failed job with retry -1 is retried", move(-1, "retries")),
		fault("retry-once-ignored", "WU-07", "a failed job with retry 1 is not retried", move(1, "dead")),
		fault("retry-default-none", "WU-07 RETRY-04",
			"a job without retry is discarded when it fails",
			omitted("retry", "0")),
	}
}
