package situations

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// fetchSituations are about FETCH. (FETCH)
func fetchSituations() []situation {
	return []situation{
		{"fetch/concurrency", "a worker runs as many jobs at a time as its concurrency allows",
			"FETCH-11", 5, playConcurrency, setup{}},
		{"fetch/eventful", "a worker runs as many jobs at a time after failed jobs and a lost connection",
			"FETCH-11", 15, playConcurrencyAfterTroubles, setup{}},
		{"fetch/beside-long-job", "a worker fetches jobs while it runs a long job",
			"FETCH-11", 6, playLongJob, setup{}},
		{"fetch/queues", "a worker fetches from all its queues",
			"FETCH-02 WRK-11", 4, playQueues, setup{}},
	}
}

func playConcurrency(t *trial) {
	p2, p4 := t.launch(options{concurrency: 2}), t.launch(options{concurrency: 4})
	t.pushMany(16, "fwp.sleep", "[10]")
	t.waitUntil(8*time.Second, func() bool { return t.maxHeld(p2, 0) >= 2 && t.maxHeld(p4, 0) >= 4 })
	t.waitUntil(time.Second, func() bool { return false })
	t.judgeConcurrency(p2, p4)
}

func playConcurrencyAfterTroubles(t *trial) {
	p := t.launch(options{})
	t.mustRunConcurrently(p)
	t.causeTroubles(p)
	t.judgeQueues(p)
	t.judgeConcurrencyAfter(p, usualConcurrency, "failed jobs, an error reply and the loss of a connection")
}

// judgeConcurrencyAfter decides whether a process runs n jobs at a time again after something that may have cost it an
// executor. One that is lost for good takes work from its users, and the last one takes all of it.
func (t *trial) judgeConcurrencyAfter(p *program, n int, after string) {
	from := t.now()
	t.pushOverQueues(slices.Repeat([]job{{jobtype: "fwp.sleep", args: "[5]"}}, n*int(recoveryPatience/(5*time.Second)))...)
	ok := t.waitUntilEnd(p, recoveryPatience, func() bool { return t.maxHeld(p, from) >= n })
	t.isAwaited[t.clauseID("FETCH-11")] = true
	t.decide("FETCH-11", ok, fmt.Sprintf("%d jobs at a time, as before", n), fmt.Sprintf(
		"at most %d at a time within %v after %s; the worker %s", t.maxHeld(p, from), recoveryPatience, after, t.ending(p)))
	t.makeCertain(harmNoWork, from)
}

// judgeExecutors decides whether a process still fetches from each of its queues, and runs as many jobs at a time as
// one did in the first test, after something that may have cost it an executor. One that has ended is started again by
// its supervisor, and one about which something was found before has its finding.
func (t *trial) judgeExecutors(p *program, after string) {
	executors := t.harness.executors
	hasFinding := slices.ContainsFunc(t.decisions,
		func(d conformance.Decision) bool { return d.Outcome == play.Mismatched })
	if executors == 0 || hasFinding || t.hasExited(p) || t.ctx.Err() != nil {
		return
	}
	t.judgeQueues(p)
	if before := len(t.decisions); !t.hasExited(p) {
		if t.judgeConcurrencyAfter(p, executors, after); t.hasExited(p) {
			t.decisions = t.decisions[:before]
		}
	}
}

// countExecutors finds out how many jobs a process runs at a time that was told to run usualConcurrency, at most that
// many.
func (t *trial) countExecutors(p *program) int {
	from := t.now()
	jids := t.pushOverQueues(slices.Repeat([]job{{jobtype: "fwp.sleep", args: "[1]"}},
		usualConcurrency*len(usualQueues))...)
	t.waitUntilEnd(p, timeToAct, func() bool { return t.maxHeld(p, from) >= usualConcurrency })
	t.awaitReports(p, fetchPatience, jids...)
	for _, jid := range jids {
		if report := t.reportOf(jid); report == nil || report.Verb() != fwp.ACK {
			return 0 // it does not have the job type, or works no jobs
		}
	}
	return min(t.maxHeld(p, from), usualConcurrency)
}

