package faults

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// beatFaults are about BEAT.
var beatFaults = []fakes.Fault{
	// About what a BEAT says.
	fault("beat-field-types", "BEAT-02", "a BEAT is accepted whatever the types of current_state and rss_kb are",
		do(accept, checked(fwp.BEAT), about("current_state", "rss_kb"))),
	fault("beat-json-tabs", "BEAT-01", "a BEAT with a tab between its tokens is refused",
		do(declineForm, valid(fwp.BEAT), arguments("\t"))),
	fault("beat-malformed-ok", "BEAT-02 RESP-02", "a BEAT without a wid is answered with OK",
		do(pretend, checked(fwp.BEAT), about("wid"))),
	fault("beat-order", "BEAT-01", "a BEAT whose first field is not wid is refused",
		do(declineForm, valid(fwp.BEAT), not(begins("wid")))),
	fault("beat-quiet-ack-refused", "ACK-01", "the ACK of a worker that knows that it is to be quiet is refused",
		do(decline(fakes.AboutWorker, "the worker is quiet"), checked(fwp.ACK), quiet)),
	fault("beat-quiet-refused", "BEAT-03 BEAT-01", "the BEATs of a worker that knows that it is quiet are refused",
		do(decline(fakes.AboutWorker, "the worker is quiet"), valid(fwp.BEAT), quiet)),
	fault("beat-refused-quiets", "BEAT-01 BEAT-02",
		"a BEAT without a valid wid is refused, and its current_state is taken for the worker of its connection",
		do(func(e *event) {
			_ = e.Conn.Server().Signal(e.Conn.Worker, e.Object.Text("current_state")) // another word is no state
		}, ran(fwp.BEAT), about("wid"), ofWorker, has("current_state"))),
	fault("beat-refused-registers", "BEAT-05", "the second BEAT of an unknown wid is answered with OK",
		do(func(e *event) { e.Conn.Server().SetWorker(wid(e), fakes.Worker{}) },
			ran(fwp.BEAT), about(fakes.AboutWorker))),
	fault("beat-rss-refused", "BEAT-01", "an rss_kb of more than 31 bits is refused",
		do(declineRange("rss_kb"), checked(fwp.BEAT), number("rss_kb", above(math.MaxInt32)))),
	fault("beat-state-refused", "BEAT-01 BEAT-03", "a BEAT with a current_state is refused",
		do(decline("current_state", "there is an unknown field"), checked(fwp.BEAT), has("current_state"))),
	fault("beat-terminate-fail-ignored", "STATE-09 STATE-06 FAIL-01",
		"the FAIL of a worker that was told to terminate is answered with OK and has no effect",
		do(skip, valid(fwp.FAIL), func(e *event) bool {
			return e.Conn.Server().Worker(e.Conn.Worker).Knows == "terminate"
		})),
	fault("beat-wid-beyond-ascii", "BEAT-01", "a BEAT whose wid has characters beyond ASCII is refused",
		do(declineWorker, valid(fwp.BEAT), text("wid", beyondASCII))),
	fault("beat-wid-escaped", "BEAT-01", "escapes in the wid of a BEAT are not decoded",
		do(declineWorker, checked(fwp.BEAT), escaped("wid"))),
	// About which worker a BEAT speaks for.
	fault("beat-report-for-all", "BEAT-01", "the current_state of one worker is the reply to the BEATs of all",
		keepAll(at(fakes.Notified), func(state *string, e *event) {
			if own := e.Object.Text("current_state"); own != "" {
				*state = own
			} else if e.State == "" {
				e.State = *state
			}
		})),
	fault("beat-unknown-ok", "BEAT-05", "a BEAT with an unknown wid is answered with OK",
		do(okay, ran(fwp.BEAT), about(fakes.AboutWorker))),
	fault("beat-unknown-prefix", "BEAT-05", "a BEAT with an id with which that of a worker begins is answered with OK",
		likeWorker(strings.HasPrefix)).Also("beat-unknown-blanks", "beat-unknown-case"),
	fault("beat-worker-of-the-last", "BEAT-01 HELLO-11 BEAT-03",
		"a BEAT is refused unless its wid is that of the latest HELLO",
		keepAll(either(arriving, checked(fwp.BEAT)), func(last *string, e *event) {
			if e.Point == fakes.Ran {
				*last = e.Conn.Worker
			} else if wid(e) != *last {
				declineWorker(e)
			}
		})),
	// About which BEATs are answered with a change of state.
	fault("beat-memory-untold", "BEAT-03", "a BEAT with rss_kb is not answered with a change of state",
		do(skip, at(fakes.Notified), has("rss_kb"))),
	fault("beat-never-tells", "BEAT-03", "no BEAT is answered with a change of state", do(skip, at(fakes.Notified))),
	fault("beat-quiet-returns", "STATE-05", "the jobs of a worker that is told to be quiet go back to their queues",
		inHand(both(ran(fwp.BEAT), changed), workersJobs, giveBack)),
	fault("beat-quiet-stays", "BEAT-03", "a worker that was sent quiet is sent quiet once more instead of terminate",
		keep(wid, at(fakes.Notified), func(told *bool, e *event) {
			if *told = *told || e.State == "quiet"; *told && e.State != "" {
				e.State = "quiet"
			}
		})),
	fault("beat-reported-untold", "BEAT-03", "a BEAT with current_state is not answered with a change of state",
		do(skip, at(fakes.Notified), has("current_state"))),
	fault("beat-signal-for-all", "BEAT-01", "a signal for a worker is for every worker",
		signalFor(func(string, string) bool { return true })),
	fault("beat-signal-for-the-last", "BEAT-03 BEAT-01 STATE-09",
		"a signal is for the worker that connected last, whatever its wid is", signalForLast()),
	fault("beat-signal-gone", "BEAT-03", "a signal is forgotten when another connection of the worker greets",
		do(func(e *event) {
			s := e.Conn.Server()
			s.SetWorker(e.Conn.Worker, fakes.Worker{Knows: s.Worker(e.Conn.Worker).Knows})
		}, arriving)).Also("beat-late-connection-untold"),
	fault("beat-signal-on-the-first", "BEAT-03", "only the first connection of a worker gets its state",
		keep(wid, either(arriving, at(fakes.Notified)), func(first *int64, e *event) {
			if e.Point == fakes.Ran {
				*first = cmp.Or(*first, e.Conn.ID)
			} else {
				e.Skip = *first != 0 && *first != e.Conn.ID
			}
		})),
	fault("beat-tells-once", "BEAT-03", "only the first BEAT is answered with a change of state",
		repeated(func(e *event) string { return worker(e) + " " + e.State }, both(at(fakes.Notified), changed), skip)),
	// About the form of a change of state.
	fault("beat-bulk", "BEAT-01", "a BEAT is answered with OK in a bulk string",
		do(kind(fwp.BulkString), ran(fwp.BEAT), func(e *event) bool { return string(e.Reply.Text) == "OK" })),
	fault("beat-state-again-unasked", "RESP-05",
		"a second after the reply to a BEAT with a change of state, quiet is sent without a BEAT",
		next(conn, both(at(fakes.Notified), changed), writing(fwp.BEAT),
			sends(time.Second, "+{\"state\":\"quiet\"}\r\n"))),
	fault("beat-state-error", "BEAT-04 BEAT-03", "a change of state is sent as an error",
		do(kind(fwp.ErrorReply), done(fwp.BEAT), changed)),
	fault("beat-state-malformed", "BEAT-03 BEAT-04", "a change of state is no valid JSON",
		do(func(e *event) { e.Reply.Text = e.Reply.Text[:len(e.Reply.Text)-1] }, done(fwp.BEAT), changed)),
	fault("beat-state-member", "BEAT-03 BEAT-04", "a change of state is in a member that is called current_state",
		do(rewords(`"state"`, `"current_state"`), ran(fwp.BEAT))),
	fault("beat-state-unordered", "BEAT-01",
		"the second BEAT of a connection is answered with quiet, though there was no signal",
		keep(conn, ran(fwp.BEAT), func(beats *int, e *event) {
			if *beats++; *beats == 2 && e.Err == nil && e.State == "" {
				e.Reply = fakes.Bulk([]byte(`{"state":"quiet"}`))
			}
		})),
	fault("beat-state-word", "BEAT-03", "the state of a worker that is to terminate is stop",
		do(func(e *event) { e.State = "stop" }, at(fakes.Notified), func(e *event) bool { return e.State == "terminate" })),
}

// signalForLast keeps a signal for the worker that connected last.
func signalForLast() func() func(*event) {
	type signal struct{ last, state string }
	return keepAll(either(arriving, at(fakes.Notified)), func(s *signal, e *event) {
		switch {
		case e.Point == fakes.Ran:
			s.last = e.Conn.Worker
		case wid(e) == s.last && e.State == "":
			e.State = s.state
		case wid(e) != s.last && e.State != "":
			s.state, e.State = e.State, ""
		}
	})
}
