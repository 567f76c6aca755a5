package load_test

import (
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fakes"
)

// countJobs has n be the number of jobs that are in queues or held.
func countJobs(n *int64) func(*fakes.Event) {
	return func(e *fakes.Event) {
		switch e.Point {
		case fakes.Defaulted:
			atomic.AddInt64(n, 1)
		case fakes.Acked:
			atomic.AddInt64(n, -1)
		}
	}
}

// stallServer has the server send nothing at all for a while, once, counted from the first
// PUSH.
func stallServer(at, length time.Duration) func(*fakes.Event) {
	var first atomic.Pointer[time.Time]
	return func(e *fakes.Event) {
		if e.Point != fakes.Ran {
			return
		}
		now := time.Now()
		if e.Command.Verb == "PUSH" {
			first.CompareAndSwap(nil, &now)
		}
		if begin := first.Load(); begin != nil {
			if since := now.Sub(*begin); since >= at && since < at+length {
				e.Delay += at + length - since
			}
		}
	}
}

// eachDelivery has fn see every nth job that is delivered.
func eachDelivery(n int64, fn func(*fakes.Event)) func(*fakes.Event) {
	return eachNth(fakes.Delivered, n, fn)
}

// eachNth has fn see every nth event at a point.
func eachNth(point fakes.Point, n int64, fn func(*fakes.Event)) func(*fakes.Event) {
	var count atomic.Int64
	return func(e *fakes.Event) {
		if e.Point == point && count.Add(1)%n == 0 {
			fn(e)
		}
	}
}
