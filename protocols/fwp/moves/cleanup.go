package moves

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// The connections that clean up: one that fetches, one for what fuzzed bytes have left, and
// behind them one for each worker that holds jobs.
const (
	cleaner     = explore.Cleaner
	fuzzCleaner = explore.Cleaner + 1
)

// cleaning is one clean-up. Its methods play steps, and report whether to go on.
type cleaning struct {
	law    *fwpLaw
	effort explore.Cleaning
	play   func(explore.Step) bool
}

// Cleanup returns the steps that acknowledge what workers hold, fetch and acknowledge
// what is enqueued, and the same for the jobs of fuzzed bytes. A job of another client that
// was fetched is given back.
func (l *fwpLaw) Cleanup(effort explore.Cleaning) iter.Seq[explore.Step] {
	return func(play func(explore.Step) bool) {
		c := cleaning{law: l, effort: effort, play: play}
		done := c.releaseHeld() && c.restoreQueues() && c.fetchEnqueued()
		if wait := l.scheduleWait(time.Now()); done && effort == explore.PatientCleaning && wait > 0 {
			done = play(explore.Wait(wait)) && c.releaseHeld() && c.fetchEnqueued()
		}
		_ = done && c.removeFuzzed()
	}
}

// connect opens a connection for a worker. A server that does not accept one, or answers
// nothing on it, will not do so on the next.
func (c cleaning) connect(number, worker int) (fwpscript.Remover, bool) {
	play := func(s explore.Step) bool { return c.play(s) && c.law.conns[number] != nil }
	do := func(line string) (session.Message, bool) {
		c.law.conns[number].lastMessage = session.Message{}
		if !play(build().Line(number, "%s", c.law.symbols(line))) {
			return session.Message{}, false
		}
		return c.law.conns[number].lastMessage, true
	}
	step := consumer(number, worker)
	return fwpscript.Remover{IsOwn: c.law.isOwnJob, Do: do}, play(step)
}

// releaseHeld acknowledges what workers hold, each on a connection of its own.
func (c cleaning) releaseHeld() bool {
	jids := map[int][]string{}
	for _, j := range c.law.remainingJobs(time.Now()) {
		if worker, ok := c.law.worker(j.Holder); ok && j.States&model.Working != 0 {
			jids[worker] = append(jids[worker], j.JID)
		}
	}
	for i, worker := range slices.Sorted(maps.Keys(jids)) {
		number := fuzzCleaner + 1 + i
		r, ok := c.connect(number, worker)
		for _, jid := range jids[worker] {
			ok = ok && r.Release(jid)
		}
		if !ok || !c.play(explore.End(number, scenarios.Closed)) {
			return false
		}
	}
	return true
}

// restoreQueues resumes queues that may be paused, and removes jobs that no FETCH gets.
func (c cleaning) restoreQueues() bool {
	var queues, jobs []string
	for _, j := range c.law.world.Jobs {
		if c.law.world.MayBePaused(j.Queue) && c.law.isOwnQueue(j.Queue) {
			queues = append(queues, j.Queue)
		}
		if j.States&(model.Scheduled|model.Retries|model.Dead) != 0 && c.effort != explore.QuickCleaning &&
			fetchableName.MatchString(j.JID) {
			jobs = append(jobs, `"`+j.JID+`"`)
		}
	}
	if len(queues)+len(jobs) == 0 || c.law.world.HasExtensionVerb == nil {
		return true
	}
	r, ok := c.connect(cleaner, cleaner)
	do := func(line string) {
		if ok {
			_, ok = r.Do(line)
		}
	}
	for part := range slices.Chunk(unique(queues), queuesUnsure) {
		do("QUEUE RESUME " + strings.Join(part, " "))
	}
	for part := range slices.Chunk(unique(jobs), queuesUnsure) {
		for _, target := range mutateTargets {
			do(mutation("discard", target, `"jids":[`+strings.Join(part, ",")+`]`))
		}
	}
	return ok && c.play(explore.End(cleaner, scenarios.Closed))
}

// Queues of one FETCH: few where each is known to hold a job, so that their lines stay short.
const (
	queuesSure   = 4
	queuesUnsure = 400
	queuesWild   = 200
)

// fetchEnqueued fetches what is certain to be enqueued, job by job, and then, if there is time
// for it, from wherever something may be until nothing is delivered.
func (c cleaning) fetchEnqueued() bool {
	var unsure []string
	sure := map[string]int{} // how many jobs each queue has
	for _, j := range c.law.remainingJobs(time.Now()) {
		for _, name := range fwplaw.Words(j.Queue) {
			switch {
			case j.States&model.Enqueued == 0, !c.law.isOwnQueue(name):
			case j.States == model.Enqueued:
				sure[name]++
			case c.effort != explore.QuickCleaning:
				unsure = append(unsure, name)
			}
		}
	}
	if len(sure)+len(unsure) == 0 {
		return true
	}
	r, ok := c.connect(cleaner, cleaner)
	for part := range slices.Chunk(slices.Sorted(maps.Keys(sure)), queuesSure) {
		jobs := 0
		for _, name := range part {
			jobs += sure[name]
		}
		ok = ok && remove(r, part, jobs, "")
	}
	for part := range slices.Chunk(unique(unsure), queuesUnsure) {
		ok = ok && c.emptyQueues(r, part, len(c.law.remainingJobs(time.Now()))+10)
	}
	return ok
}

