package situations

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/jobtype"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// jobSituations are about the outcome of jobs. (ACK; FAIL)
func jobSituations() []situation {
	const reports = "FETCH-09 FETCH-10 ACK-05 FAIL-04"
	const unusual = "FRAME-04 FRAME-09 FETCH-11 " + reports
	return []situation{
		{"jobs/outcomes", "each job has one report: ACK if it succeeded, FAIL if it failed",
			connectionClauses + " WRK-01 WRK-03 WRK-09 WRK-04 ACK-06 FAIL-05 FETCH-11 " + reports, 2, playOutcomes, setup{}},
		{"jobs/unknown-type", "a job of an unknown type is reported as failed, and the worker continues",
			reports + " FAIL-05 FETCH-11", 2, playUnknownType, setup{}},
		{"jobs/jids", "the jid of a report is unchanged, with any characters",
			unusual, 2, playUnusual(deliveredJIDs()), setup{}},
		{"jobs/arguments", "arguments of any kind reach the job, and later replies still match",
			unusual, 2, playUnusual(deliveredArguments()), setup{}},
		{"jobs/fields", "a job with unknown or null fields is executed",
			unusual, 2, playUnusual(deliveredFields()), setup{}},
		{"jobs/many", "each of many jobs is reported exactly once",
			reports, 3, playManyJobs, setup{}},
		{"jobs/echo", "a job is executed with its arguments in order",
			"WRK-15 FETCH-09", 3, playEcho, setup{}},
		{"jobs/retried", "a job that is delivered again after its FAIL is executed and reported again",
			"FETCH-09 FETCH-10 FAIL-04 FETCH-11", 5, playRetried, setup{server: setShortRetry}},
		{"jobs/killed", "a job is acknowledged after it ran and not before",
			"WRK-07", 4, playReportedAfterRun, setup{}},
		{"jobs/reservation", "a job that is delivered again after its reservation is reported",
			"FETCH-09 FETCH-10 RESP-09", 75, playReservationOver, setup{server: setShortRetry}},
		{"executor/crash", "after a job that ends its process the worker continues, or ends",
			"FETCH-11 FETCH-09 FAIL-04", 5, playCrash, setup{isQuick: true}},
		{"executor/exit", "after a job that ends its thread, such as one that calls exit, the worker continues, or ends",
			"FETCH-11 FETCH-09", 5, playExit, setup{isQuick: true}},
		{"executor/block", "a worker sends BEAT while a job keeps a CPU busy, and continues after it",
			"BEAT-06 FETCH-11 FETCH-09", blockSeconds, playBlock, setup{}},
		{"executor/push", "each of the jobs that a job pushes has its own queue, custom and retry",
			"ACK-05 FETCH-11", 3, playPushInJob, setup{}},
		{"executor/push-reset", "a job whose push gets lost is reported as failed, with an errtype or a message",
			"ACK-05 WRK-04 FETCH-11", 3, playPushReset,
			setup{rules: "on checked PUSH; first 1: skip\non ran PUSH if skipped: silent, reset"}},
		{"workers/two", "processes have different worker ids, also if they start at the same time",
			"HELLO-10", 1, playSeveralProcesses, setup{}},
	}
}

// setShortRetry has a server deliver jobs again that have failed, or whose reservation is over, a second later.
func setShortRetry(c *fakes.Config) { c.RetryDelay = func(int) time.Duration { return time.Second } }

func playOutcomes(t *trial) {
	p := t.launch(options{})
	t.decideHeld("WRK-01")
	t.judgeJobs(p, slices.Concat(t.pushMany(6, "fwp.ok", "[1]"), t.pushMany(4, "fwp.fail", `["it failed on purpose"]`),
		t.pushMany(3, "fwp.sleep", "[0.2]"), t.pushMany(12, "fwp.ok", `[1,"two",{"three":[3]}]`)))
	t.judgeExecutors(p, "failed jobs")
}

func playUnknownType(t *trial) {
	p := t.launch(options{})
	t.judgeJobs(p, append(t.pushMany(2, unknownType, `[1]`), t.pushMany(3, "fwp.ok", "[1]")...))
	t.judgeExecutors(p, "jobs of an unknown type")
}

// playUnusual returns a play of jobs with unusual contents. One more shows that the connections are in step afterwards.
func playUnusual(jobs []job) func(*trial) {
	return func(t *trial) {
		p := t.launch(options{})
		t.judgeJobs(p, append(t.pushOverQueues(jobs...), t.push(job{args: "[1]"})))
		t.judgeExecutors(p, "unusual jobs")
	}
}

