package variations

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// reportVariations are about BEAT and FLUSH, and about what is accepted or refused.
var reportVariations = []fakes.Variation{
	// About BEAT, and what the server knows of workers.
	variation("beat-state-echoed",
		do(func(e *event) { e.Reply = fakes.Bulk(fmt.Appendf(nil, `{"state":%s}`, e.Object.Get("current_state"))) },
			done(fwp.BEAT), func(e *event) bool { return e.State == "" && e.Object.Get("current_state") != nil })),
	variation("beat-state-mixed",
		do(func(e *event) { e.Reply.Kind = fwp.SimpleString }, done(fwp.BEAT), func(e *event) bool {
			return e.State == "terminate" && e.Reply.Kind == fwp.BulkString
		})),
	setting("beat-state-simple", func(c *fakes.Config) { c.StateAsSimple = true }),
	variation("beat-state-until-known", catalogue.KeepBy(wid, at(fakes.Notified), func(known *string, e *event) {
		*known = cmp.Or(e.Object.Text("current_state"), *known)
		e.Skip = *known == e.State
	})),
	variation("worker-connections-few",
		do(decline(fakes.AboutLimit, "the worker has too many connections"), valid(fwp.HELLO), func(e *event) bool {
			return hasWid(e) && e.Conn.Server().Worker(wid(e)).Connections >= 4
		})),
	variation("worker-unknown-when-gone",
		do(decline(fakes.AboutWorker, "the worker has gone"), valid(fwp.BEAT), func(e *event) bool {
			return e.Conn.Server().Worker(wid(e)).Connections == 0
		})),
	// About FLUSH, and what it forgets.
	variation("flush-closes-producers", flushCloses()),
	variation("flush-forgets-connections-of-workers", forgetful(conn)),
	variation("flush-forgets-workers", forgetful(wid)),
	// These accept what other servers refuse.
	variation("accepts-acks-of-failed-jobs", do(okay, unheld(fwp.ACK), func(e *event) bool {
		return stored(e, "retries") != nil && e.Remove(jid(e))
	})),
	variation("accepts-acks-of-waiting-jobs",
		do(okay, unheld(fwp.ACK), func(e *event) bool { return e.Purge(jid(e)) })),
	variation("accepts-fails-of-waiting-jobs", do(func(e *event) {
		if unit := stored(e, "queue"); unit != nil && e.Purge(jid(e)) {
			okay(e)
			e.Push(unit, time.Now().Add(20*time.Second))
		}
	}, unheld(fwp.FAIL))),
	variation("accepts-options-of-any-type", do(func(e *event) {
		e.Object.Delete(string(e.About()))
		e.Recheck()
	}, of(fakes.Checked, fwp.PUSH), about("retry", "backtrace", "created_at", "at"))),
	variation("accepts-short-reservations", do(func(e *event) {
		if _, integer := e.Object.Int("reserve_for"); integer {
			e.Object.Set("reserve_for", "60")
			e.Recheck()
		}
	}, of(fakes.Checked, fwp.PUSH), about("reserve_for"))),
	// These refuse what other servers accept, or do it slowly.
	variation("refuses-unknown-fields", do(onlyKnown, at(fakes.Checked))),
	variation("refuses-what-is-anothers", ownJobs()),
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
