package history

import "time"

// refusedAgain reports whether an ACK without a reply certainly had its effect: its worker
// sent it again within the reservation and was refused. The worker held the job until the
// first ACK, and without its effect it still would, and the ACK of a holder is accepted
// (FWP-ACK-01). The same is true of a FAIL if it was the last of the job.
func (l *life) refusedAgain(x *index, events []int32) bool {
	var holder int32
	var until time.Duration // of the reservation, 0 if no worker certainly holds the job
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

// mayFree reports whether an ACK or a FAIL may have ended the reservation of the job.
func (l *life) mayFree(e *Event, mine bool) bool {
	if mine && e.Outcome == OK {
		return true
	}
	return e.Op == Fail && e.Outcome != Refused && (l.retries > 0 || !mine)
}
