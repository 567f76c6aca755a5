package law

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// allowFetch sets what may be answered to a FETCH that is not malformed. (FETCH Command)
func (w *World) allowFetch(c *Conn, k *call, now time.Time) {
	unusual := func(q string) bool { return !plainQueue.MatchString(q) && !w.acceptedQueues[q] }
	// A name that a PUSH may have is one of a FETCH too.
	if k.Form == model.OkayOrRefused && !slices.ContainsFunc(k.queues, unusual) {
		k.Form = model.Okay
	}
	kind := model.Usual
	if k.Form != model.Okay || c.WID == "" || w.IsQuiet(c) {
		kind = model.MayNotFetch
	}
	k.applyRule(c, model.FindRule(c.State, fwp.FETCH, kind))
	k.mayBePaused = slices.ContainsFunc(k.queues, w.MayBePaused)
	if k.Args == nil {
		k.ownClause, k.clause, k.isEarlierClause = "FWP-FETCH-08", "FWP-FETCH-08", false
	}
	if kind == model.Usual && k.isAlone {
		k.collectCertain(w, now)
	}
	if len(k.certainJobs) > 0 && c.earlierClause == "" && k.Args != nil {
		k.clause = "FWP-FETCH-01"
	}
}

// fetchQueues returns the queues from which a server takes a job that takes the line for a FETCH, however it is
// written; nil if none can.
func (l *Line) fetchQueues() []string {
	words := Words(l.Verb + " " + string(l.Args))
	switch {
	case len(words) == 0 || !strings.EqualFold(words[0], fwp.FETCH):
		return nil
	case len(words) == 1:
		return []string{"default"}
	}
	return words[1:]
}

// collectCertain collects the jobs that no other client can get first.
func (k *call) collectCertain(w *World, now time.Time) {
	for _, q := range slices.Concat(k.queues, w.phraseQueues(k.queues)) {
		for _, j := range w.JobsIn(q, now) {
			if j.isCertain() && w.pausedQueues[q] == 0 {
				k.certainJobs = append(k.certainJobs, j)
			}
		}
	}
}

// phraseQueues returns the queues whose names are made of words that are all among those of a
// FETCH.
func (w *World) phraseQueues(queues []string) []string {
	var all []string
	for _, name := range w.phrases {
		other := func(word string) bool { return !slices.Contains(queues, word) }
		if !slices.ContainsFunc(Words(name), other) {
			all = append(all, name)
		}
	}
	return all
}

// hasRivals reports whether other connections wait for jobs of one of the queues. If isMutual is set, these are not
// sure of their jobs any more either.
func (w *World) hasRivals(c *Conn, queues []string, isMutual bool) bool {
	isFound := false
	for _, other := range w.Conns {
		if other == c || other.call == nil {
			continue
		}
		if slices.ContainsFunc(queues, func(q string) bool { return slices.Contains(other.call.queues, q) }) {
			isFound = true
			if isMutual {
				other.call.certainJobs, other.call.isAlone = nil, false
			}
		}
	}
	return isFound
}

// HasFetch reports whether a FETCH waits for the jobs of a queue.
func (w *World) HasFetch(queue string) bool {
	return w.anyConn(func(c *Conn) bool { return c.call != nil && slices.Contains(c.call.queues, queue) })
}

// hasOtherFetch reports whether a FETCH of another connection is under way.
func (w *World) hasOtherFetch(c *Conn) bool {
	return w.anyConn(func(other *Conn) bool { return other != c && other.call != nil && other.call.queues != nil })
}

// IsIdle reports whether a FETCH of which the reply is awaited names queues in which no job is known that may come
// before the FETCH has waited in vain.
func (w *World) IsIdle(conn int, now time.Time) bool {
	c := w.Conns[conn]
	if c == nil || c.call == nil || len(c.call.queues) == 0 || len(w.phraseQueues(c.call.queues)) > 0 {
		return false
	}
	comes := func(j *Job) bool {
		j.advance(now, w.Patience)
		return j.States&(model.Enqueued|model.Scheduled) != 0
	}
	return !slices.ContainsFunc(c.call.queues, func(q string) bool { return slices.ContainsFunc(w.queues[q], comes) })
}

// JobsIn returns the jobs that may be in a queue or come to it later, in no particular order.
func (w *World) JobsIn(queue string, now time.Time) []*Job {
	all := w.queues[queue]
	jobs := all[:0]
	for _, j := range all {
		j.advance(now, w.Patience)
		if j.States&^(model.Absent|model.Dead) != 0 {
			jobs = append(jobs, j)
		}
	}
	if w.queues[queue] = jobs; len(jobs) == 0 {
		delete(w.queues, queue)
	}
	return jobs
}

// QueuedJobs iterates over the jobs that [World.JobsIn] has of all queues, in no particular order.
func (w *World) QueuedJobs(now time.Time) iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for queue := range w.queues {
			for _, j := range w.JobsIn(queue, now) {
				if !yield(j) {
					return
				}
			}
		}
	}
}

