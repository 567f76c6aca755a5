package blockq

// Fault names one way in which a Server breaks the protocol. The empty Fault is none.
type Fault string

// The faults.
const (
	DeliveredTwice Fault = "delivered-twice" // take hands out each job twice
	Lost           Fault = "lost"            // a job that was put never appears
	Silent         Fault = "silent"          // done is carried out and not answered
	Foreign        Fault = "foreign"         // take answers COUNT where JOB is due
	BlockShort     Fault = "block-short"     // JOB announces one byte more than its block has
)

// Faults returns all faults.
func Faults() []Fault { return []Fault{DeliveredTwice, Lost, Silent, Foreign, BlockShort} }
