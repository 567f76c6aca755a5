package ledger

// Kind is the kind of a delivery.
type Kind uint8

const (
	// First is the first delivery of a job.
	First Kind = iota
	// Again is the delivery of a job that might return.
	Again
	// Twice is the delivery of a job that another worker has. This is a finding.
	Twice
	// Returned is the delivery of a job that was settled. This is a finding.
	Returned
	// Stray is the delivery of a number that was not sent. This is a finding, and booked as a foreign job.
	Stray
)

// Flaw is what is wrong with a delivery.
type Flaw uint8

const (
	// NotOurs is a job that this run did not push.
	NotOurs Flaw = iota
	// WrongQueue is a job from another queue than the one that it was pushed to.
	WrongQueue
	// Altered is a job whose parts are not those that were pushed.
	Altered
	// WasRefused is a job whose push got an error reply.
	WasRefused
	// Early is a scheduled job that was delivered before its time.
	Early
	// Flaws is how many there are.
	Flaws
)
