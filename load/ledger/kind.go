package ledger

// Kind is what a delivery is.
type Kind uint8

const (
	// First: the job has not been delivered before.
	First Kind = iota
	// Again: the job has come back, as it might.
	Again
	// Twice: the job was with another worker. This is a finding.
	Twice
	// Returned: the job was settled. This is a finding.
	Returned
	// Stray: no job of that number has been sent. This is a finding, and booked as a foreign job.
	Stray
)

// Flaw is in which way a delivery is not what it should be.
type Flaw uint8

const (
	// NotOurs: a job that this run did not push.
	NotOurs Flaw = iota
	// WrongQueue: a job that did not come from the queue to which it was pushed.
	WrongQueue
	// Altered: a job whose parts are not those that were pushed.
	Altered
	// WasRefused: a job whose push was replied to with an error.
	WasRefused
	// Flaws is how many there are.
	Flaws
)

// String is "first", "again", "twice", "returned" or "stray".
func (k Kind) String() string {
	switch k {
	case First:
		return "first"
	case Again:
		return "again"
	case Twice:
		return "twice"
	case Returned:
		return "returned"
	case Stray:
		return "stray"
	default:
		return "unknown"
	}
}
