package fakes

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// afterwardsFaults are about what a server still does after a signal, a FLUSH or a wait, and about what it takes for
// nothing.
func afterwardsFaults() []Fault {
	return []Fault{
		fault("schedule-enqueued-at-pushed", "WU-12",
			"the enqueued_at of a job that was scheduled is the time of its PUSH",
			on(Delivered, func(e *Event) {
				if at, ok := asTime(e.Object.Get("at")); ok && at.After(time.Time{}) {
					e.Object.Set("enqueued_at", string(e.Object.Get("created_at")))
				}
			})),
		fault("beat-quiet-ack-refused", "ACK-01",
			"the ACK of a worker that knows that it is to be quiet is refused",
			when(Checked, fwp.ACK, func(e *Event) {
				if e.Conn.server.workers.isQuiet(e.Conn.Worker) {
					e.decline(AboutWorker, "the worker is quiet")
				}
			})),
		fault("beat-terminate-fail-ignored", "STATE-09 STATE-06 FAIL-01",
			"the FAIL of a worker that was told to terminate is answered with OK and has no effect",
			when(Checked, fwp.FAIL, func(e *Event) {
				if e.Err == nil && e.Conn.server.workers.isTerminating(e.Conn.Worker) {
					e.Skip = true
				}
			})),
		statefulFault("beat-quiet-returns", "STATE-05",
			"the jobs of a worker that is told to be quiet go back to their queues",
			jobsOfWorker(
				func(e *Event) bool { return e.Point == Ran && e.Command.Verb == fwp.BEAT && e.State != "" }, giveBack)),
		statefulFault("fetch-flushed-deaf", "FETCH-06 FETCH-14",
			"a FETCH that waits during a FLUSH is not ended by a job",
			deafened(
				func(e *Event) bool { return e.Point == Ran && e.Command.Verb == fwp.FLUSH && e.Err == nil },
				func(*Event, string) bool { return true })),
		statefulFault("schedule-one-at-a-time", "STATE-11 WU-06",
			"of jobs with the same at only the first is enqueued", oneAtATime),
		statefulFault("fetch-over-takes", "STATE-04 PUSH-04 FETCH-06",
			"a job that is pushed within a second after a FETCH of its queue found none is taken for that FETCH", overTakes),
		fault("job-zeros-dropped", "WU-03 WU-11",
			"members of hashes that are 0, false or empty are dropped",
			on(Delivered, dropZeros)),
	}
}

func dropZeros(e *Event) {
	for _, field := range []string{"args", "custom"} {
		var v any
		d := json.NewDecoder(strings.NewReader(string(e.Object.Get(field))))
		d.UseNumber()
		if d.Decode(&v) == nil && v != nil {
			if b, err := json.Marshal(withoutZeros(v)); err == nil {
				e.Object.Set(field, string(b))
			}
		}
	}
}

func withoutZeros(v any) any { //nolint:gocognit // a case for each kind of value
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = withoutZeros(v[i])
		}
	case map[string]any:
		for k, member := range v {
			switch m := member.(type) {
			case json.Number:
				if m == "0" {
					delete(v, k)
				}
			case bool:
				if !m {
					delete(v, k)
				}
			case string:
				if m == "" {
					delete(v, k)
				}
			default:
				v[k] = withoutZeros(m)
			}
		}
	}
	return v
}

func oneAtATime() func(*Event) {
	var seen notes[string, string]
	return func(e *Event) {
		if e.Point != Due || e.Set != "scheduled" {
			return
		}
		at, jid := e.Object.Text("at"), e.Object.Text("jid")
		first, known := seen.take(at)
		if !known {
			first = jid
		}
		seen.put(at, first)
		e.Skip = first != jid
	}
}

func overTakes() func(*Event) {
	var over notes[string, time.Time]
	var pushed notes[string, bool] // by jid; not those that come due or are tried again
	return func(e *Event) {
		switch {
		case e.Point == Defaulted && e.Command.Verb == fwp.PUSH && e.Object.Get("at") == nil:
			pushed.put(e.Object.Text("jid"), true)
		case e.Point == Ran && e.Command.Verb == fwp.FETCH && e.Reply.Kind == fwp.NullBulk && len(e.Block) > 0:
			over.put(e.Block[0], time.Now())
		case e.Point == Enqueued:
			if _, direct := pushed.take(e.Object.Text("jid")); !direct {
				return
			}
			if at, known := over.take(e.Object.Text("queue")); known && time.Since(at) < time.Second {
				e.Skip = true
			}
		}
	}
}
