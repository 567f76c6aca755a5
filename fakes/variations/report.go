package variations

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fakes/faults"
	"github.com/fwpsuite/fwp/fwp"
)

// reportVariations are about BEAT and FLUSH, and about what is accepted or refused.
var reportVariations = []fakes.Variation{
	// About BEAT, and what the server knows of workers.
	variation("beat-says-nothing-of-itself", "BEAT Command", "the current_state of a BEAT has no effect",
		do(func(e *event) { e.Object.Delete("current_state") }, valid(fwp.BEAT))),
	variation("beat-state-echoed", "AMB-31", "a BEAT with a current_state is answered with that state",
		do(func(e *event) { e.Reply = fakes.Bulk(fmt.Appendf(nil, `{"state":%s}`, e.Object.Get("current_state"))) },
			done(fwp.BEAT), func(e *event) bool { return e.State == "" && e.Object.Get("current_state") != nil })),
	variation("beat-state-mixed", "AMB-02", "quiet is sent as a bulk string, and terminate as a simple string",
		do(func(e *event) { e.Reply.Kind = fwp.SimpleString }, done(fwp.BEAT), func(e *event) bool {
			return e.State == "terminate" && e.Reply.Kind == fwp.BulkString
		})),
	variation("beat-state-once", "AMB-30", "only the first BEAT is answered with a change of state",
		toldOnce()).AdvisedAgainst("FWP-BEAT-03"),
	setting("beat-state-simple", "AMB-02", "a change of state is sent as a simple string",
		func(c *fakes.Config) { c.StateAsSimple = true }),
	variation("beat-state-until-known", "AMB-31",
		"every BEAT is answered with a change of state until the worker reports that state",
		catalogue.KeepBy(wid, at(fakes.Notified), func(known *string, e *event) {
			*known = cmp.Or(e.Object.Text("current_state"), *known)
			e.Skip = *known == e.State
		})),
	variation("worker-connections-few", "AMB-14", "the HELLO of a fifth connection of a worker is declined",
		do(decline(fakes.AboutLimit, "the worker has too many connections"), valid(fwp.HELLO), func(e *event) bool {
			return hasWid(e) && e.Conn.Server().Worker(wid(e)).Connections >= 4
		})).Leaving("push/accepted-or-without-effect", "push/odd-queue-with-at", "reserve/below-a-minute"),
	variation("worker-unknown-when-gone", "BEAT Command",
		"a BEAT with the wid of a worker whose last connection has ended is refused",
		do(decline(fakes.AboutWorker, "the worker has gone"), valid(fwp.BEAT), func(e *event) bool {
			return e.Conn.Server().Worker(wid(e)).Connections == 0
		})),
	// About FLUSH, and what it forgets.
	variation("flush-closes-producers", "End State",
		"after a FLUSH, the connection of a producer that was open before is closed at its next command", flushCloses()),
	variation("flush-forgets-connections-of-workers", "FLUSH Command",
		"after a FLUSH, a BEAT on a connection that was made before is refused", forgetful(conn)),
	variation("flush-forgets-workers", "FLUSH Command", "after a FLUSH the workers that are connected are unknown",
		forgetful(wid)),
	variation("flush-refused", "FLUSH Command", "FLUSH is turned off: it is answered with an error, and clears nothing",
		do(decline(fakes.AboutLimit, "FLUSH is turned off"), of(fakes.Checked, fwp.FLUSH))).Leaving("flush/clears",
		"flush/clears-each-time", "flush/clears-every-queue", "flush/clears-what-failed",
		"flush/keeps-connections", "flush/keeps-other-connections", "flush/keeps-what-waits",
		"flush/schedules-afterwards", "flush/serves-afterwards"),
	variation("flush-slow", "FLUSH Command", "a FLUSH takes 1 s", do(delay(time.Second), valid(fwp.FLUSH))),
	// These accept what other servers refuse.
	variation("accepts-acks-of-failed-jobs", "AMB-21", "an ACK of a job that waits for its retry removes it",
		do(okay, unheld(fwp.ACK), func(e *event) bool {
			return stored(e, "retries") != nil && e.Remove(jid(e))
		})),
	variation("accepts-acks-of-waiting-jobs", "AMB-21", "an ACK of a job that is in its queue removes it",
		do(okay, unheld(fwp.ACK), func(e *event) bool { return e.Purge(jid(e)) })),
	variation("accepts-fails-of-waiting-jobs", "AMB-21", "a FAIL of a job that is in its queue moves it to the retries",
		do(func(e *event) {
			if unit := stored(e, "queue"); unit != nil && e.Purge(jid(e)) {
				okay(e)
				e.Push(unit, time.Now().Add(20*time.Second))
			}
		}, unheld(fwp.FAIL))),
	variation("accepts-options-of-any-type", "FWP-WU-14", "an optional field of a wrong type counts as left out",
		do(func(e *event) {
			e.Object.Delete(string(e.About()))
			e.Recheck()
		}, of(fakes.Checked, fwp.PUSH), about("retry", "backtrace", "created_at", "at"))).
		AdvisedAgainst("FWP-WU-14", "FWP-WU-06b"),
	variation("accepts-short-reservations", "AMB-17", "a reserve_for under 60 s counts as 60 s", do(func(e *event) {
		if _, integer := e.Object.Int("reserve_for"); integer {
			e.Object.Set("reserve_for", "60")
			e.Recheck()
		}
	}, of(fakes.Checked, fwp.PUSH), about("reserve_for"))),
	variation("accepts-unknown-jobs", "AMB-21", "an ACK or FAIL of a job that is not held is answered with OK",
		do(okay, at(fakes.Ran), about(fakes.AboutJob))),
	// These refuse what other servers accept, or do it slowly.
	variation("refused-slowly", "Server Protocol Sender and Client Protocol Receiver", "an error is sent 300 ms later",
		do(delay(300*time.Millisecond), at(fakes.Ran), wrong)),
	variation("refuses-odd-values", "Work units",
		"an empty jid, jobtype or wid, a retry under -1 and a negative backtrace are refused",
		do(oddValues, at(fakes.Checked))),
	variation("refuses-producers", "AMB-20", "FETCH, ACK, FAIL and BEAT are refused to producers",
		do(func(e *event) { e.Decline(fakes.AboutState, e.Command.Verb+" is for consumers") },
			of(fakes.Checked, fwp.FETCH, fwp.ACK, fwp.FAIL, fwp.BEAT), ofProducer)),
	variation("refuses-short-failures", "AMB-35", "a FAIL without errtype, message and backtrace is refused",
		do(func(e *event) {
			for _, name := range [...]string{"errtype", "message", "backtrace"} {
				if e.Object.Get(name) == nil {
					e.Decline(fakes.About(name), name+" is missing")
				}
			}
		}, of(fakes.Checked, fwp.FAIL))),
	variation("refuses-unknown-fields", "HELLO Command; BEAT Command",
		"a HELLO, BEAT, ACK or FAIL with a field that the protocol does not define is refused",
		do(onlyKnown, at(fakes.Checked))),
	variation("refuses-what-is-anothers", "AMB-21",
		"an ACK or FAIL of a job that another worker holds is refused, and a BEAT with another worker's wid", ownJobs()),
}

