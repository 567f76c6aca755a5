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

// fetch sets what may be answered to a FETCH that is not malformed. (FETCH Command)
func (w *World) fetch(c *Conn, k *call, now time.Time) {
	unusual := func(q string) bool { return !plainQueue.MatchString(q) && !w.taken[q] }
	// A name that a PUSH may have is one of a FETCH too.
	if k.Form == model.Either && !slices.ContainsFunc(k.queues, unusual) {
		k.Form = model.Okay
	}
	kind := model.Usual
	if k.Form != model.Okay || c.WID == "" || w.Quiet(c) {
		kind = model.MayNotFetch
	}
	k.take(c, model.For(c.State, fwp.FETCH, kind))
	k.paused = slices.ContainsFunc(k.queues, w.Paused)
	if k.Args == nil {
		k.own, k.clause, k.before = "FWP-FETCH-08", "FWP-FETCH-08", false
	}
	if kind == model.Usual && k.alone {
		k.expect(w, now)
	}
	if len(k.certain) > 0 && c.earlier == "" && k.Args != nil {
		k.clause = "FWP-FETCH-01"
	}
}

// fetches returns the queues from which a server takes a job that takes the line for a FETCH, however it is written;
// nil if none can.
func (l *Line) fetches() []string {
	words := Words(l.Verb + " " + string(l.Args))
	switch {
	case len(words) == 0 || !strings.EqualFold(words[0], fwp.FETCH):
		return nil
	case len(words) == 1:
		return []string{"default"}
	}
	return words[1:]
}

// expect collects the jobs that no other client can get first.
func (k *call) expect(w *World, now time.Time) {
	for _, q := range slices.Concat(k.queues, w.phrased(k.queues)) {
		for _, j := range w.In(q, now) {
			if j.certain() && w.paused[q] == 0 {
				k.certain = append(k.certain, j)
			}
		}
	}
}

// phrased returns the queues whose names are made of words that are all among those of a
// FETCH.
func (w *World) phrased(queues []string) []string {
	var all []string
	for _, name := range w.phrases {
		other := func(word string) bool { return !slices.Contains(queues, word) }
		if !slices.ContainsFunc(Words(name), other) {
			all = append(all, name)
		}
	}
	return all
}

// rivals reports whether other connections wait for jobs of one of the queues. If both is
// set, these are not sure of their jobs any more either.
func (w *World) rivals(c *Conn, queues []string, both bool) bool {
	found := false
	for _, other := range w.Conns {
		if other == c || other.call == nil {
			continue
		}
		if slices.ContainsFunc(queues, func(q string) bool { return slices.Contains(other.call.queues, q) }) {
			found = true
			if both {
				other.call.certain, other.call.alone = nil, false
			}
		}
	}
	return found
}

// Wanted reports whether a FETCH waits for the jobs of a queue.
func (w *World) Wanted(queue string) bool {
	return w.some(func(c *Conn) bool { return c.call != nil && slices.Contains(c.call.queues, queue) })
}

// waits reports whether a FETCH of another connection is under way.
func (w *World) waits(c *Conn) bool {
	return w.some(func(other *Conn) bool { return other != c && other.call != nil && other.call.queues != nil })
}

// Idle reports whether a FETCH of which the reply is awaited names queues in which no job is known that may come
// before the FETCH has waited in vain.
func (w *World) Idle(conn int, now time.Time) bool {
	c := w.Conns[conn]
	if c == nil || c.call == nil || len(c.call.queues) == 0 || len(w.phrased(c.call.queues)) > 0 {
		return false
	}
	comes := func(j *Job) bool {
		j.advance(now, w.Patience)
		return j.Where&(model.Enqueued|model.Scheduled) != 0
	}
	return !slices.ContainsFunc(c.call.queues, func(q string) bool { return slices.ContainsFunc(w.queues[q], comes) })
}

// In returns the jobs that may be in a queue or come to it later, in no particular order.
func (w *World) In(queue string, now time.Time) []*Job {
	all := w.queues[queue]
	kept := all[:0]
	for _, j := range all {
		j.advance(now, w.Patience)
		if j.Where&^(model.Gone|model.Dead) != 0 {
			kept = append(kept, j)
		}
	}
	if w.queues[queue] = kept; len(kept) == 0 {
		delete(w.queues, queue)
	}
	return kept
}

// Left iterates over the jobs that [World.In] has of all queues, in no particular order.
func (w *World) Left(now time.Time) iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for queue := range w.queues {
			for _, j := range w.In(queue, now) {
				if !yield(j) {
					return
				}
			}
		}
	}
}

