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