// judgeEmpty judges a FETCH that brought no job.
func (w *World) judgeEmpty(k *call, now time.Time) *law.Violation {
	if k.answers&model.Refused != 0 {
		return nil
	}
	v := &law.Violation{Expected: w.expectedDelivery(k, now), Got: "$-1"}
	if j := k.missingJob(); j != nil {
		v.Clause, v.Rule, v.JID, v.Detail = j.missingClause, "missing", j.JID,
			"a job that was certainly enqueued did not come"
		v.LacksRedelivery = j.Deliveries > 0
		w.suspectRefusal(v, j)
		if k.Args == nil && (v.Clause == "FWP-WU-04" || v.Clause == "FWP-PUSH-04") {
			v.Clause = "FWP-FETCH-08"
		}
		return v
	}
	if k.wasHalted {
		return nil
	}
	v.Doubtful = true
	if j := w.missedJob(k, now); j != nil {
		v.Clause, v.Rule, v.JID = "FWP-FETCH-06", "not-woken", j.JID
		v.Detail = "a job that was enqueued meanwhile did not wake the FETCH"
		if k.Args == nil {
			v.Clause = "FWP-FETCH-08"
		}
		return v
	}
	minWait, maxWait := model.ShortestBlock, model.LongestBlock+w.Slack
	wait := now.Sub(k.at)
	if wait >= minWait && wait <= maxWait+time.Second {
		return nil
	}
	v.Clause, v.Rule, v.Expected, v.Window = "FWP-FETCH-05", "block", "$-1", [2]time.Duration{minWait, maxWait}
	v.IsRecommendation = wait < minWait // AMB-29
	v.Got, v.Detail = "$-1 after "+wait.String(), "a FETCH without a job waits for about 2 s"
	return v
}

// suspectRefusal puts a command that was refused into the place of what the job's own life needs, where it may be why
// the job is lost: as long as none was lost that no such command was about.
func (w *World) suspectRefusal(v *law.Violation, j *Job) {
	clause := j.suspectClause
	if clause == "" && w.hasRefusedFetch(j) {
		clause, v.Detail = "FWP-STATE-12", "it came after a FETCH that was refused, which may wait for it"
	}
	switch w.isJobLost = w.isJobLost || clause == ""; {
	case clause != "" && w.isJobLost:
		v.Detail = "a job that was certainly enqueued did not come"
	case clause != "":
		v.CommandClause, v.Clause, v.Doubtful = v.Clause, clause, true
	}
}

// hasRefusedFetch reports whether a client is there whose FETCH of the queue of a job was refused just before the job
// came, and may still have waited.
func (w *World) hasRefusedFetch(j *Job) bool {
	return w.anyConn(func(c *Conn) bool {
		isRecent := j.pushTime.Sub(c.refusalTime) < 2*model.LongestBlock
		return isRecent && j.pushOrder > c.refusalOrder && slices.Contains(c.refusedQueues, j.Queue)
	})
}

// acquit ends what is suspected when a job came: a FLUSH that was refused has not removed it, nor others with it, and a
// FETCH that was refused does not wait for the next one of its queue.
func (w *World) acquit(j *Job) {
	if strings.HasPrefix(j.suspectClause, "FWP-FLUSH-") {
		for _, other := range w.Jobs {
			if other != j && other.suspectClause == j.suspectClause {
				other.suspectClause = ""
			}
		}
	}
	j.suspectClause = ""
	for _, c := range w.Conns {
		if j.pushOrder > c.refusalOrder && slices.Contains(c.refusedQueues, j.Queue) {
			c.refusedQueues = nil
		}
	}
}

// missingJob returns a job that should have been delivered, nil if there is none.
func (k *call) missingJob() *Job {
	for _, j := range k.certainJobs {
		if j.isCertain() {
			return j
		}
	}
	return nil
}

// followFetch records that a FETCH is over that was under way beside another from the same queue.
func (w *World) followFetch(k *call, now time.Time) {
	if k.Verb == fwp.FETCH && now.Sub(k.at) >= model.ShortestBlock && !k.wasHalted {
		w.wakeTime = now
	}
	if !k.isAlone {
		for _, q := range k.queues {
			w.fetchTimes[q] = now
		}
	}
}

// missedJob returns a job that was enqueued while a FETCH waited, and did not wake it.
func (w *World) missedJob(k *call, now time.Time) *Job {
	if k.mayBePaused || now.Sub(k.at) <= model.ShortestBlock || !k.isAlone && w.hasRivals(nil, k.queues[:1], false) {
		return nil
	}
	rivalEnd := w.fetchTimes[k.queues[0]] // before that another FETCH may have been the one to get it
	for _, j := range w.JobsIn(k.queues[0], now) {
		since := j.enqueuedSince
		if !k.isAlone && rivalEnd.After(since) {
			since = rivalEnd
		}
		// it may have been read at once
		isMissed := j.enqueuedSince.After(k.at) && !j.enqueuedSince.After(k.at.Add(model.ShortestBlock))
		if j.isCertain() && !j.isDeadline && isMissed && now.Sub(since) > model.Instant+w.Slack {
			return j
		}
	}
	return nil
}