func playManyJobs(t *trial) {
	const count = 300
	p := t.launch(options{concurrency: 5})
	t.judgeJobs(p, t.pushOverQueues(manyJobs(count)...))
}

// playEcho has a worker run jobs whose failure names their arguments, and compares these.
func playEcho(t *trial) {
	p := t.launch(options{})
	all := echoArguments()
	jids := t.pushOverQueues(jobsWithArgs("fwp.echo", all...)...)
	t.judgeJobs(p, jids)
	for _, e := range t.all(p.lines(fwp.FAIL)) {
		if first := t.reportOf(e.Text("jid")); first != nil && first.Text("message") != e.Text("message") {
			t.leaveOpen("WRK-15", "two reports of a job differ: one may be for another job")
			return
		}
	}
	compared := 0
	for i, jid := range jids {
		fail := t.reportOf(jid)
		if fail == nil || fail.Verb() != fwp.FAIL {
			continue
		}
		got, has := arrayIn(fail.Text("message"))
		if !has {
			continue
		}
		compared++
		if want := all[i]; !sameValue(decodeJSON(want), got) {
			t.decide("WRK-15", false, "the arguments "+want, "the job got the arguments "+shortJSON(got))
			t.setEvidence(fail)
			return
		}
	}
	if compared < len(jids) {
		t.leaveOpen("WRK-15", fmt.Sprintf("%d of %d jobs of type fwp.echo have no FAIL, or no JSON array in its message",
			len(jids)-compared, len(jids)))
		return
	}
	t.decideHeld("WRK-15")
}

// playRetried has jobs fail that the server delivers again a second later, and decides whether each delivery has a
// report.
func playRetried(t *trial) {
	const jobs, deliveries = 2, 3
	p := t.launch(options{})
	failJob := job{jobtype: "fwp.fail", args: `["again"]`, members: `,"retry":2`}
	jids := t.pushAll(failJob, failJob)
	delivered := func(jid string) int {
		return t.count(func(e *clientrules.Event) bool { return e.Job != nil && e.Job.JID == jid })
	}
	reports := func(jid string) (n int) { // deliveries that a report follows, before the next one
		isOpen := false
		for _, e := range t.all(func(e *clientrules.Event) bool { return e.Job != nil || line(fwp.FAIL, fwp.ACK)(e) }) {
			switch {
			case e.Job != nil && e.Job.JID == jid:
				isOpen = true
			case isOpen && e.Text("jid") == jid:
				n, isOpen = n+1, false
			}
		}
		return n
	}
	forAll := func(enough func(jid string) bool) func() bool {
		return func() bool { return !slices.ContainsFunc(jids, func(jid string) bool { return !enough(jid) }) }
	}
	t.waitUntilEnd(p, quickPatience, forAll(func(jid string) bool { return reports(jid) >= deliveries }))
	t.watch(p, time.Second)
	t.waitUntilEnd(p, reportPatience, forAll(func(jid string) bool { return delivered(jid) >= deliveries }))
	if t.count(delivery) <= jobs {
		t.giveUp(true, "no job was delivered again within %v", quickPatience+reportPatience)
	}
	for _, jid := range jids {
		n := delivered(jid)
		t.waitUntil(reportPatience, func() bool { return reports(jid) >= n })
		got := reports(jid)
		t.decide("FETCH-09", got >= n, "a report for each delivery of a job",
			fmt.Sprintf("the job %s was delivered %d times and reported %d times", jid, n, got))
	}
	t.judgeExecutors(p, "jobs that were delivered again")
}

func playReportedAfterRun(t *trial) {
	p := t.launch(options{})
	jid := t.push(job{jobtype: "fwp.sleep", args: "[4]"})
	t.mustTake(jid)
	t.watch(p, 2*time.Second)
	others := t.pushMany(3, "fwp.ok", "[1]")
	report := t.reportOf(jid)
	t.decide("WRK-07", report == nil, "no report while the job runs",
		"the job was reported while it ran, so it would be lost if the worker died")
	t.setEvidence(report)
	t.awaitReports(p, quickPatience, append(others, jid)...)
}