// unheld holds for a report of a job that is not held.
func unheld(verb string) condition { return catalogue.All(of(fakes.Ran, verb), about(fakes.AboutJob)) }

// stored returns the work unit of the event's job if it is in a place, as [fakes.StoredJob] names them.
func stored(e *event, place string) *object {
	for _, j := range e.Conn.Server().Jobs() {
		if j.JID == jid(e) && j.Place == place {
			unit, _ := fakes.ParseObject(j.Unit) // the server has written it
			return unit
		}
	}
	return nil
}

// toldOnce is the hook of a fault: it breaks a SHOULD.
func toldOnce() func() func(*event) {
	f, _ := faults.Named("beat-tells-once")
	return f.Hook
}

// onlyKnown refuses an argument with fields that the protocol does not define.
func onlyKnown(e *event) {
	known, has := map[string][]string{
		fwp.HELLO: {"v", "pwdhash", "hostname", "wid", "pid", "labels"},
		fwp.BEAT:  {"wid", "current_state", "rss_kb"},
		fwp.ACK:   {"jid", "errtype", "message", "backtrace"},
		fwp.FAIL:  {"jid", "errtype", "message", "backtrace"},
	}[e.Command.Verb]
	for _, f := range e.Object.Fields() {
		if has && !slices.Contains(known, f.Name) {
			e.Decline(fakes.About(f.Name), "there is an unknown field")
		}
	}
}

func oddValues(e *event) {
	for _, name := range [...]string{"jid", "jobtype", "wid"} {
		if string(e.Object.Get(name)) == `""` {
			e.Decline(fakes.About(name), name+" is empty")
		}
	}
	for name, least := range map[string]int64{"retry": -1, "backtrace": 0} {
		if n, ok := e.Object.Int(name); ok && n < least {
			e.Decline(fakes.About(name), name+" is too small")
		}
	}
}

// ownJobs refuses reports about the jobs and the wids of other workers.
func ownJobs() func() func(*event) {
	report := of(fakes.Checked, fwp.ACK, fwp.FAIL)
	holds := catalogue.KeepBy(jid, catalogue.Any(at(fakes.Delivered), report), func(holder **fakes.Conn, e *event) {
		switch {
		case e.Point == fakes.Delivered:
			*holder = e.Conn
		case *holder != nil && (*holder).Worker != e.Conn.Worker:
			e.Decline(fakes.AboutJob, "another worker holds the job")
		default:
			*holder = nil
		}
	})
	beats := do(decline(fakes.AboutWorker, "this is another worker's wid"), of(fakes.Checked, fwp.BEAT),
		func(e *event) bool { return wid(e) != e.Conn.Worker })
	return func() func(*event) { return catalogue.Both(holds(), beats) }
}

// flushCloses closes the connection of a producer, instead of an answer, that was open before a FLUSH of another one.
func flushCloses() func() func(*event) {
	is := catalogue.Any(at(fakes.Flushed), catalogue.All(at(fakes.Ran), ofProducer))
	return catalogue.Keep(is, func(before *catalogue.Memory[int64, bool], e *event) {
		switch {
		case e.Point == fakes.Flushed:
			for _, is := range before.All {
				*is = true
			}
		case e.Command.Verb == fwp.FLUSH:
			*before.Of(e.Conn.ID) = false
		case *before.Of(e.Conn.ID):
			hangUp(e)
		}
	})
}

// forgetful refuses each BEAT whose HELLO, by some key, was before a FLUSH.
func forgetful[K comparable](key func(*event) K) func() func(*event) {
	is := catalogue.Any(at(fakes.Flushed), done(fwp.HELLO), of(fakes.Checked, fwp.BEAT))
	return catalogue.Keep(is, func(forgotten *catalogue.Memory[K, bool], e *event) {
		switch {
		case e.Point == fakes.Flushed:
			for _, is := range forgotten.All {
				*is = true
			}
		case e.Point == fakes.Ran:
			*forgotten.Of(key(e)) = false
		case *forgotten.Of(key(e)):
			e.Decline(fakes.AboutWorker, "no HELLO had this wid")
		}
	})
}
