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
			always + " WRK-01 WRK-03 WRK-09 WRK-04 ACK-06 FAIL-05 FETCH-11 " + reports, 2, playOutcomes, setup{}},
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
			"FETCH-09 FETCH-10 FAIL-04 FETCH-11", 5, playRetried, setup{server: retriesSoon}},
		{"jobs/killed", "a job is acknowledged after it ran and not before",
			"WRK-07", 4, playReportedAfterRun, setup{}},
		{"jobs/reservation", "a job that is delivered again after its reservation is reported",
			"FETCH-09 FETCH-10 RESP-09", 75, playReservationOver, setup{server: retriesSoon}},
		{"executor/crash", "after a job that ends its process the worker continues, or ends",
			"FETCH-11 FETCH-09 FAIL-04", 5, playCrash, setup{quick: true}},
		{"executor/exit", "after a job that ends its thread, such as one that calls exit, the worker continues, or ends",
			"FETCH-11 FETCH-09", 5, playExit, setup{quick: true}},
		{"executor/block", "a worker sends BEAT while a job keeps a CPU busy, and continues after it",
			"BEAT-06 FETCH-11 FETCH-09", blockFor, playBlock, setup{}},
		{"executor/push", "each of the jobs that a job pushes has its own queue, custom and retry",
			"ACK-05 FETCH-11", 3, playPushInJob, setup{}},
		{"executor/push-reset", "a job whose push gets lost is reported as failed, with an errtype or a message",
			"ACK-05 WRK-04 FETCH-11", 3, playPushReset,
			setup{rules: "on checked PUSH; first 1: skip\non ran PUSH if skipped: silent, reset"}},
		{"workers/two", "processes have different worker ids, also if they start at the same time",
			"HELLO-10", 1, playSeveralProcesses, setup{}},
	}
}

// retriesSoon has a server deliver jobs again that have failed, or whose reservation is over, a second later.
func retriesSoon(c *fakes.Config) { c.RetryDelay = func(int) time.Duration { return time.Second } }

func playOutcomes(t *trial) {
	p := t.launch(options{})
	t.kept("WRK-01")
	t.worked(p, slices.Concat(t.pushMany(6, "fwp.ok", "[1]"), t.pushMany(4, "fwp.fail", `["it failed on purpose"]`),
		t.pushMany(3, "fwp.sleep", "[0.2]"), t.pushMany(12, "fwp.ok", `[1,"two",{"three":[3]}]`)))
	t.hasAllHands(p, "failed jobs")
}

func playUnknownType(t *trial) {
	p := t.launch(options{})
	t.worked(p, append(t.pushMany(2, unknownType, `[1]`), t.pushMany(3, "fwp.ok", "[1]")...))
	t.hasAllHands(p, "jobs of an unknown type")
}

// playUnusual returns a play of jobs with unusual contents. One more shows that the connections are in step afterwards.
func playUnusual(jobs []job) func(*trial) {
	return func(t *trial) {
		p := t.launch(options{})
		t.worked(p, append(t.pushOverQueues(jobs...), t.push(job{args: "[1]"})))
		t.hasAllHands(p, "unusual jobs")
	}
}

func playManyJobs(t *trial) {
	const many = 300
	p := t.launch(options{concurrency: 5})
	t.worked(p, t.pushOverQueues(manyJobs(many)...))
}

