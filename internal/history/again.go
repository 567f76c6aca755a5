package history

import "time"

// refusedAgain says whether an ACK without a reply is known to have had its effect all the
// same: its worker asked once more, within the reservation, and was refused. It held the
// job until the first ACK, if that had none it still did, and the ACK of a holder is
// accepted (FWP-ACK-01). A FAIL without a reply is like that if it was the last of the job.
func (l *life) refusedAgain(x *index, events []int32) bool {
	var holder int32
	var until time.Duration // of the reservation, 0 if nobody is known to hold the job
	unread := false
	for _, i := range events {
		e := &x.events[i]
		mine := x.holder(e) == holder
		switch {
		case e.Op == Push || e.Call >= l.until:
		case e.delivery():
			holder, until, unread = x.holder(e), e.Call+l.reserve-x.limits.Early, false
		case until == 0:
		case l.mayFree(e, mine):
			until = 0
		case !mine:
		case !e.closed():
			unread = true
		case e.Outcome == Refused && unread && e.Return < until:
			return true
		}
	}
	return false
}

// mayFree reports whether an ACK or a FAIL may have ended the reservation of the job, by
// itself or because the job then waits for its next try.
func (l *life) mayFree(e *Event, mine bool) bool {
	if mine && e.Outcome == OK {
		return true
	}
	return e.Op == Fail && e.Outcome != Refused && (l.retries > 0 || !mine)
}
