package fakes

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/fwp"
)

// nameFaults are about names that the server confuses or changes.
func nameFaults() []Fault {
	return []Fault{
		fault("queue-case-folded", "FETCH-04 WU-04", "queue names are in lower case", queueNames(strings.ToLower)),
		fault("queue-underscore", "FETCH-04 WU-04",
			"an underscore in a queue name becomes a dash",
			queueNames(func(s string) string { return strings.ReplaceAll(s, "_", "-") })),
		statefulFault("queue-prefix", "FETCH-04",
			"a FETCH takes jobs of queues whose names begin with one that it names too",
			moreQueues(func(named, known string) bool { return strings.HasPrefix(known, named) })),
		statefulFault("fetch-other-queue", "FETCH-04",
			"a FETCH whose queues are empty takes a job of another queue",
			moreQueues(func(string, string) bool { return true })),
		statefulFault("queue-is-a-set", "FETCH-04 STATE-11",
			"a FETCH from a queue named scheduled returns a job that is scheduled", queueIsSet),
		fault("queue-of-the-server", "PUSH-04",
			"a job of a queue that is named retries or dead is answered with OK and lost",
			on(Enqueued, func(e *Event) {
				queue := e.Object.Text("queue")
				e.Skip = queue == "retries" || queue == "dead"
			})),
		statefulFault("job-ids-folded", "ACK-01",
			"an ACK is refused if a jid that differs only in case was acknowledged before", jidsFolded),
		fault("job-id-lower-case", "FETCH-01", "a jid is delivered in lower case", delivered(func(job *Object) {
			job.SetText("jid", strings.ToLower(job.Text("jid")))
		})),
		fault("job-jobtype-lower-case", "FETCH-01", "a jobtype is delivered in lower case", delivered(func(job *Object) {
			job.SetText("jobtype", strings.ToLower(job.Text("jobtype")))
		})),
		fault("job-jobtype-cut", "FETCH-01", "a jobtype is cut after 255 bytes", delivered(func(job *Object) {
			job.SetText("jobtype", cut(job.Text("jobtype"), 255))
		})),
	}
}

// workerNameFaults are about worker ids that the server confuses.
func workerNameFaults() []Fault {
	return []Fault{
		statefulFault("worker-ids-folded", "BEAT-01",
			"a signal for a worker is for all whose ids differ only in case",
			signalFor(strings.EqualFold)),
		statefulFault("beat-signal-for-all", "BEAT-01",
			"a signal for a worker is for every worker",
			signalFor(func(string, string) bool { return true })),
		statefulFault("beat-unknown-case", "BEAT-05",
			"a BEAT with an id that differs from that of a worker only in case is answered with OK",
			likeWorker(strings.EqualFold)),
		statefulFault("beat-unknown-prefix", "BEAT-05",
			"a BEAT with an id with which that of a worker begins is answered with OK",
			likeWorker(strings.HasPrefix)),
		statefulFault("beat-unknown-blanks", "BEAT-05",
			"blanks around the id of a BEAT do not count",
			likeWorker(func(known, wid string) bool { return known == strings.TrimSpace(wid) })),
	}
}

// queueNames changes the names of queues, in a PUSH and in a FETCH.
func queueNames(change func(string) string) func(*Event) {
	return on(Checked, func(e *Event) {
		switch {
		case e.Err != nil:
		case e.Command.Verb == fwp.PUSH && given(e.Object, "queue") != nil:
			e.Object.SetText("queue", change(e.Object.Text("queue")))
		case e.Command.Verb == fwp.FETCH:
			e.Queues = slices.Clone(e.Queues)
			for i := range e.Queues {
				e.Queues[i] = change(e.Queues[i])
			}
			e.Block = e.Queues[:min(1, len(e.Queues))]
		}
	})
}

// moreQueues adds known queues to a FETCH, behind those that it names.
func moreQueues(matches func(named, known string) bool) func() func(*Event) {
	return func() func(*Event) {
		var mu sync.Mutex
		known := map[string]bool{}
		return func(e *Event) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case e.Point == Defaulted:
				known[e.Object.Text("queue")] = true
			case e.Point == Checked && e.Command.Verb == fwp.FETCH && e.Command.Args != nil && e.Err == nil:
				named := e.Queues
				e.Queues = slices.Clone(named)
				for _, queue := range slices.Sorted(maps.Keys(known)) {
					if slices.ContainsFunc(named, func(name string) bool { return matches(name, queue) }) {
						e.Queues = append(e.Queues, queue)
					}
				}
			}
		}
	}
}

// queueIsSet answers with a job that is scheduled where there is none.
func queueIsSet() func(*Event) {
	var scheduled notes[string, *Object]
	return func(e *Event) {
		switch {
		case e.Point == Scheduled && e.Set == "scheduled":
			scheduled.put("scheduled", e.Object)
		case e.Point == Ran && e.Command.Verb == fwp.FETCH && e.Reply.Kind == fwp.NullBulk:
			if !slices.Contains(e.Queues, "scheduled") {
				return
			}
			if job, ok := scheduled.take("scheduled"); ok {
				e.Reply = bulk(job.text())
			}
		}
	}
}

func jidsFolded() func(*Event) {
	var mu sync.Mutex
	done := map[string]string{} // the jid that was acknowledged, by its lower case
	return when(Checked, fwp.ACK, func(e *Event) {
		jid := e.Object.Text("jid")
		mu.Lock()
		defer mu.Unlock()
		if first := cmp.Or(done[strings.ToLower(jid)], jid); first != jid {
			e.decline(AboutJob, "no such job")
		} else if e.Err == nil {
			done[strings.ToLower(jid)] = jid
		}
	})
}

// signalFor makes a signal for one worker one for others.
func signalFor(matches func(signalled, wid string) bool) func() func(*Event) {
	return func() func(*Event) {
		var mu sync.Mutex
		signals := map[string]string{}
		return on(Notified, func(e *Event) {
			mu.Lock()
			defer mu.Unlock()
			wid := e.Object.Text("wid")
			if e.State != "" {
				signals[wid] = e.State
			}
			for _, signalled := range slices.Sorted(maps.Keys(signals)) {
				if e.State == "" && matches(signalled, wid) {
					e.State = signals[signalled]
				}
			}
		})
	}
}

// likeWorker serves a BEAT of an unknown worker whose id is like that of a known one.
func likeWorker(matches func(known, wid string) bool) func() func(*Event) {
	return func() func(*Event) {
		var mu sync.Mutex
		known := map[string]bool{}
		return on(Ran, func(e *Event) {
			mu.Lock()
			defer mu.Unlock()
			known[e.Conn.Worker] = e.Conn.Worker != ""
			for wid, is := range known {
				if is && e.Command.Verb == fwp.BEAT && e.about() == AboutWorker && matches(wid, e.Object.Text("wid")) {
					e.Err, e.Reply = nil, okay()
				}
			}
		})
	}
}
