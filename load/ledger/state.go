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
