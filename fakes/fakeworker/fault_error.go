package fakeworker

import (
	"cmp"
	"strings"

	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// errorFaults are callers that are told what is not so, and what a producer does not do. (PUSH; Server Protocol Sender
// and Client Protocol Receiver; Client Lifecycle)
var errorFaults = []Fault{
	setting("beats", "BEAT-09 STATE-15", "It sends BEATs.", func(c *Config) { c.Beats = true }),
	fault("error-by-prefix", "RESP-09", "It takes an error reply without ERR at its beginning for OK.",
		tellPushed(func(e *Event) bool { return isError(e) && !strings.HasPrefix(string(e.Reply.Text), "ERR ") })),
	fault("error-ends", "RESP-09 STATE-15", "It ends with exit code 0 when a PUSH is refused.",
		catalogue.On(catalogue.All(at(Pushed), isError), exit(0))),
	fault("error-holding-ok", "RESP-09", "It takes any reply that holds OK for OK.",
		tellPushed(func(e *Event) bool { return isError(e) && strings.Contains(string(e.Reply.Text), "OK") })),
	fault("error-ignored", "RESP-09", "An error reply is no error to its caller.", tellPushed(isError)),
	fault("exit-always-0", "RESP-09 WU-19", "Its exit code is 0 whatever happened.",
		on(Exiting, func(e *Event) { e.Code = 0 })),
	fault("exit-always-1", "RESP-08", "Its exit code is 1 whatever happened.",
		on(Exiting, func(e *Event) { e.Code = 1 })),
	fault("replies-mixed", "RESP-09", "Of several callers at a time one gets the reply to another one's PUSH.",
		catalogue.Keep(at(Pushed), func(last *string, e *Event) { *last, e.State = e.State, cmp.Or(*last, "pushed") })),
	setting("reply-whole-reads", "RESP-08 WU-19 STATE-15", "It takes what one read returns for a whole reply.",
		readsWhole),
}

// tellPushed returns a hook that tells the caller that a job was pushed, if a condition holds.
func tellPushed(whether func(*Event) bool) func(*Event) {
	return on(Pushed, func(e *Event) {
		if whether(e) {
			e.State = "pushed"
		}
	})
}
