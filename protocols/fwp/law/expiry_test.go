package law

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// TestExpire: what is known of a job whose reservation has run out: where it may be, from when on it must come back and
// by which clause, and whether it was certainly held until then.
func TestExpire(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	const patience = 150 * time.Second
	for name, test := range map[string]struct {
		job     Job
		delay   time.Duration // behind the end; zero: it is not known
		missing string
		expired bool
	}{
		"held": {
			job:   Job{States: model.Working, Retry: 25, Holder: "w"},
			delay: patience, missing: "FWP-STATE-07", expired: true,
		},
		"failed once": {
			job:   Job{States: model.Working, Retry: 25, Holder: "w", Failures: 1},
			delay: 2 * patience, missing: "FWP-STATE-07", expired: true,
		},
		"failed too often to say when": {
			job: Job{States: model.Working, Retry: 25, Holder: "w", Failures: returnLimit}, missing: "before", expired: true,
		},
		"after a restart": {
			job:   Job{States: model.Working, Retry: 25, Holder: "w", restartClause: "FWP-STATE-08", ackClause: "FWP-FAIL-02"},
			delay: patience, missing: "FWP-STATE-08", expired: true,
		},
		"after a report that was refused": {
			job:   Job{States: model.Working, Retry: 25, Holder: "w", ackClause: "FWP-FAIL-02"},
			delay: patience, missing: "FWP-FAIL-02", expired: true,
		},
		"never to be tried again": {job: Job{States: model.Working, Holder: "w"}, missing: "before", expired: true},
		"how often it failed is not known": {
			job: Job{States: model.Working, Retry: 25, Holder: "w", isUncertain: true}, missing: "before",
		},
		"no worker is known to hold it": {
			job: Job{States: model.Working, Retry: 25}, delay: patience, missing: "FWP-STATE-07",
		},
		"it may be acknowledged": {
			job:   Job{States: model.Working | model.Absent, Retry: 25, Holder: "w"},
			delay: patience, missing: "FWP-STATE-07", expired: true,
		},
		"an earlier reservation had run out": {
			job:     Job{States: model.Working, Retry: 25, Holder: "w", isUncertain: true, hasExpired: true},
			missing: "before", expired: true,
		},
	} {
		j := test.job
		j.reservationEnd, j.missingClause, j.failure = until, "before", map[string]any{"message": "x"}
		end := model.ExpiryEvent(j.Retry, j.Failures)
		j.expire(patience)
		after, _ := model.Working.After(end)
		assert.Equal(t, test.job.States|after, j.States, name)
		if test.delay == 0 {
			assert.True(t, j.dueTime.IsZero(), name)
		} else {
			assert.Equal(t, until.Add(test.delay), j.dueTime, name)
		}
		assert.Equal(t, test.missing, j.missingClause, name)
		assert.Equal(t, test.expired, j.hasExpired, name)
		assert.True(t, j.isOverdue && j.isUncertain && j.failure == nil, "%s: what the next delivery has is not known", name)
	}
}

// TestAdvance: a reservation ends at its end, once, and a job that is due is in its queue from then on.
func TestAdvance(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		job     Job
		overdue bool
		queued  bool
	}{
		"at the end":            {job: Job{States: model.Working, lastDelivery: now.Add(-1), reservationEnd: now}, overdue: true},
		"just before":           {job: Job{States: model.Working, lastDelivery: now.Add(-1), reservationEnd: now.Add(1)}},
		"without a reservation": {job: Job{States: model.Working, lastDelivery: now, reservationEnd: now}},
		"no worker has it":      {job: Job{States: model.Enqueued, lastDelivery: now.Add(-1), reservationEnd: now}, queued: true},
		"due":                   {job: Job{States: model.Scheduled, dueTime: now}, queued: true},
		"due soon":              {job: Job{States: model.Scheduled, dueTime: now.Add(1)}},
	} {
		j := test.job
		j.advance(now, time.Minute)
		assert.Equal(t, test.overdue, j.isOverdue, name)
		assert.Equal(t, test.queued, j.States == model.Enqueued, name)
	}
}

// TestFailures: which failure a job must have when it is delivered, and when another bug may explain what it has.
func TestFailures(t *testing.T) {
	t.Parallel()
	failure := map[string]any{"message": "x"}
	for name, test := range map[string]struct {
		job      Job
		got      any
		enqueued string // what the server says now; the job has "then"
		clause   string
		doubtful bool
	}{
		"never failed":              {},
		"never failed, and has one": {got: failure, clause: "FWP-WU-13"},
		"expired, and has one":      {job: Job{hasExpired: true, isUncertain: true}, got: failure, enqueued: "now"},
		"expired, and has none": {
			job: Job{hasExpired: true, isUncertain: true}, enqueued: "now", clause: "FWP-WU-13", doubtful: true,
		},
		"expired, perhaps given out twice":    {job: Job{hasExpired: true, isUncertain: true}, enqueued: "then"},
		"not certainly expired, and has none": {job: Job{isUncertain: true}, enqueued: "now"},
		"failed, and has none":                {job: Job{Failures: 1, failure: failure}, clause: "FWP-WU-13", doubtful: true},
		"failed, what with is not known":      {job: Job{Failures: 1}},
	} {
		j := test.job
		j.enqueuedAt = "then"
		f := map[string]any{"enqueued_at": test.enqueued}
		if test.got != nil {
			f["failure"] = test.got
		}
		v := j.judgeFailure(f, time.Now())
		if test.clause == "" {
			assert.Nil(t, v, name)
		} else if assert.NotNil(t, v, name) {
			assert.Equal(t, test.clause, v.Clause, name)
			assert.Equal(t, test.doubtful, v.Doubtful, name)
		}
	}
}