// playEcho has a worker run jobs whose failure names their arguments, and compares these.
func playEcho(t *trial) {
	p := t.launch(options{})
	all := echoed()
	jids := t.pushOverQueues(jobsWithArgs("fwp.echo", all...)...)
	t.worked(p, jids)
	for _, e := range t.all(p.lines(fwp.FAIL)) {
		if first := t.reportOf(e.Text("jid")); first != nil && first.Text("message") != e.Text("message") {
			t.open("WRK-15", "two reports of a job differ: one may be for another job")
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
		if want := all[i]; !sameValue(decoded(want), got) {
			t.holds("WRK-15", false, "the arguments "+want, "the job got the arguments "+shortJSON(got))
			t.shownBy(fail)
			return
		}
	}
	if compared < len(jids) {
		t.open("WRK-15", fmt.Sprintf("%d of %d jobs of type fwp.echo have no FAIL, or no JSON array in its message",
			len(jids)-compared, len(jids)))
		return
	}
	t.kept("WRK-15")
}

// playRetried has jobs fail that the server delivers again a second later, and decides whether each delivery has a
// report.
func playRetried(t *trial) {
	const jobs, deliveries = 2, 3
	p := t.launch(options{})
	again := job{jobtype: "fwp.fail", args: `["again"]`, more: `,"retry":2`}
	jids := t.pushAll(again, again)
	delivered := func(jid string) int {
		return t.count(func(e *clientrules.Event) bool { return e.Job != nil && e.Job.JID == jid })
	}
	reports := func(jid string) (n int) { // deliveries that a report follows, before the next one
		open := false
		for _, e := range t.all(func(e *clientrules.Event) bool { return e.Job != nil || line(fwp.FAIL, fwp.ACK)(e) }) {
			switch {
			case e.Job != nil && e.Job.JID == jid:
				open = true
			case open && e.Text("jid") == jid:
				n, open = n+1, false
			}
		}
		return n
	}
	each := func(enough func(jid string) bool) func() bool {
		return func() bool { return !slices.ContainsFunc(jids, func(jid string) bool { return !enough(jid) }) }
	}
	t.untilOrEnd(p, soon, each(func(jid string) bool { return reports(jid) >= deliveries }))
	t.watch(p, time.Second)
	t.untilOrEnd(p, reportPatience, each(func(jid string) bool { return delivered(jid) >= deliveries }))
	if t.count(delivery) <= jobs {
		t.giveUp(true, "no job was delivered again within %v", soon+reportPatience)
	}
	for _, jid := range jids {
		n := delivered(jid)
		t.until(reportPatience, func() bool { return reports(jid) >= n })
		got := reports(jid)
		t.holds("FETCH-09", got >= n, "a report for each delivery of a job",
			fmt.Sprintf("the job %s was delivered %d times and reported %d times", jid, n, got))
	}
	t.hasAllHands(p, "jobs that were delivered again")
}

func playReportedAfterRun(t *trial) {
	p := t.launch(options{})
	jid := t.push(job{jobtype: "fwp.sleep", args: "[4]"})
	t.mustTake(jid)
	t.watch(p, 2*time.Second)
	beside := t.pushMany(3, "fwp.ok", "[1]")
	early := t.reportOf(jid)
	t.holds("WRK-07", early == nil, "no report while the job runs",
		"the job was reported while it ran, so it would be lost if the worker died")
	t.shownBy(early)
	t.reported(p, soon, append(beside, jid)...)
}

// playReservationOver hands a worker a job that takes longer than its reservation. The server delivers it again, as one
// that ends at once, and does not know it any more when the first execution ends.
func playReservationOver(t *trial) {
	const runs, spare = 66, 9 * time.Second
	p := t.launch(options{})
	jid := t.push(job{jobtype: "fwp.sleep", args: fmt.Sprint("[", runs, "]"), more: `,"reserve_for":60`})
	t.follow(fmt.Sprintf(`on writing FETCH if reply ~ %s; from 2: replace '"args":[%d]' '"args":[0] '`, jid, runs))
	t.mustTake(jid)
	reports := p.events(func(e *clientrules.Event) bool { return line(fwp.ACK, fwp.FAIL)(e) && e.Text("jid") == jid })
	t.awaitCount(p, runs*time.Second+spare, reports, 2)
	if t.exited(p) {
		t.giveUp(true, "the worker ended")
	}
	t.watch(p, timeToAct)
	if n := t.count(p.events(func(e *clientrules.Event) bool { return e.Job != nil && e.Job.JID == jid })); n < 2 {
		t.giveUp(true, "the job was delivered %d time, and not again after its reservation", n)
	}
	t.holds("FETCH-09", t.has(reports), "an ACK or a FAIL", "no report for a job that was delivered twice")
	t.itWorks(p, "RESP-09", "a worker that continues fetching and reporting")
}

// playSeveralProcesses starts processes at the same time. Whether their worker ids differ is for the rules.
func playSeveralProcesses(t *trial) {
	var all []*program
	for range 3 {
		all = append(all, t.launch(options{eager: true}))
	}
	for _, p := range all {
		if err := t.awaitFirstLine(p); err != nil {
			t.doesNotStart(p, err)
			t.giveUp(true, "%s", firstLine(err.Error()))
		}
		t.mustFetch(p)
	}
}

// mayLack has a worker run jobs of a type that it may lack, and returns the jids of those that it has not reported
// within a patience. A worker that fails one like a job that no worker knows lacks it: the play is left out.
func (t *trial) mayLack(p *program, patience time.Duration, jobs ...job) (jids []string) {
	t.worksElsewhere()
	unknown := t.push(job{jobtype: unknownType})
	if missing := t.reported(p, soon, unknown); len(missing) > 0 || t.exited(p) {
		t.giveUp(true, "the worker did not report a job of the type %s, so its job types are unknown",
			unknownType)
	}
	jids = t.pushAll(jobs...)
	t.mustTake(jids...)
	missing := t.reported(p, patience, jids...)
	if t.failsLike(jids[0], jobs[0].jobtype, unknown) {
		t.leaveOut("needs-job-type", "the worker lacks the job type %s: see docs/judging-workers.md", jobs[0].jobtype)
	}
	return missing
}

// worksBehind decides whether a worker that has not ended has 20 ordinary jobs succeed.
func (t *trial) worksBehind(p *program, what string) {
	begun := t.now()
	jids := t.pushMany(20, "fwp.ok", "[1]")
	t.reported(p, comeback, jids...)
	if succeeded := t.succeedBehind(p, what, jids); succeeded == 0 {
		t.outright(harmNoWork, begun)
	} else if succeeded == len(jids) {
		t.hasAllHands(p, what)
	}
}

// succeedBehind decides it of jobs, and returns how many succeeded. A worker that has fetched all of them, and does not
// report some, has not stopped fetching.
func (t *trial) succeedBehind(p *program, what string, jids []string) (succeeded int) {
	delivered := t.delivered(jids)
	var kept []string // by the worker
	for _, jid := range jids {
		switch report := t.reportOf(jid); {
		case report != nil && report.Verb() == fwp.ACK:
			succeeded++
		case report == nil && slices.Contains(delivered, jid):
			kept = append(kept, jid)
		}
	}
	if succeeded > 0 && succeeded+len(kept) == len(jids) && !t.exited(p) {
		t.allReported(kept, "ACK or FAIL for each job", "after "+what)
		t.kept("FETCH-11")
		return succeeded
	}
	t.holds("FETCH-11", succeeded == len(jids) || t.exited(p), "20 jobs that succeed, or the end of the worker",
		fmt.Sprintf("after %s, %d of %d ordinary jobs succeeded within %v", what, succeeded, len(jids), comeback))
	return succeeded
}

func playCrash(t *trial) {
	p := t.launch(options{})
	crash := job{jobtype: jobtype.Crash}
	t.mayLack(p, timeToAct, slices.Repeat([]job{crash}, usualConcurrency)...)
	t.dies()
	t.kept("FETCH-09") // the jobs come back, or have failed
	t.worksBehind(p, "a job that ended its process")
}

// playExit has jobs end what runs them: a thread, or the process, which is right.
func playExit(t *trial) {
	p := t.launch(options{})
	missing := t.mayLack(p, timeToAct, slices.Repeat([]job{{jobtype: jobtype.Exit}}, usualConcurrency)...)
	if t.exited(p) {
		t.dies()
		t.kept("FETCH-09") // the jobs come back
	} else {
		missing = t.reported(p, reportPatience, t.delivered(missing)...)
		t.allReported(missing, "ACK or FAIL for each job, or the end of the worker", "that ended its thread")
	}
	t.worksBehind(p, "jobs that ended their threads")
}

// blockFor is for how many seconds a job keeps a processor busy: longer than a BEAT may be late.
const blockFor = 70

func playBlock(t *trial) {
	p := t.launch(options{})
	block := job{jobtype: jobtype.Block, args: fmt.Sprint("[", blockFor, "]")}
	missing := t.mayLack(p, blockFor*time.Second+reportPatience, block)
	if t.exited(p) {
		t.kept("FETCH-09") // it comes back
	} else {
		t.allReported(missing, "ACK or FAIL for the job", "that kept a CPU busy")
	}
	t.beatsSteadily(p)
	t.worksBehind(p, "a job that kept a CPU busy")
}

// pushedByJob returns a job that pushes n others, each with its own queue, custom and retry, and these.
func pushedByJob(n int) (parent job, units []unit) {
	for i := range n {
		units = append(units, job{
			queue: fmt.Sprintf("fwp-pushed-%d", i%5), more: fmt.Sprintf(`,"custom":{"n":%d},"retry":%d`, i, i%7),
		}.unit(""))
	}
	return job{jobtype: jobtype.Push, args: "[" + strings.Join(jsonOf(units), ",") + "]"}, units
}

func playPushInJob(t *trial) {
	p := t.launch(options{})
	parent, units := pushedByJob(24)
	t.allReported(t.mayLack(p, soon, parent), "ACK or FAIL for the job", "that pushed others")
	t.pushedAsGiven(units)
	t.worksBehind(p, "a job that pushed others")
}

// pushedAsGiven decides whether the jobs that were pushed by one that succeeded are as they were given.
func (t *trial) pushedAsGiven(units []unit) {
	for _, u := range units {
		push, given := t.first(pushOf(u.jid)), decoded(u.json).(map[string]any)
		if push == nil || !t.took(u.jid) {
			t.holds("ACK-05", false, "each pushed job on the server, or FAIL for the job that pushes",
				"the job "+u.jid+" was not pushed, but the job that pushes it succeeded")
			t.certain[t.clauseID("ACK-05")] = true
			return
		}
		for _, name := range []string{"queue", "custom", "retry"} {
			if got := push.Object[name]; !sameField(name, given[name], got) {
				t.holds("ACK-05", false, name+" "+shortJSON(given[name])+", as it was given to the job that pushes it",
					name+" of the job "+u.jid+" is "+shortJSON(got))
				t.shownBy(push)
				return
			}
		}
	}
	t.kept("ACK-05")
}

// took reports whether the server has taken a job by a PUSH.
func (t *trial) took(jid string) bool {
	return Locked(&t.hookMu, func() bool { return len(t.accepted[jid]) > 0 })
}

func playPushReset(t *trial) {
	p := t.launch(options{})
	parent, units := pushedByJob(8)
	parent.jid = "fwp" + strings.ToLower(rand.Text())
	t.allReported(t.mayLack(p, soon, parent), "ACK or FAIL for the job", "whose push was lost")
	switch report := t.reportOf(parent.jid); {
	case report == nil:
	case report.Verb() == fwp.ACK:
		t.pushedAsGiven(units)
		t.kept("WRK-04") // it has pushed again
	default:
		t.kept("ACK-05")
		t.holds("WRK-04", report.Text("errtype")+report.Text("message") != "", "an errtype or a message",
			fmt.Sprintf("its FAIL has the errtype %q and the message %q", report.Text("errtype"), report.Text("message")))
		t.shownBy(report)
	}
	t.worksBehind(p, "a job whose push was lost")
}
