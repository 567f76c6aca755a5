package law

// Reason is why a job or a connection is not judged.
type Reason uint8

// The reasons. The zero value means that it is judged.
const (
	Judged         Reason = iota
	Reported              // a finding about it has been reported
	NotLines              // bytes were sent that are not one command a line (AMB-06)
	Disallowed            // an answer that is not allowed may have had any effect
	Tolerated             // a PUSH was accepted that could have been refused
	SameJID               // another job was pushed with the same jid (AMB-33)
	PerhapsFlushed        // a FLUSH may have removed it
	Overlapped            // commands about it were under way side by side
	PerhapsTaken          // clients that are not seen may have taken it; its contents are judged
	PerhapsMoved          // commands that an extension adds may have moved it
)

var reasons = [...]string{
	"judged", "reported", "not lines", "disallowed answer", "tolerated PUSH", "same jid", "perhaps flushed",
	"commands side by side", "perhaps taken unseen", "commands of an extension",
}

// String returns the reason in a few words.
func (r Reason) String() string { return reasons[r] }
