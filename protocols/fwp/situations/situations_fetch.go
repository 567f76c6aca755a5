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
	few, many := t.launch(options{concurrency: 2}), t.launch(options{concurrency: 4})
	t.pushMany(16, "fwp.sleep", "[10]")
	t.until(8*time.Second, func() bool { return t.mostHeld(few, 0) >= 2 && t.mostHeld(many, 0) >= 4 })
	t.until(time.Second, func() bool { return false })
	t.asConcurrent(few, many)
}

func playConcurrencyAfterTroubles(t *trial) {
	p := t.launch(options{})
	t.mustRunSeveral(p)
	t.troubles(p)
	t.fetchesFromAll(p)
	t.runsAsMany(p, usualConcurrency, "failed jobs, an error reply and the loss of a connection")
}

// runsAsMany decides whether a process runs n jobs at a time again after something that may have cost it an executor.
// One that is lost for good takes work from its users, and the last one takes all of it.
func (t *trial) runsAsMany(p *program, n int, after string) {
	from := t.now()
	t.pushOverQueues(slices.Repeat([]job{{jobtype: "fwp.sleep", args: "[5]"}}, n*int(comeback/(5*time.Second)))...)
	ok := t.untilOrEnd(p, comeback, func() bool { return t.mostHeld(p, from) >= n })
	t.awaited[t.clauseID("FETCH-11")] = true
	t.holds("FETCH-11", ok, fmt.Sprintf("%d jobs at a time, as before", n), fmt.Sprintf(
		"at most %d at a time within %v after %s; the worker %s", t.mostHeld(p, from), comeback, after, t.ending(p)))
	t.outright(harmNoWork, from)
}

// hasAllHands decides whether a process still fetches from each of its queues, and runs as many jobs at a time as one
// did in the first test, after something that may have cost it an executor. One that has ended is started again by its
// supervisor, and one about which something was found before has its finding.
func (t *trial) hasAllHands(p *program, after string) {
	hands := t.harness.hands
	found := slices.ContainsFunc(t.decisions, func(d conformance.Decision) bool { return d.Outcome == play.Mismatched })
	if hands == 0 || found || t.exited(p) || t.ctx.Err() != nil {
		return
	}
	t.fetchesFromAll(p)
	if before := len(t.decisions); !t.exited(p) {
		if t.runsAsMany(p, hands, after); t.exited(p) {
			t.decisions = t.decisions[:before]
		}
	}
}

// countHands finds out how many jobs a process runs at a time that was told to run usualConcurrency, at most that many.
func (t *trial) countHands(p *program) int {
	from := t.now()
	jids := t.pushOverQueues(slices.Repeat([]job{{jobtype: "fwp.sleep", args: "[1]"}}, usualConcurrency*len(theQueues))...)
	t.untilOrEnd(p, timeToAct, func() bool { return t.mostHeld(p, from) >= usualConcurrency })
	t.reported(p, fetchPatience, jids...)
	for _, jid := range jids {
		if report := t.reportOf(jid); report == nil || report.Verb() != fwp.ACK {
			return 0 // it does not have the job type, or works no jobs
		}
	}
	return min(t.mostHeld(p, from), usualConcurrency)
}

func playLongJob(t *trial) {
	p := t.launch(options{})
	t.mustRunSeveral(p)
	long := t.push(job{jobtype: "fwp.sleep", args: "[60]"})
	t.untilOrEnd(p, soon, func() bool { return t.deliveryOf(long) != nil })
	jids := t.pushMany(4, "fwp.ok", "[1]")
	ok := t.untilOrEnd(p, soon, func() bool { return len(t.delivered(jids)) == len(jids) })
	if t.deliveryOf(long) == nil || t.exited(p) {
		t.giveUp(true, "the long job was not fetched, or the worker ended")
	}
	t.holds("FETCH-11", ok, "other jobs, because it runs only one of two",
		fmt.Sprintf("during a long job %d of %d others were fetched within %v", len(t.delivered(jids)), len(jids), soon))
}

func playQueues(t *trial) {
	p := t.launch(options{})
	t.mustFetch(p)
	fetched := func(q string) bool { return slices.Contains(t.queuesOf(p), q) }
	t.untilOrEnd(p, 15*time.Second, func() bool { return fetched(theQueues[0]) && fetched(theQueues[1]) })
	queues := t.queuesOf(p)
	if t.harness.takesQueues() {
		t.fetchesFromMany()
	} else {
		t.judgeOtherQueues(queues)
	}
	t.holds("FETCH-02", true, "", "it fetches from "+strings.Join(queues, " "))
}

// fetchesFromMany has the rules look at the FETCHes of a worker of one queue, and of one of many.
func (t *trial) fetchesFromMany() {
	for _, queues := range [][]string{theQueues[:1], manyQueues} {
		t.endOthers()
		p := t.launch(options{queues: queues})
		t.mustFetch(p)
		t.untilOrEnd(p, soon, func() bool { return len(t.queuesOf(p)) >= len(queues) })
	}
}

// manyQueues are as many as every server takes in a FETCH.
var manyQueues = []string{"fwp-1", "fwp-2", "fwp-3", "fwp-4", "fwp-5", "fwp-6", "fwp-7", "fwp-8"}

