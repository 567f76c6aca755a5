package ledger

// state is the state of a job after its push. It has two bits, and its zero value is that of a new chunk.
type state uint64

const (
	unseen state = iota
	held
	mayReturn
	settled
	states // how many there are
)

// report is an event that changes a state.
type report int

const (
	delivered report = iota
	returns
	failedForGood
	acked
	reports // how many there are
)

// next is the table of the package's documentation.
var next = [reports][states]state{
	delivered:     {unseen: held, held: held, mayReturn: held, settled: settled},
	returns:       {unseen: unseen, held: mayReturn, mayReturn: mayReturn, settled: settled},
	failedForGood: {unseen: unseen, held: settled, mayReturn: settled, settled: settled},
	acked:         {unseen: unseen, held: settled, mayReturn: settled, settled: settled},
}

// kinds has the kind of a delivery by the state before it.
var kinds = [states]Kind{unseen: First, held: Twice, mayReturn: Again, settled: Returned}

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
