package scenarios

// Reason is the code of why a line decides nothing. Lines with the same code have the same cause, whatever the words of
// their Cause.
type Reason string

// The reasons.
const (
	Lag         Reason = "lag"          // of this machine
	Patience    Reason = "patience"     // a play that must end soon waits no longer
	OtherBreach Reason = "other-breach" // the protocol is broken whatever the line is about; there is a Breach for it
	OutOfStep   Reason = "out-of-step"  // the replies of the connection can no longer be matched with its lines
	Unable      Reason = "unable"       // a limit of the suite
	Refused     Reason = "refused"      // a connection was not let in
	Interrupted Reason = "interrupted"
)

// doubt is why a line decides nothing.
type doubt struct {
	reason Reason
	words  string
}
