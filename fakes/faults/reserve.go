package faults

import (
	"cmp"
	"math"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// reserveFaults are about when reservations end.
var reserveFaults = []fakes.Fault{
	fault("reserve-32-bits", do(func(e *event) {
		if left := time.Until(e.Until).Milliseconds(); left > math.MaxInt32 {
			lasts(time.Duration(max(0, int32(left))) * time.Millisecond)(e)
		}
	}, at(fakes.Reserved))),
	fault("reserve-ends-early", do(later(-15*time.Second), at(fakes.Reserved))),
	fault("reserve-from-first", keep(jid, at(fakes.Reserved), func(first *time.Time, e *event) {
		if first.IsZero() {
			*first = time.Now()
		}
		e.Until = first.Add(time.Until(e.Until))
	})),
	fault("reserve-from-queue", do(func(e *event) {
		at, _ := e.Object.Time("enqueued_at")
		later(-time.Since(at))(e)
	}, at(fakes.Reserved), moment("enqueued_at", anyTime))),
	fault("reserve-minutes",
		do(func(e *event) { lasts(time.Until(e.Until).Round(time.Second).Truncate(time.Minute))(e) },
			at(fakes.Reserved))),
	fault("reserve-of-the-first", keep(conn, both(at(fakes.Reserved), connected), func(first *int64, e *event) {
		n, is := e.Object.Int("reserve_for")
		if !is {
			n = 1800
		}
		*first = cmp.Or(*first, n)
		later(time.Duration(*first-n) * time.Second)(e)
	})),
	fault("reserve-quiet-lost",
		recall(jid, both(at(fakes.Reserved), connected), func(e *event) *fakes.Conn { return e.Conn }, at(fakes.Expired),
			func(holder *fakes.Conn, e *event) {
				if holder.Server().Worker(holder.Worker).IsQuiet() {
					discard(e)
				}
			})),
	fault("reserve-renewed-by-beat", renewedByBeat()),
	fault("reserve-second-queue-kept", do(later(never), at(fakes.Reserved), fromLaterQueue)),
	fault("reserve-woken-kept", do(later(never), endsWait)),
	fault("reserve-woken-none", do(skip, endsWait)),
}

func anyTime(time.Time) bool { return true }

// connected holds if a connection has caused the event.
func connected(e *event) bool { return e.Conn != nil }

// renewedByBeat keeps a job for ever if its worker has sent a BEAT within a minute.
func renewedByBeat() func() func(*event) {
	type workers struct {
		holder memory[string, string]
		beat   memory[string, time.Time]
	}
	reserved := both(at(fakes.Reserved), connected)
	return keepAll(either(reserved, done(fwp.BEAT), at(fakes.Expired)), func(w *workers, e *event) {
		switch e.Point {
		case fakes.Reserved:
			*w.holder.Of(jid(e)) = e.Conn.Worker
		case fakes.Ran:
			*w.beat.Of(e.Conn.Worker) = time.Now()
		default:
			e.Skip = time.Since(*w.beat.Of(*w.holder.Of(jid(e)))) < time.Minute
		}
	})
}
