package situations

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/jobtype"
	"github.com/fwpsuite/fwp/internal/base/values"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// job is a work unit of a situation. What is empty has a value that means nothing special.
type job struct {
	jid     string // fresh if empty
	jobtype string // fwp.ok if empty
	args    string // JSON of the array; [] if empty
	queue   string
	members string // further members of the object, as in `,"custom":null`
}

// unit is a job as it is pushed, or given to a producer. One without a jid has arguments that no other one has.
type unit struct {
	jid, json string
	args      string // JSON, of one without a jid
}

// name names the job, also where the jid is that of the producer.
func (u unit) name() string { return cmp.Or(u.jid, "the job with the arguments "+u.args) }

// unit returns the job with a queue, unless it has its own. Its arguments and further members are JSON that this
// program has written.
func (j job) unit(queue string) unit {
	jid := cmp.Or(j.jid, "fwp"+strings.ToLower(rand.Text()))
	return unit{jid: jid, json: fmt.Sprintf(`{"jid":%s,"jobtype":%s,"args":%s,"queue":%s%s}`, values.Quote(jid),
		values.Quote(cmp.Or(j.jobtype, jobtype.OK)), cmp.Or(j.args, "[]"), values.Quote(cmp.Or(j.queue, queue)), j.members)}
}

// unknownType is a job type that no worker has.
const unknownType = jobtype.Unknown

// outcomeOf is how the jobs have to end that docs/judging-workers.md describes. How others end is the worker's choice.
func outcomeOf(name string, args []any) clientrules.Outcome {
	spec, ok := jobtype.Find(jobtype.FWP(), name)
	outcome := clientrules.Outcome{IsKnown: ok && !spec.MayFail || name == unknownType, IsFailure: spec.Fails ||
		name == unknownType}
	if spec.TakesSeconds {
		outcome.Duration = secondsOf(args)
	}
	return outcome
}

// secondsOf returns the time that a job takes whose first argument says it.
func secondsOf(args []any) time.Duration {
	if len(args) == 0 {
		return 0
	}
	f, _ := args[0].(float64)
	return time.Duration(f * float64(time.Second))
}

// push pushes a job on all servers, and returns its jid. A job with further members is delivered as it was pushed.
func (t *trial) push(j job) string { return t.pushAll(j)[0] }

// pushAll pushes jobs, and returns their jids.
func (t *trial) pushAll(jobs ...job) (jids []string) {
	var units []unit
	texts := map[string]string{}
	for _, j := range jobs {
		u := j.unit(t.queue())
		if units, jids = append(units, u), append(jids, u.jid); j.members != "" {
			texts[u.jid] = u.json
		}
	}
	if len(texts) > 0 {
		t.hook(replaceDeliveries(texts))
	}
	for _, u := range units {
		for _, s := range t.servers {
			if err := s.Push([]byte(u.json)); err != nil {
				t.giveUp(false, "the job %s could not be pushed: %v", u.json, err)
			}
		}
	}
	return jids
}

// pushOverQueues pushes jobs to all queues in turn, if the program fetches from them, and returns their jids. A worker
// that asks one queue after the other waits at each that is empty.
func (t *trial) pushOverQueues(jobs ...job) []string {
	if slices.Contains(usualQueues, t.queue()) && t.harness.takesQueues() {
		jobs = slices.Clone(jobs)
		for i := range jobs {
			jobs[i].queue = usualQueues[i%len(usualQueues)]
		}
	}
	return t.pushAll(jobs...)
}

// pushMany pushes n jobs of a type, and returns their jids.
func (t *trial) pushMany(n int, name, args string) []string {
	return t.pushAll(slices.Repeat([]job{{jobtype: name, args: args}}, n)...)
}

// queue returns the queue that the program fetches from: one of those that it was told, or else one of its own.
func (t *trial) queue() string {
	queues := t.harness.observation.Queues
	if len(queues) == 0 || slices.Contains(queues, usualQueues[0]) {
		return usualQueues[0]
	}
	return queues[0]
}

// maxSending is how long a report may be on its way that takes time to send.
const maxSending = 90 * time.Second

// awaitReports waits until each of the jobs has a report, no longer than a process lives, and returns the jids of those
// that have none. It waits on while a line is on its way.
func (t *trial) awaitReports(p *program, patience time.Duration, jids ...string) (missing []string) {
	limit := t.now() + maxSending
	missing = slices.Clone(jids)
	done := func() bool {
		missing = slices.DeleteFunc(missing, func(jid string) bool { return t.reportOf(jid) != nil })
		return len(missing) == 0
	}
	for !t.waitUntilEnd(p, patience, done) && t.isSending() && !t.hasExited(p) && t.now() < limit {
		patience = timeToAct
	}
	return missing
}