func unique(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// emptyQueues fetches from queues until nothing is left in them, and no more than so many jobs. A FETCH from queues
// that are empty would wait for two seconds: the last job to be fetched is one that is pushed for that.
func (c cleaning) emptyQueues(r fwpscript.Remover, queues []string, limit int) bool {
	c.law.lastJobs++
	n := 2*fuzzedNames + c.law.lastJobs
	last, queue := c.law.realName(fmt.Sprintf("$jid%d", n)), c.law.realName(fmt.Sprintf("$queue%d", n))
	_, ok := r.Do(fmt.Sprintf(`PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s","retry":0}`, last, queue))
	return ok && remove(r, append(queues, queue), limit, last)
}

// remove removes jobs from queues until nothing is delivered, or the last one, and no more
// than so many.
func remove(r fwpscript.Remover, queues []string, limit int, last string) bool {
	for range limit {
		if jid, ok := r.Next(queues...); !ok || jid == "" || jid == last {
			return ok
		}
	}
	return true
}

// isOwnQueue reports whether a queue may be emptied: one with a name that others may use only if no other client uses
// the server.
func (l *fwpLaw) isOwnQueue(queue string) bool {
	return strings.HasPrefix(queue, l.NamePrefix+"-queue") ||
		l.Alone && (queue == "default" || slices.Contains(serverQueues, queue))
}

// isOwnJob reports whether a job is one of the play, or of its fuzzed bytes.
func (l *fwpLaw) isOwnJob(jid string) bool {
	return l.world.Jobs[jid] != nil || strings.HasPrefix(jid, l.NamePrefix+"-") ||
		slices.ContainsFunc(l.fuzzedJobs, func(j fuzzedJob) bool { return j.jid == jid })
}

// scheduleWait returns how long it takes until the last scheduled job should be enqueued; zero if
// there is none.
func (l *fwpLaw) scheduleWait(now time.Time) time.Duration {
	const waiting, delay = model.Scheduled | model.Enqueued, 2 * time.Second // some schedulers look every few seconds
	var last time.Duration
	for _, j := range l.remainingJobs(now) {
		if j.States&waiting == waiting {
			last = max(last, j.At().Sub(now)+delay)
		}
	}
	return min(last, 14*time.Second)
}

// Leftover names the jobs that may still be on the server.
func (l *fwpLaw) Leftover() []string {
	var all []string
	for _, j := range l.remainingJobs(time.Now()) {
		all = append(all, j.JID)
	}
	return all
}

// remainingJobs returns the jobs that may still be on the server, sorted.
func (l *fwpLaw) remainingJobs(now time.Time) []*fwplaw.Job {
	return slices.SortedFunc(l.world.QueuedJobs(now), byJID)
}

// fuzzedJob is a job that fuzzed bytes may have pushed.
type fuzzedJob struct{ jid, queue string }

// fetchableName are queues that a FETCH can name.
var fetchableName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// jobsIn returns the jobs that some server might find in bytes.
func jobsIn(all []byte) []fuzzedJob {
	var jobs []fuzzedJob
	for len(all) > 0 {
		line, rest, _ := bytes.Cut(all, []byte("\n"))
		if at := afterVerb(line, fwp.PUSH); at > 0 && bytes.IndexByte(line[at:], '{') >= 0 {
			fields, _ := topFields(all[at+bytes.IndexByte(line[at:], '{'):])
			jobs = append(jobs, fuzzedJob{valueOf(fields, "jid"), valueOf(fields, "queue")})
		}
		all = rest
	}
	return jobs
}

// valueOf returns the last value of a field, "" if it is not there.
func valueOf(fields []member, name string) (value string) {
	for _, f := range fields {
		if f.name == name {
			value = f.value
		}
	}
	return value
}

// removeFuzzed removes what fuzzed bytes have left. It is not judged, since the oracle does not know these jobs.
func (c cleaning) removeFuzzed() bool {
	var queues []string
	for _, j := range c.law.fuzzedJobs {
		if strings.HasPrefix(j.queue, c.law.NamePrefix) {
			queues = append(queues, j.queue)
		}
	}
	if len(queues) == 0 {
		return true
	}
	r, ok := c.connect(fuzzCleaner, fuzzedNames)
	for _, j := range c.law.fuzzedJobs {
		if strings.HasPrefix(j.queue, c.law.NamePrefix) {
			ok = ok && r.Release(j.jid)
		}
	}
	for part := range slices.Chunk(unique(queues), queuesWild) {
		ok = ok && c.emptyQueues(r, part, 4*len(part)+10) // a server may deliver the same one again and again
	}
	if ok {
		c.law.fuzzedJobs = nil
	}
	return ok
}