// playReservationOver hands a worker a job that takes longer than its reservation. The server delivers it again, as one
// that ends at once, and does not know it any more when the first execution ends.
func playReservationOver(t *trial) {
	const runs, spare = 66, 9 * time.Second
	p := t.launch(options{})
	jid := t.push(job{jobtype: "fwp.sleep", args: fmt.Sprint("[", runs, "]"), members: `,"reserve_for":60`})
	t.addRules(fmt.Sprintf(`on writing FETCH if reply ~ %s; from 2: replace '"args":[%d]' '"args":[0] '`, jid, runs))
	t.mustTake(jid)
	reports := p.events(func(e *clientrules.Event) bool { return line(fwp.ACK, fwp.FAIL)(e) && e.Text("jid") == jid })
	t.awaitCount(p, runs*time.Second+spare, reports, 2)
	if t.hasExited(p) {
		t.giveUp(true, "the worker ended")
	}
	t.watch(p, timeToAct)
	if n := t.count(p.events(func(e *clientrules.Event) bool { return e.Job != nil && e.Job.JID == jid })); n < 2 {
		t.giveUp(true, "the job was delivered %d time, and not again after its reservation", n)
	}
	t.decide("FETCH-09", t.has(reports), "an ACK or a FAIL", "no report for a job that was delivered twice")
	t.judgeWork(p, "RESP-09", "a worker that continues fetching and reporting")
}

// playSeveralProcesses starts processes at the same time. Whether their worker ids differ is for the rules.
func playSeveralProcesses(t *trial) {
	var all []*program
	for range 3 {
		all = append(all, t.launch(options{isEager: true}))
	}
	for _, p := range all {
		if err := t.awaitFirstLine(p); err != nil {
			t.judgeStartFailure(p, err)
			t.giveUp(true, "%s", firstLine(err.Error()))
		}
		t.mustFetch(p)
	}
}

// runOptional has a worker run jobs of a type that it may lack, and returns the jids of those that it has not reported
// within a patience. A worker that fails one like a job that no worker knows lacks it: the play is left out.
func (t *trial) runOptional(p *program, patience time.Duration, jobs ...job) (jids []string) {
	t.requireWork()
	unknownJID := t.push(job{jobtype: unknownType})
	if missing := t.awaitReports(p, quickPatience, unknownJID); len(missing) > 0 || t.hasExited(p) {
		t.giveUp(true, "the worker did not report a job of the type %s, so its job types are unknown",
			unknownType)
	}
	jids = t.pushAll(jobs...)
	t.mustTake(jids...)
	missing := t.awaitReports(p, patience, jids...)
	if t.failsLike(jids[0], jobs[0].jobtype, unknownJID) {
		t.leaveOut("needs-job-type", "the worker lacks the job type %s: see docs/judging-workers.md", jobs[0].jobtype)
	}
	return missing
}

// judgeWorkAfter decides whether a worker that has not ended has 20 ordinary jobs succeed.
func (t *trial) judgeWorkAfter(p *program, cause string) {
	begun := t.now()
	jids := t.pushMany(20, "fwp.ok", "[1]")
	t.awaitReports(p, recoveryPatience, jids...)
	if succeeded := t.judgeSuccessAfter(p, cause, jids); succeeded == 0 {
		t.makeCertain(harmNoWork, begun)
	} else if succeeded == len(jids) {
		t.judgeExecutors(p, cause)
	}
}

// judgeSuccessAfter decides it of jobs, and returns how many succeeded. A worker that has fetched all of them, and does
// not report some, has not stopped fetching.
func (t *trial) judgeSuccessAfter(p *program, cause string, jids []string) (succeeded int) {
	delivered := t.filterDelivered(jids)
	var unreported []string // by the worker
	for _, jid := range jids {
		switch report := t.reportOf(jid); {
		case report != nil && report.Verb() == fwp.ACK:
			succeeded++
		case report == nil && slices.Contains(delivered, jid):
			unreported = append(unreported, jid)
		}
	}
	if succeeded > 0 && succeeded+len(unreported) == len(jids) && !t.hasExited(p) {
		t.judgeReports(unreported, "ACK or FAIL for each job", "after "+cause)
		t.decideHeld("FETCH-11")
		return succeeded
	}
	t.decide("FETCH-11", succeeded == len(jids) || t.hasExited(p), "20 jobs that succeed, or the end of the worker",
		fmt.Sprintf("after %s, %d of %d ordinary jobs succeeded within %v", cause, succeeded, len(jids), recoveryPatience))
	return succeeded
}

func playCrash(t *trial) {
	p := t.launch(options{})
	crash := job{jobtype: jobtype.Crash}
	t.runOptional(p, timeToAct, slices.Repeat([]job{crash}, usualConcurrency)...)
	t.excuseEnd()
	t.decideHeld("FETCH-09") // the jobs come back, or have failed
	t.judgeWorkAfter(p, "a job that ended its process")
}

