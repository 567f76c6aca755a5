package workercheck

import (
	"bytes"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/monitor"
)

// spacedState is a hook that writes the JSON of a state with white space.
func spacedState(e *fakes.Event) {
	if e.Point == fakes.Ran && e.Command.Verb == fwp.BEAT {
		e.Reply.Text = bytes.Replace(e.Reply.Text, []byte(`{"state":`), []byte(`{"state": `), 1)
	}
}

// lateJob gives a worker an order, and at once the FETCH that it has under way a job. Where no FETCH is under way
// nothing is delivered, and nothing has to be reported.
func lateJob(state string, watch time.Duration) func(*bed) {
	return func(b *bed) {
		p := b.launch(options{})
		b.mustFetchAtAll(p)
		told := b.order(p, state, true)
		jid := b.push(job{jobtype: "fwp.ok", args: "[1]"})
		b.watchUntilEnd(p, grace)
		b.watchUntilEnd(p, watch)
		if state == "terminate" {
			b.terminated(p, told)
		}
		got := b.deliveryOf(jid)
		if got == nil || !b.wasRead(got) {
			b.remark("no FETCH brought the job")
			return
		}
		b.holds("FETCH-09", b.reportOf(jid) != nil, "an ACK or a FAIL for a job that a FETCH brings after the order",
			"no report on the job "+jid+", which was delivered after the order to "+verbOfState[state])
		b.at(got)
	}
}

var verbOfState = map[string]string{"quiet": "be quiet", "terminate": "terminate"}

// wasRead reports whether a client has read a reply: it has sent another line on the connection, or has kept that open
// for a moment. One that closes it at the same time may not have seen the reply.
func (b *bed) wasRead(reply *monitor.Event) bool {
	later := func(e *monitor.Event) bool { return e.Conn == reply.Conn && e.At > reply.At }
	line := b.find(func(e *monitor.Event) bool { return later(e) && e.Kind == monitor.Line })
	closed := b.find(func(e *monitor.Event) bool { return later(e) && e.Kind == monitor.Closed })
	return line != nil || closed == nil || closed.At-reply.At > time.Second
}