// empty judges a FETCH that brought no job.
func (w *World) empty(k *call, now time.Time) *law.Violation {
	if k.allowed&model.Refused != 0 {
		return nil
	}
	v := &law.Violation{Expected: w.deliverable(k, now), Got: "$-1"}
	if j := k.lacking(); j != nil {
		v.Clause, v.Rule, v.JID, v.What = j.missing, "missing", j.JID, "a job that was certainly enqueued did not come"
		v.Again = j.Came > 0
		w.suspected(v, j)
		if k.Args == nil && (v.Clause == "FWP-WU-04" || v.Clause == "FWP-PUSH-04") {
			v.Clause = "FWP-FETCH-08"
		}
		return v
	}
	if k.stood {
		return nil
	}
	v.Doubtful = true
	if j := w.sleptOver(k, now); j != nil {
		v.Clause, v.Rule, v.JID = "FWP-FETCH-06", "not-woken", j.JID
		v.What = "a job that was enqueued meanwhile did not wake the FETCH"
		if k.Args == nil {
			v.Clause = "FWP-FETCH-08"
		}
		return v
	}
	least, most := model.ShortestBlock, model.LongestBlock+w.Slack
	took := now.Sub(k.at)
	if took >= least && took <= most+time.Second {
		return nil
	}
	v.Clause, v.Rule, v.Expected, v.Window = "FWP-FETCH-05", "block", "$-1", [2]time.Duration{least, most}
	v.Should = took < least // AMB-29
	v.Got, v.What = "$-1 after "+took.String(), "a FETCH without a job waits for about 2 s"
	return v
}

// suspected puts a command that was refused into the place of what the job's own life needs, where it may be why the
// job is lost: as long as none was lost that no such command was about.
func (w *World) suspected(v *law.Violation, j *Job) {
	clause := j.suspect
	if clause == "" && w.refusedFor(j) {
		clause, v.What = "FWP-STATE-12", "it came after a FETCH that was refused, which may wait for it"
	}
	switch w.vanished = w.vanished || clause == ""; {
	case clause != "" && w.vanished:
		v.What = "a job that was certainly enqueued did not come"
	case clause != "":
		v.Own, v.Clause, v.Doubtful = v.Clause, clause, true
	}
}

// refusedFor reports whether a client is there whose FETCH of the queue of a job was refused just before the job came,
// and may still have waited.
func (w *World) refusedFor(j *Job) bool {
	return w.some(func(c *Conn) bool {
		just := j.asked.Sub(c.refusedWhen) < 2*model.LongestBlock
		return just && j.entered > c.refusedAt && slices.Contains(c.refused, j.Queue)
	})
}

// acquit ends what is suspected when a job came: a FLUSH that was refused has not removed it, nor others with it, and a
// FETCH that was refused does not wait for the next one of its queue.
func (w *World) acquit(j *Job) {
	if strings.HasPrefix(j.suspect, "FWP-FLUSH-") {
		for _, other := range w.Jobs {
			if other != j && other.suspect == j.suspect {
				other.suspect = ""
			}
		}
	}
	j.suspect = ""
	for _, c := range w.Conns {
		if j.entered > c.refusedAt && slices.Contains(c.refused, j.Queue) {
			c.refused = nil
		}
	}
}

// lacking returns a job that should have been delivered, nil if there is none.
func (k *call) lacking() *Job {
	for _, j := range k.certain {
		if j.certain() {
			return j
		}
	}
	return nil
}

// overtook records that a FETCH is over that was under way beside another from the same queue.
func (w *World) overtook(k *call, now time.Time) {
	if k.Verb == fwp.FETCH && now.Sub(k.at) >= model.ShortestBlock && !k.stood {
		w.woken = now
	}
	if !k.alone {
		for _, q := range k.queues {
			w.fetched[q] = now
		}
	}
}

// sleptOver returns a job that was enqueued while a FETCH waited, and did not wake it.
func (w *World) sleptOver(k *call, now time.Time) *Job {
	if k.paused || now.Sub(k.at) <= model.ShortestBlock || !k.alone && w.rivals(nil, k.queues[:1], false) {
		return nil
	}
	ended := w.fetched[k.queues[0]] // before that another FETCH may have been the one to get it
	for _, j := range w.In(k.queues[0], now) {
		since := j.since
		if !k.alone && ended.After(since) {
			since = ended
		}
		while := j.since.After(k.at) && !j.since.After(k.at.Add(model.ShortestBlock)) // it may have been read at once
		if j.certain() && !j.latest && while && now.Sub(since) > model.Instant+w.Slack {
			return j
		}
	}
	return nil
}