// playExit has jobs end what runs them: a thread, or the process, which is right.
func playExit(t *trial) {
	p := t.launch(options{})
	missing := t.runOptional(p, timeToAct, slices.Repeat([]job{{jobtype: jobtype.Exit}}, usualConcurrency)...)
	if t.hasExited(p) {
		t.excuseEnd()
		t.decideHeld("FETCH-09") // the jobs come back
	} else {
		missing = t.awaitReports(p, reportPatience, t.filterDelivered(missing)...)
		t.judgeReports(missing, "ACK or FAIL for each job, or the end of the worker", "that ended its thread")
	}
	t.judgeWorkAfter(p, "jobs that ended their threads")
}

// blockSeconds is for how many seconds a job keeps a processor busy: longer than a BEAT may be late.
const blockSeconds = 70

func playBlock(t *trial) {
	p := t.launch(options{})
	block := job{jobtype: jobtype.Block, args: fmt.Sprint("[", blockSeconds, "]")}
	missing := t.runOptional(p, blockSeconds*time.Second+reportPatience, block)
	if t.hasExited(p) {
		t.decideHeld("FETCH-09") // it comes back
	} else {
		t.judgeReports(missing, "ACK or FAIL for the job", "that kept a CPU busy")
	}
	t.judgeBeats(p)
	t.judgeWorkAfter(p, "a job that kept a CPU busy")
}

// pushingJob returns a job that pushes n others, each with its own queue, custom and retry, and these.
func pushingJob(n int) (parent job, units []unit) {
	for i := range n {
		units = append(units, job{
			queue: fmt.Sprintf("fwp-pushed-%d", i%5), members: fmt.Sprintf(`,"custom":{"n":%d},"retry":%d`, i, i%7),
		}.unit(""))
	}
	return job{jobtype: jobtype.Push, args: "[" + strings.Join(jsonOf(units), ",") + "]"}, units
}

func playPushInJob(t *trial) {
	p := t.launch(options{})
	parent, units := pushingJob(24)
	t.judgeReports(t.runOptional(p, quickPatience, parent), "ACK or FAIL for the job", "that pushed others")
	t.judgeJobPushes(units)
	t.judgeWorkAfter(p, "a job that pushed others")
}

// judgeJobPushes decides whether the jobs that were pushed by one that succeeded are as they were given.
func (t *trial) judgeJobPushes(units []unit) {
	for _, u := range units {
		push, fields := t.first(pushOf(u.jid)), decodeJSON(u.json).(map[string]any)
		if push == nil || !t.hasTaken(u.jid) {
			t.decide("ACK-05", false, "each pushed job on the server, or FAIL for the job that pushes",
				"the job "+u.jid+" was not pushed, but the job that pushes it succeeded")
			t.isCertain[t.clauseID("ACK-05")] = true
			return
		}
		for _, name := range []string{"queue", "custom", "retry"} {
			if got := push.Object[name]; !sameField(name, fields[name], got) {
				t.decide("ACK-05", false, name+" "+shortJSON(fields[name])+", as it was given to the job that pushes it",
					name+" of the job "+u.jid+" is "+shortJSON(got))
				t.setEvidence(push)
				return
			}
		}
	}
	t.decideHeld("ACK-05")
}

// hasTaken reports whether the server has taken a job by a PUSH.
func (t *trial) hasTaken(jid string) bool {
	return WithLock(&t.hookMu, func() bool { return len(t.acceptedJIDs[jid]) > 0 })
}

func playPushReset(t *trial) {
	p := t.launch(options{})
	parent, units := pushingJob(8)
	parent.jid = "fwp" + strings.ToLower(rand.Text())
	t.judgeReports(t.runOptional(p, quickPatience, parent), "ACK or FAIL for the job", "whose push was lost")
	switch report := t.reportOf(parent.jid); {
	case report == nil:
	case report.Verb() == fwp.ACK:
		t.judgeJobPushes(units)
		t.decideHeld("WRK-04") // it has pushed again
	default:
		t.decideHeld("ACK-05")
		t.decide("WRK-04", report.Text("errtype")+report.Text("message") != "", "an errtype or a message",
			fmt.Sprintf("its FAIL has the errtype %q and the message %q", report.Text("errtype"), report.Text("message")))
		t.setEvidence(report)
	}
	t.judgeWorkAfter(p, "a job whose push was lost")
}
