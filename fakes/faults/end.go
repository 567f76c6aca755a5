package faults

import (
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// endFaults are about END, and about the jobs in hand of its connection.
var endFaults = []fakes.Fault{
	fault("end-arguments", do(func(e *event) { e.Command.Args = nil }, parsed(fwp.END))),
	fault("end-closes-late",
		do(func(e *event) { e.Close, e.Later = false, &fakes.Later{After: 3 * time.Second, Close: true} },
			writing(fwp.END), right, closing)),
	fault("end-error", do(reply(fakes.ErrorReply("goodbye")), ran(fwp.END), closing)),
	fault("end-finishes-jobs", inHand(ended, ownJobs, finish)),
	fault("end-finishes-neighbours", inHand(ended, othersJobs, finish)),
	fault("end-finishes-others", inHand(ended, besideJobs, finish)),
	fault("end-quiet-refused", do(decline(fakes.AboutState, "the worker is quiet"), valid(fwp.END), quiet)),
	fault("end-returns-jobs", inHand(ended, ownJobs, giveBack)),
	fault("end-returns-late", inHand(ended, ownJobs, func(e *event, jids ...string) {
		by := &event{Conn: e.Conn}
		time.AfterFunc(20*time.Second, func() { by.GiveBack(jids...) })
	})),
	fault("end-stays-open", do(staysOpen, ran(fwp.END))),
	fault("end-twice", do(twice, writing(fwp.END), right, closing)),
	fault("end-with-jobs-refused", inHand(valid(fwp.END), ownJobs, func(e *event, _ ...string) {
		e.Decline(fakes.AboutState, "there are jobs")
	})),
}

// closing holds if the connection is closed behind the reply.
func closing(e *event) bool { return e.Close }
