package bugs

import (
	"cmp"
	"math"
	"time"

	"github.com/fwpsuite/fwp/fakes"
)

// reserveBugs are about when reservations end.
var reserveBugs = []fakes.Bug{
	bug("reserve-32-bits", do(func(e *event) {
		if remaining := time.Until(e.Until).Milliseconds(); remaining > math.MaxInt32 {
			expireIn(time.Duration(max(0, int32(remaining))) * time.Millisecond)(e)
		}
	}, at(fakes.Reserved))),
	bug("reserve-minutes",
		do(func(e *event) { expireIn(time.Until(e.Until).Round(time.Second).Truncate(time.Minute))(e) },
			at(fakes.Reserved))),
	bug("reserve-of-the-first", withMemoryBy(conn, allOf(at(fakes.Reserved), isConnected), func(first *int64, e *event) {
		n, ok := e.Object.Int("reserve_for")
		if !ok {
			n = 1800
		}
		*first = cmp.Or(*first, n)
		delayBy(time.Duration(*first-n) * time.Second)(e)
	})),
	bug("reserve-quiet-lost",
		recall(jid, allOf(at(fakes.Reserved), isConnected), func(e *event) *fakes.Conn { return e.Conn }, at(fakes.Expired),
			func(holder *fakes.Conn, e *event) {
				if holder.Server().Worker(holder.Worker).IsQuiet() {
					discard(e)
				}
			})),
}

// isConnected holds if a connection has caused the event.
func isConnected(e *event) bool { return e.Conn != nil }
