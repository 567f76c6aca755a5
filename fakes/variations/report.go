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
			isDone(fwp.BEAT), func(e *event) bool { return e.State == "" && e.Object.Get("current_state") != nil })),
	variation("beat-state-mixed",
		do(func(e *event) { e.Reply.Kind = fwp.SimpleString }, isDone(fwp.BEAT), func(e *event) bool {
			return e.State == "terminate" && e.Reply.Kind == fwp.BulkString
		})),
	setting("beat-state-simple", func(c *fakes.Config) { c.StateAsSimple = true }),
	variation("beat-state-until-known", catalogue.WithMemoryBy(wid, at(fakes.Notified), func(previous *string, e *event) {
		*previous = cmp.Or(e.Object.Text("current_state"), *previous)
		e.Skip = *previous == e.State
	})),
	variation("worker-connections-few",
		do(decline(fakes.AboutLimit, "the worker has too many connections"), isValid(fwp.HELLO), func(e *event) bool {
			return hasWid(e) && e.Conn.Server().Worker(wid(e)).Connections >= 4
		})),
	variation("worker-unknown-when-gone",
		do(decline(fakes.AboutWorker, "the worker has gone"), isValid(fwp.BEAT), func(e *event) bool {
			return e.Conn.Server().Worker(wid(e)).Connections == 0
		})),
	// About FLUSH, and what it forgets.
	variation("flush-closes-producers", closeOnFlush()),
	variation("flush-forgets-connections-of-workers", forgetKeys(conn)),
	variation("flush-forgets-workers", forgetKeys(wid)),
	// These accept what other servers refuse.
	variation("accepts-acks-of-failed-jobs", do(answerOK, isUnheld(fwp.ACK), func(e *event) bool {
		return findUnit(e, "retries") != nil && e.Remove(jid(e))
	})),
	variation("accepts-acks-of-waiting-jobs",
		do(answerOK, isUnheld(fwp.ACK), func(e *event) bool { return e.Purge(jid(e)) })),
	variation("accepts-fails-of-waiting-jobs", do(func(e *event) {
		if unit := findUnit(e, "queue"); unit != nil && e.Purge(jid(e)) {
			answerOK(e)
			e.Push(unit, time.Now().Add(20*time.Second))
		}
	}, isUnheld(fwp.FAIL))),
	variation("accepts-options-of-any-type", do(func(e *event) {
		e.Object.Delete(string(e.About()))
		e.Recheck()
	}, atPoint(fakes.Checked, fwp.PUSH), isAbout("retry", "backtrace", "created_at", "at"))),
	variation("accepts-short-reservations", do(func(e *event) {
		if _, integer := e.Object.Int("reserve_for"); integer {
			e.Object.Set("reserve_for", "60")
			e.Recheck()
		}
	}, atPoint(fakes.Checked, fwp.PUSH), isAbout("reserve_for"))),
	// These refuse what other servers accept, or do it slowly.
	variation("refuses-unknown-fields", do(dropUnknownFields, at(fakes.Checked))),
	variation("refuses-what-is-anothers", restrictReports()),
}

// isUnheld holds for a report of a job that is not held.
func isUnheld(verb string) condition {
	return catalogue.All(atPoint(fakes.Ran, verb), isAbout(fakes.AboutJob))
}

// findUnit returns the work unit of the event's job if it is in a place, as [fakes.StoredJob] names them.
func findUnit(e *event, place string) *object {
	for _, j := range e.Conn.Server().Jobs() {
		if j.JID == jid(e) && j.Place == place {
			unit, _ := fakes.ParseObject(j.Unit) // the server has written it
			return unit
		}
	}
	return nil
}

// dropUnknownFields refuses an argument with fields that the protocol does not define.
func dropUnknownFields(e *event) {
	values, ok := map[string][]string{
		fwp.HELLO: {"v", "pwdhash", "hostname", "wid", "pid", "labels"},
		fwp.BEAT:  {"wid", "current_state", "rss_kb"},
		fwp.ACK:   {"jid", "errtype", "message", "backtrace"},
		fwp.FAIL:  {"jid", "errtype", "message", "backtrace"},
	}[e.Command.Verb]
	for _, f := range e.Object.Fields() {
		if ok && !slices.Contains(values, f.Name) {
			e.Decline(fakes.About(f.Name), "there is an unknown field")
		}
	}
}

// restrictReports refuses reports about the jobs and the wids of other workers.
func restrictReports() func() func(*event) {
	report := atPoint(fakes.Checked, fwp.ACK, fwp.FAIL)
	holderHooks := catalogue.WithMemoryBy(jid, catalogue.Any(at(fakes.Delivered), report),
		func(holder **fakes.Conn, e *event) {
			switch {
			case e.Point == fakes.Delivered:
				*holder = e.Conn
			case *holder != nil && (*holder).Worker != e.Conn.Worker:
				e.Decline(fakes.AboutJob, "another worker holds the job")
			default:
				*holder = nil
			}
		})
	beats := do(decline(fakes.AboutWorker, "this is another worker's wid"), atPoint(fakes.Checked, fwp.BEAT),
		func(e *event) bool { return wid(e) != e.Conn.Worker })
	return func() func(*event) { return catalogue.Chain(holderHooks(), beats) }
}

// closeOnFlush closes the connection of a producer, instead of an answer, that was open before a FLUSH of another one.
func closeOnFlush() func() func(*event) {
	match := catalogue.Any(at(fakes.Flushed), catalogue.All(at(fakes.Ran), isProducer))
	return catalogue.WithMemory(match, func(producers *catalogue.Memory[int64, bool], e *event) {
		switch {
		case e.Point == fakes.Flushed:
			for _, match := range producers.All {
				*match = true
			}
		case e.Command.Verb == fwp.FLUSH:
			*producers.GetOrAdd(e.Conn.ID) = false
		case *producers.GetOrAdd(e.Conn.ID):
			hangUp(e)
		}
	})
}

// forgetKeys refuses each BEAT whose HELLO, by some key, was before a FLUSH.
func forgetKeys[K comparable](key func(*event) K) func() func(*event) {
	match := catalogue.Any(at(fakes.Flushed), isDone(fwp.HELLO), atPoint(fakes.Checked, fwp.BEAT))
	return catalogue.WithMemory(match, func(keys *catalogue.Memory[K, bool], e *event) {
		switch {
		case e.Point == fakes.Flushed:
			for _, match := range keys.All {
				*match = true
			}
		case e.Point == fakes.Ran:
			*keys.GetOrAdd(key(e)) = false
		case *keys.GetOrAdd(key(e)):
			e.Decline(fakes.AboutWorker, "no HELLO had this wid")
		}
	})
}