// failText returns what the FAIL of a job says, without the name of its type; empty if no FAIL came.
func (t *trial) failText(jid, name string) string {
	report := t.reportOf(jid)
	if report == nil || report.Verb() != fwp.FAIL {
		return ""
	}
	return strings.ReplaceAll(report.Text("errtype")+" "+report.Text("message"), name, "")
}

// failsLike reports whether a worker fails a job like one of a type that no worker knows, which it has reported.
func (t *trial) failsLike(jid, name, unknownJID string) bool {
	text := t.failText(jid, name)
	return text != "" && text == t.failText(unknownJID, unknownType)
}

// reportPatience is how long a job may take that ends at once.
const reportPatience = 10 * time.Second

// judgeJobs waits until all jobs are reported, watches for a moment what follows, and decides whether each has a
// report.
func (t *trial) judgeJobs(p *program, jids []string) {
	missing, fetches := t.awaitReportsWhileFetching(p, jids)
	t.watch(p, time.Second)
	from := t.now()
	if len(missing) > 0 { // those that were delivered only now have as much time as any other
		missing = t.awaitReports(p, reportPatience, t.filterDelivered(jids)...)
	}
	missing = slices.DeleteFunc(missing, func(jid string) bool { return t.deliveryOf(jid).At > from })
	delivered := len(t.filterDelivered(jids))
	if delivered == 0 {
		t.giveUp(true, "the worker fetched none of the jobs within %v; it fetches from %s",
			quickPatience, strings.Join(t.queuesOf(p), " "))
	}
	t.judgeReports(missing, fmt.Sprintf("ACK or FAIL for each of %d jobs", delivered),
		fmt.Sprintf("within %v of the delivery", reportPatience))
	if isMinority := 2*delivered < len(jids); len(missing) == 0 && delivered < len(jids) && (isMinority || !fetches) {
		t.leaveOpen("FETCH-09", fmt.Sprintf("%d of %d jobs were not fetched within %v; the worker %s",
			len(jids)-delivered, len(jids), quickPatience+reportPatience, t.ending(p)))
	}
}

// judgeReports decides whether jobs were reported, after a wait for those that are missing. On a machine that is late
// that wait was longer.
func (t *trial) judgeReports(missing []string, expected, reason string) {
	if len(missing) > 0 && t.has(func(e *clientrules.Event) bool { return e.IsUnread }) {
		t.leaveOpen("FETCH-09", fmt.Sprintf("a line has more than %d bytes; it may be the report for %s",
			clientrules.MaxMessage,
			enumerate(missing)))
		return
	}
	t.isAwaited[t.clauseID("FETCH-09")] = true
	t.decide("FETCH-09", len(missing) == 0, expected, "no report on "+enumerate(missing)+" "+reason)
	t.setDeliveryEvidence(missing)
}

// awaitReportsWhileFetching is awaitReports for as long as the worker fetches: one that asks one queue after the other,
// or reports late, is slow. It also returns whether the worker was fetching still when the time was over.
func (t *trial) awaitReportsWhileFetching(p *program, jids []string) (missing []string, fetches bool) {
	const step, maxWait = 10 * time.Second, 90 * time.Second
	missing = t.awaitReports(p, quickPatience, jids...)
	before, limit := -1, t.now()+maxWait
	for len(missing) > 0 && t.now() < limit {
		fetched := len(t.filterDelivered(jids))
		if fetched == before || fetched == len(jids) || t.hasExited(p) {
			return missing, false
		}
		before = fetched
		missing = t.awaitReports(p, step, jids...)
	}
	return missing, before < len(t.filterDelivered(jids))
}

// enumerate returns the first few jids.
func enumerate(jids []string) string {
	const limit = 3
	if len(jids) <= limit {
		return strings.Join(jids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(jids[:limit], ", "), len(jids)-limit)
}

// setDeliveryEvidence names the delivery of the first of some jobs as what shows the latest decision.
func (t *trial) setDeliveryEvidence(jids []string) {
	if len(jids) > 0 {
		t.setEvidence(t.deliveryOf(jids[0]))
	}
}

// queuesOf returns the queues that a process has fetched from.
func (t *trial) queuesOf(p *program) []string {
	var queues []string
	for _, e := range t.all(p.lines(fwp.FETCH)) {
		for _, q := range e.Queues() {
			if !slices.Contains(queues, q) {
				queues = append(queues, q)
			}
		}
	}
	if len(queues) == 0 {
		return []string{"none, because it sent no FETCH"}
	}
	return queues
}
