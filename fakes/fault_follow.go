package fakes

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// followFaults are about defaults that other jobs change.
func followFaults() []Fault {
	return []Fault{
		statefulFault("job-retry-follows", "RETRY-04 WU-07",
			"a job without retry gets that of the job before",
			retryFollows),
		statefulFault("job-reserve-follows", "WU-05",
			"a job without reserve_for is held as long as the one before",
			follows("reserve_for")),
		statefulFault("job-reserve-default-unseen", "WU-05",
			"a job without reserve_for is held for 60 s, but is delivered with the right default",
			noted(
				func(e *Event) bool {
					return e.Point == Checked && e.Command.Verb == fwp.PUSH && given(e.Object, "reserve_for") == nil
				},
				Reserved, func(e *Event) { e.Until = time.Now().Add(time.Minute) })),
		statefulFault("job-retry-mixed", "WU-07", "every 50th job gets the retry of an earlier one", retryMixed),
		statefulFault("job-retry-follows-unseen", "RETRY-04 WU-07",
			"a job without retry is not retried if the job before had a retry of 0 or less",
			retryFollowsUnseen),
	}
}

func retryFollows() func(*Event) {
	var last atomic.Int64
	last.Store(defaultRetry)
	return when(Checked, fwp.PUSH, func(e *Event) {
		if e.Err != nil {
			return
		}
		if n, ok := e.Object.Int("retry"); ok {
			last.Store(n)
		} else {
			e.Object.Set("retry", itoa(last.Load()))
		}
	})
}

// follows gives a job that leaves a field out the value of the last job that had it.
func follows(field string) func() func(*Event) {
	return func() func(*Event) {
		var last notes[string, json.RawMessage]
		return when(Checked, fwp.PUSH, func(e *Event) {
			if e.Err != nil {
				return
			}
			value := given(e.Object, field)
			if value == nil {
				if value, _ = last.take(field); value == nil {
					return
				}
				e.Object.Set(field, string(value))
			}
			last.put(field, slices.Clone(value))
		})
	}
}

func retryMixed() func(*Event) {
	var mu sync.Mutex
	var count, last, other int64
	return when(Checked, fwp.PUSH, func(e *Event) {
		n, ok := e.Object.Int("retry")
		if e.Err != nil || !ok {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if n != last {
			last, other = n, last
		}
		if count++; count%50 == 0 {
			e.Object.Set("retry", itoa(other))
		}
	})
}

// retryFollowsUnseen leaves the field as it is and changes only where the job goes.
func retryFollowsUnseen() func(*Event) {
	var last atomic.Int64
	last.Store(defaultRetry)
	var doomed notes[string, bool]
	return func(e *Event) {
		switch {
		case e.Point == Checked && e.Command.Verb == fwp.PUSH && e.Err == nil:
			if n, ok := e.Object.Int("retry"); ok {
				last.Store(n)
			} else {
				doomed.put(e.Object.Text("jid"), last.Load() <= 0)
			}
		case e.Point == Failed:
			if is, _ := doomed.take(e.Object.Text("jid")); is {
				e.Set = ""
			}
		}
	}
}
