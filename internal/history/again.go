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
		switch {
		case e.Op == Push || e.Call >= l.until:
		case e.delivery():
			holder, until, unread = x.holder(e), e.Call+l.reserve-x.limits.Early, false
		case until == 0:
		case e.Op == Fail && e.Outcome != Refused && (l.retries > 0 || x.holder(e) != holder):
			until = 0 // it may wait for its next try
		case x.holder(e) != holder:
		case !e.closed():
			unread = true
		case e.Outcome == Refused && unread && e.Return < until:
			return true
		case e.Outcome == OK:
			until = 0
		}
	}
	return false
}
