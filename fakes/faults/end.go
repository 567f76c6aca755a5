package faults

import (
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// endFaults are about END, and about the jobs in hand of its connection.
var endFaults = []fakes.Fault{
	fault("end-arguments", "FRAME-03", "END with an argument is carried out",
		do(func(e *event) { e.Command.Args = nil }, parsed(fwp.END))),
	fault("end-closes-late", "END-02 STATE-16", "the connection is closed 3 s after END",
		do(func(e *event) { e.Close, e.Later = false, &fakes.Later{After: 3 * time.Second, Close: true} },
			writing(fwp.END), right, closing)),
	fault("end-error", "END-01 STATE-13", "END is answered with an error",
		do(reply(fakes.ErrorReply("goodbye")), ran(fwp.END), closing)),
	fault("end-finishes-jobs", "STATE-07 END-05 ACK-01", "END discards the jobs that its connection holds",
		inHand(ended, ownJobs, finish)),
	fault("end-finishes-neighbours", "STATE-07 ACK-01 FAIL-01", "END discards the jobs that other workers hold",
		inHand(ended, othersJobs, finish)),
	fault("end-finishes-others", "HELLO-11 STATE-07 ACK-01",
		"END discards the jobs that other connections of its worker hold", inHand(ended, besideJobs, finish)),
	fault("end-quiet-refused", "END-01 STATE-16 END-02", "END is refused to a worker that knows that it is quiet",
		do(decline(fakes.AboutState, "the worker is quiet"), valid(fwp.END), quiet)),
	fault("end-returns-jobs", "END-05 STATE-05", "END returns the jobs that the connection holds to their queues",
		inHand(ended, ownJobs, giveBack)),
	fault("end-returns-late", "END-05 STATE-05",
		"the jobs that a connection held are back in their queues 20 s after its END",
		inHand(ended, ownJobs, func(e *event, jids ...string) {
			by := &event{Conn: e.Conn}
			time.AfterFunc(20*time.Second, func() { by.GiveBack(jids...) })
		})),
	fault("end-stays-open", "STATE-16 END-02", "the connection stays open after END", do(staysOpen, ran(fwp.END))).
		Also("end-stays-open-producer"),
	fault("end-twice", "RESP-06 END-01", "END is answered with OK twice", do(twice, writing(fwp.END), right, closing)),
	fault("end-with-jobs-refused", "END-01 STATE-16 END-02", "END is refused while its connection holds jobs",
		inHand(valid(fwp.END), ownJobs, func(e *event, _ ...string) {
			e.Decline(fakes.AboutState, "there are jobs")
		})),
}

// closing holds if the connection is closed behind the reply.
func closing(e *event) bool { return e.Close }