// judgeOtherQueues decides about a worker that fetches from none of the queues in its environment. One that fetches
// from other queues when it is told others takes them, and made something else of their names. What may be the name of
// a queue and something before it is left open.
func (t *trial) judgeOtherQueues(queues []string) {
	if slices.Contains(queues, strings.Join(theQueues, ",")) {
		t.open("WRK-11", "it uses the whole value of FWP_QUEUES as the name of one queue")
		return
	}
	t.endOthers()
	other := t.launch(options{queues: []string{"fwp-one", "fwp-two"}})
	t.mustFetch(other)
	isTold := func(q string) bool {
		return slices.ContainsFunc(theQueues, func(told string) bool { return strings.HasSuffix(q, told) })
	}
	if !disjoint(queues, t.queuesOf(other)) || slices.ContainsFunc(queues, isTold) {
		t.open("WRK-11", "it seems to ignore {queues} and FWP_QUEUES")
		return
	}
	t.holds("WRK-11", false, "FETCH from the queues "+strings.Join(theQueues, " "),
		fmt.Sprintf("it fetches from %s, and with the queues fwp-one,fwp-two from %s", strings.Join(queues, " "),
			strings.Join(t.queuesOf(other), " ")))
	t.shownBy(t.first(other.lines(fwp.FETCH)))
}

func disjoint(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// fetchesFromAll decides whether a worker that fetches still does so from each of its queues.
func (t *trial) fetchesFromAll(p *program) {
	jids := t.pushOverQueues(slices.Repeat([]job{{args: "[1]"}}, len(theQueues))...)
	ok := t.untilOrEnd(p, comeback, func() bool { return len(t.delivered(jids)) == len(jids) })
	if fetched := len(t.delivered(jids)); fetched > 0 && !t.exited(p) {
		t.holds("WRK-11", ok, "jobs from each of its queues",
			fmt.Sprintf("jobs from %d of %d queues within %v", fetched, len(jids), comeback))
	}
}

// mustRunSeveral has a worker run as many jobs at a time as it was told, and ends the play if it does not. Each queue
// has a job for each executor, so that a worker whose FETCHes name one queue at a time finds one at once.
func (t *trial) mustRunSeveral(p *program) {
	jobs := slices.Repeat([]job{{jobtype: "fwp.sleep", args: "[3]"}}, usualConcurrency*len(theQueues))
	jids := t.pushOverQueues(jobs...)
	if !t.untilOrEnd(p, soon, func() bool { return t.mostHeld(p, 0) >= usualConcurrency }) {
		t.giveUp(true, "the worker did not run %d jobs at a time at its start", usualConcurrency)
	}
	t.reported(p, soon, jids...)
}

// troubles has a worker go through what may cost it an executor or its heartbeat: jobs that fail, error
// replies and the loss of a connection on which it fetches. It ends the play if the worker does not get as far.
func (t *trial) troubles(p *program) {
	t.follow("on checked FETCH if not refused; first 1: refuse 'it was not possible'\n" +
		"on checked FAIL if not refused; first 1: refuse 'it was not possible'")
	jids := slices.Concat(t.pushMany(3, "fwp.fail", `["x"]`), t.pushMany(2, "fwp.ok", "[1]"))
	missing := t.reported(p, soon, jids...)
	t.follow("on ran FETCH if reply = $-1; first 1: silent, close")
	if !t.await(p, soon, p.events(serverClose)) || len(missing) > 0 {
		t.giveUp(true, "the worker reported %d of %d jobs, and did not reach the loss of a connection",
			len(jids)-len(missing), len(jids))
	}
}

// mostHeld returns the largest number of jobs that a process had at a time, of those that it got from a time on.
func (t *trial) mostHeld(p *program, from time.Duration) int {
	held, most, reports := map[string]bool{}, 0, line(fwp.ACK, fwp.FAIL)
	for _, e := range t.all(after(from, p.events(func(e *clientrules.Event) bool { return e.Job != nil || reports(e) }))) {
		if e.Job == nil {
			delete(held, e.Text("jid"))
		} else {
			held[e.Job.JID] = true
		}
		most = max(most, len(held))
	}
	return most
}

// asConcurrent decides whether two processes that were told to run two and four jobs at a time do so. Where both run
// as many, the program may not take this part of its environment.
func (t *trial) asConcurrent(few, many *program) {
	two, four := t.mostHeld(few, 0), t.mostHeld(many, 0)
	got := fmt.Sprintf("with a concurrency of 2 and 4, two processes held %d and %d", two, four)
	if two != four { // it takes its concurrency from its environment
		t.holds("WRK-10", two <= 2 && four <= 4, "no more jobs than their concurrency", got)
	}
	switch {
	case two == 0 && four == 0:
		t.giveUp(true, "the worker fetched none of the jobs")
	case two >= 2 && four >= 4:
		t.holds("FETCH-11", true, "", got)
	case two == four && !t.harness.Launcher.Sets("concurrency"):
		t.open("FETCH-11", got+": it seems to ignore {concurrency} and FWP_CONCURRENCY")
	default:
		t.holds("FETCH-11", false, "as many as their concurrency", got)
	}
}