func playLongJob(t *trial) {
	p := t.launch(options{})
	t.mustRunConcurrently(p)
	long := t.push(job{jobtype: "fwp.sleep", args: "[60]"})
	t.waitUntilEnd(p, quickPatience, func() bool { return t.deliveryOf(long) != nil })
	jids := t.pushMany(4, "fwp.ok", "[1]")
	ok := t.waitUntilEnd(p, quickPatience, func() bool { return len(t.filterDelivered(jids)) == len(jids) })
	if t.deliveryOf(long) == nil || t.hasExited(p) {
		t.giveUp(true, "the long job was not fetched, or the worker ended")
	}
	t.decide("FETCH-11", ok, "other jobs, because it runs only one of two",
		fmt.Sprintf("during a long job %d of %d others were fetched within %v", len(t.filterDelivered(jids)), len(jids),
			quickPatience))
}

func playQueues(t *trial) {
	p := t.launch(options{})
	t.mustFetch(p)
	fetched := func(q string) bool { return slices.Contains(t.queuesOf(p), q) }
	t.waitUntilEnd(p, 15*time.Second, func() bool { return fetched(usualQueues[0]) && fetched(usualQueues[1]) })
	queues := t.queuesOf(p)
	if t.harness.takesQueues() {
		t.observeFetches()
	} else {
		t.judgeOtherQueues(queues)
	}
	t.decide("FETCH-02", true, "", "it fetches from "+strings.Join(queues, " "))
}

// observeFetches has the rules look at the FETCHes of a worker of one queue, and of one of many.
func (t *trial) observeFetches() {
	for _, queues := range [][]string{usualQueues[:1], manyQueues} {
		t.endOthers()
		p := t.launch(options{queues: queues})
		t.mustFetch(p)
		t.waitUntilEnd(p, quickPatience, func() bool { return len(t.queuesOf(p)) >= len(queues) })
	}
}

// manyQueues are as many as every server takes in a FETCH.
var manyQueues = []string{"fwp-1", "fwp-2", "fwp-3", "fwp-4", "fwp-5", "fwp-6", "fwp-7", "fwp-8"}

// judgeOtherQueues decides about a worker that fetches from none of the queues in its environment. One that fetches
// from other queues when it is told others takes them, and made something else of their names. What may be the name of
// a queue and something before it is left open.
func (t *trial) judgeOtherQueues(queues []string) {
	if slices.Contains(queues, strings.Join(usualQueues, ",")) {
		t.leaveOpen("WRK-11", "it uses the whole value of FWP_QUEUES as the name of one queue")
		return
	}
	t.endOthers()
	other := t.launch(options{queues: []string{"fwp-one", "fwp-two"}})
	t.mustFetch(other)
	isNamed := func(q string) bool {
		return slices.ContainsFunc(usualQueues, func(queue string) bool { return strings.HasSuffix(q, queue) })
	}
	if !areDisjoint(queues, t.queuesOf(other)) || slices.ContainsFunc(queues, isNamed) {
		t.leaveOpen("WRK-11", "it seems to ignore {queues} and FWP_QUEUES")
		return
	}
	t.decide("WRK-11", false, "FETCH from the queues "+strings.Join(usualQueues, " "),
		fmt.Sprintf("it fetches from %s, and with the queues fwp-one,fwp-two from %s", strings.Join(queues, " "),
			strings.Join(t.queuesOf(other), " ")))
	t.setEvidence(t.first(other.lines(fwp.FETCH)))
}

