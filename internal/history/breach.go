package history

// Breach names what is wrong with a job. Which clause of which specification forbids it is for the caller to know.
type Breach string

// Of a job that does not come.
const (
	// Lost: its PUSH was accepted, and it was never delivered.
	Lost Breach = "lost"
	// ScheduledLost: a job with an at was accepted and is never delivered.
	ScheduledLost Breach = "scheduled-lost"
	// NotRetried: it failed, had retries left, and never came again.
	NotRetried Breach = "not-retried"
	// NotReturned: its reservation ran out, and it never came again.
	NotReturned Breach = "not-returned"
	// LostByRestart: it was accepted before a restart in good order, and never came.
	LostByRestart Breach = "lost-by-restart"
	// Absent: a FETCH found its queue empty while it was there.
	Absent Breach = "absent"
	// ScheduledAbsent: a job whose at has passed is not delivered by a FETCH of its queue.
	ScheduledAbsent Breach = "scheduled-absent"
)

// Of a job that must not come.
const (
	// Duplicated: delivered while another worker held it.
	Duplicated Breach = "duplicated"
	// ReservationCut: delivered to another worker before its reservation had run out.
	ReservationCut Breach = "reservation-cut"
	// Returned: delivered after its ACK.
	Returned Breach = "returned"
	// Early: delivered before its at.
	Early Breach = "early"
	// BeforePush: delivered before it was pushed.
	BeforePush Breach = "before-push"
	// RetriedAtOnce: delivered sooner after a FAIL than the backoff allows.
	RetriedAtOnce Breach = "retried-at-once"
	// RetriedByDefault: delivered after more failures than a PUSH without a retry allows.
	RetriedByDefault Breach = "retried-by-default"
	// RetriedNever: delivered after a failure with the retry 0.
	RetriedNever Breach = "retried-never"
	// RetriedDiscarded: delivered after a failure with the retry -1.
	RetriedDiscarded Breach = "retried-discarded"
	// RetriedTooOften: delivered after more failures than its retry allows.
	RetriedTooOften Breach = "retried-too-often"
	// Flushed: delivered after a FLUSH.
	Flushed Breach = "flushed"
	// RefusedButDelivered: its PUSH was refused, and it was delivered.
	RefusedButDelivered Breach = "refused-but-delivered"
	// NeverPushed: delivered, and no client pushed it.
	NeverPushed Breach = "never-pushed"
)

// Of a job that comes as another, or from another queue.
const (
	// Altered: its contents are not those that were pushed.
	Altered Breach = "altered"
	// QueueAltered: it names another queue than its PUSH.
	QueueAltered Breach = "queue-altered"
	// WrongQueue: the FETCH did not ask for its queue.
	WrongQueue Breach = "wrong-queue"
	// WrongDefaultQueue: the FETCH named no queue, and its queue is not the default one.
	WrongDefaultQueue Breach = "wrong-default-queue"
	// QueueOrder: a queue that the FETCH named before had a job.
	QueueOrder Breach = "queue-order"
	// Swapped: two overlapping FETCHes brought each other's job.
	Swapped Breach = "swapped"
)

// Breaches returns all of them.
func Breaches() []Breach {
	return []Breach{
		Lost, ScheduledLost, NotRetried, NotReturned, LostByRestart, Absent, ScheduledAbsent,
		Duplicated, ReservationCut, Returned, Early, BeforePush, RetriedAtOnce,
		RetriedByDefault, RetriedNever, RetriedDiscarded, RetriedTooOften, Flushed, RefusedButDelivered, NeverPushed,
		Altered, QueueAltered, WrongQueue, WrongDefaultQueue, QueueOrder, Swapped,
	}
}
