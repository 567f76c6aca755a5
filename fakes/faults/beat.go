package faults

import (
	"cmp"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// beatFaults are about BEAT.
var beatFaults = []fakes.Fault{
	// About what a BEAT says.
	fault("beat-malformed-ok", do(pretend, checked(fwp.BEAT), about("wid"))),
	// About which worker a BEAT speaks for.
	fault("beat-unknown-ok", do(okay, ran(fwp.BEAT), about(fakes.AboutWorker))),
	// About which BEATs are answered with a change of state.
	fault("beat-never-tells", do(skip, at(fakes.Notified))),
	fault("beat-quiet-returns", inHand(both(ran(fwp.BEAT), changed), workersJobs, giveBack)),
	fault("beat-signal-for-all", keepAll(at(fakes.Notified), func(last *string, e *event) {
		*last = cmp.Or(e.State, *last)
		e.State = *last
	})),
	// About the form of a change of state.
	fault("beat-bulk",
		do(kind(fwp.BulkString), ran(fwp.BEAT), func(e *event) bool { return string(e.Reply.Text) == "OK" })),
	fault("beat-state-again-unasked", next(conn, both(at(fakes.Notified), changed), writing(fwp.BEAT),
		sends(time.Second, "+{\"state\":\"quiet\"}\r\n"))),
	fault("beat-state-error", do(kind(fwp.ErrorReply), done(fwp.BEAT), changed)),
	fault("beat-state-member", do(rewords(`"state"`, `"current_state"`), ran(fwp.BEAT))),
	fault("beat-state-word",
		do(func(e *event) { e.State = "stop" }, at(fakes.Notified), func(e *event) bool { return e.State == "terminate" })),
}