func areDisjoint(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// judgeQueues decides whether a worker that fetches still does so from each of its queues.
func (t *trial) judgeQueues(p *program) {
	jids := t.pushOverQueues(slices.Repeat([]job{{args: "[1]"}}, len(usualQueues))...)
	ok := t.waitUntilEnd(p, recoveryPatience, func() bool { return len(t.filterDelivered(jids)) == len(jids) })
	if fetched := len(t.filterDelivered(jids)); fetched > 0 && !t.hasExited(p) {
		t.decide("WRK-11", ok, "jobs from each of its queues",
			fmt.Sprintf("jobs from %d of %d queues within %v", fetched, len(jids), recoveryPatience))
	}
}

// mustRunConcurrently has a worker run as many jobs at a time as it was told, and ends the play if it does not. Each
// queue has a job for each executor, so that a worker whose FETCHes name one queue at a time finds one at once.
func (t *trial) mustRunConcurrently(p *program) {
	jobs := slices.Repeat([]job{{jobtype: "fwp.sleep", args: "[3]"}}, usualConcurrency*len(usualQueues))
	jids := t.pushOverQueues(jobs...)
	if !t.waitUntilEnd(p, quickPatience, func() bool { return t.maxHeld(p, 0) >= usualConcurrency }) {
		t.giveUp(true, "the worker did not run %d jobs at a time at its start", usualConcurrency)
	}
	t.awaitReports(p, quickPatience, jids...)
}

// causeTroubles has a worker go through what may cost it an executor or its heartbeat: jobs that fail, error
// replies and the loss of a connection on which it fetches. It ends the play if the worker does not get as far.
func (t *trial) causeTroubles(p *program) {
	t.addRules("on checked FETCH if not refused; first 1: refuse 'it was not possible'\n" +
		"on checked FAIL if not refused; first 1: refuse 'it was not possible'")
	jids := slices.Concat(t.pushMany(3, "fwp.fail", `["x"]`), t.pushMany(2, "fwp.ok", "[1]"))
	missing := t.awaitReports(p, quickPatience, jids...)
	t.addRules("on ran FETCH if reply = $-1; first 1: silent, close")
	if !t.await(p, quickPatience, p.events(serverClose)) || len(missing) > 0 {
		t.giveUp(true, "the worker reported %d of %d jobs, and did not reach the loss of a connection",
			len(jids)-len(missing), len(jids))
	}
}

// maxHeld returns the largest number of jobs that a process had at a time, of those that it got from a time on.
func (t *trial) maxHeld(p *program, from time.Duration) int {
	jids, peak, reports := map[string]bool{}, 0, line(fwp.ACK, fwp.FAIL)
	for _, e := range t.all(eventsAfter(from, p.events(func(e *clientrules.Event) bool {
		return e.Job != nil ||
			reports(e)
	}))) {
		if e.Job == nil {
			delete(jids, e.Text("jid"))
		} else {
			jids[e.Job.JID] = true
		}
		peak = max(peak, len(jids))
	}
	return peak
}

// judgeConcurrency decides whether two processes that were told to run two and four jobs at a time do so. Where both
// run as many, the program may not take this part of its environment.
func (t *trial) judgeConcurrency(p2, p4 *program) {
	two, four := t.maxHeld(p2, 0), t.maxHeld(p4, 0)
	got := fmt.Sprintf("with a concurrency of 2 and 4, two processes held %d and %d", two, four)
	if two != four { // it takes its concurrency from its environment
		t.decide("WRK-10", two <= 2 && four <= 4, "no more jobs than their concurrency", got)
	}
	switch {
	case two == 0 && four == 0:
		t.giveUp(true, "the worker fetched none of the jobs")
	case two >= 2 && four >= 4:
		t.decide("FETCH-11", true, "", got)
	case two == four && !t.harness.Launcher.Sets("concurrency"):
		t.leaveOpen("FETCH-11", got+": it seems to ignore {concurrency} and FWP_CONCURRENCY")
	default:
		t.decide("FETCH-11", false, "as many as their concurrency", got)
	}
}
