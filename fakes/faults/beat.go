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
	fault("beat-field-types", do(accept, checked(fwp.BEAT), about("current_state", "rss_kb"))),
	fault("beat-json-tabs", do(declineForm, valid(fwp.BEAT), arguments("\t"))),
	fault("beat-malformed-ok", do(pretend, checked(fwp.BEAT), about("wid"))),
	fault("beat-order", do(declineForm, valid(fwp.BEAT), not(begins("wid")))),
	fault("beat-quiet-ack-refused",
		do(decline(fakes.AboutWorker, "the worker is quiet"), checked(fwp.ACK), quiet)),
	fault("beat-quiet-refused", do(decline(fakes.AboutWorker, "the worker is quiet"), valid(fwp.BEAT), quiet)),
	fault("beat-refused-registers", do(func(e *event) { e.Conn.Server().SetWorker(wid(e), fakes.Worker{}) },
		ran(fwp.BEAT), about(fakes.AboutWorker))),
	fault("beat-rss-refused",
		do(declineRange("rss_kb"), checked(fwp.BEAT), number("rss_kb", above(math.MaxInt32)))),
	fault("beat-state-refused",
		do(decline("current_state", "there is an unknown field"), checked(fwp.BEAT), has("current_state"))),
	fault("beat-terminate-fail-ignored", do(skip, valid(fwp.FAIL), func(e *event) bool {
		return e.Conn.Server().Worker(e.Conn.Worker).Knows == "terminate"
	})),
	fault("beat-wid-beyond-ascii", do(declineWorker, valid(fwp.BEAT), text("wid", beyondASCII))),
	fault("beat-wid-escaped", do(declineWorker, checked(fwp.BEAT), escaped("wid"))),
	// About which worker a BEAT speaks for.
	fault("beat-unknown-ok", do(okay, ran(fwp.BEAT), about(fakes.AboutWorker))),
	fault("beat-unknown-prefix", likeWorker(strings.HasPrefix)),
	fault("beat-worker-of-the-last", keepAll(either(arriving, checked(fwp.BEAT)), func(last *string, e *event) {
		if e.Point == fakes.Ran {
			*last = e.Conn.Worker
		} else if wid(e) != *last {
			declineWorker(e)
		}
	})),
	// About which BEATs are answered with a change of state.
	fault("beat-memory-untold", do(skip, at(fakes.Notified), has("rss_kb"))),
	fault("beat-never-tells", do(skip, at(fakes.Notified))),
	fault("beat-quiet-returns", inHand(both(ran(fwp.BEAT), changed), workersJobs, giveBack)),
	fault("beat-quiet-stays", keep(wid, at(fakes.Notified), func(told *bool, e *event) {
		if *told = *told || e.State == "quiet"; *told && e.State != "" {
			e.State = "quiet"
		}
	})),
	fault("beat-reported-untold", do(skip, at(fakes.Notified), has("current_state"))),
	fault("beat-signal-for-all", signalFor(func(string, string) bool { return true })),
	fault("beat-signal-for-the-last", signalForLast()),
	fault("beat-signal-gone", do(func(e *event) {
		s := e.Conn.Server()
		s.SetWorker(e.Conn.Worker, fakes.Worker{Knows: s.Worker(e.Conn.Worker).Knows})
	}, arriving)),
	fault("beat-signal-on-the-first",
		keep(wid, either(arriving, at(fakes.Notified)), func(first *int64, e *event) {
			if e.Point == fakes.Ran {
				*first = cmp.Or(*first, e.Conn.ID)
			} else {
				e.Skip = *first != 0 && *first != e.Conn.ID
			}
		})),
	fault("beat-tells-once",
		repeated(func(e *event) string { return worker(e) + " " + e.State }, both(at(fakes.Notified), changed), skip)),
	// About the form of a change of state.
	fault("beat-bulk",
		do(kind(fwp.BulkString), ran(fwp.BEAT), func(e *event) bool { return string(e.Reply.Text) == "OK" })),
	fault("beat-state-again-unasked", next(conn, both(at(fakes.Notified), changed), writing(fwp.BEAT),
		sends(time.Second, "+{\"state\":\"quiet\"}\r\n"))),
	fault("beat-state-error", do(kind(fwp.ErrorReply), done(fwp.BEAT), changed)),
	fault("beat-state-malformed",
		do(func(e *event) { e.Reply.Text = e.Reply.Text[:len(e.Reply.Text)-1] }, done(fwp.BEAT), changed)),
	fault("beat-state-member", do(rewords(`"state"`, `"current_state"`), ran(fwp.BEAT))),
	fault("beat-state-word",
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
