package situations

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/workers"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// jobSituations are about the outcome of jobs. (ACK; FAIL)
func jobSituations() []situation {
	const reports, unusual = "FETCH-09 FETCH-10 ACK-05 FAIL-04", "FRAME-04 FRAME-09 FETCH-09 FETCH-10 ACK-05 FAIL-04"
	retriesSoon := setup{server: func(c *fakes.Config) { c.RetryDelay = func(int) time.Duration { return time.Second } }}
	return []situation{
		{"jobs/outcomes", "each job has one report: ACK if it succeeded, FAIL if it failed",
			always + " WRK-01 WRK-03 WRK-09 WRK-04 FETCH-09 FETCH-10 ACK-05 ACK-06 FAIL-04 FAIL-05", 2, playOutcomes, setup{}},
		{"jobs/unknown-type", "a job of an unknown type is reported as failed, and the worker goes on",
			reports + " FAIL-05", 2, playUnknownType, setup{}},
		{"jobs/jids", "a jid is sent back as it is, whatever is in it",
			unusual, 2, playUnusual(deliveredJIDs()), setup{}},
		{"jobs/arguments", "arguments of any kind reach the job, and the connection stays in step",
			unusual, 2, playUnusual(deliveredArguments()), setup{}},
		{"jobs/fields", "a job with fields that the worker does not know, or that are null, is executed",
			unusual, 2, playUnusual(deliveredFields()), setup{}},
		{"jobs/many", "of many jobs none is forgotten, and none is reported twice",
			reports, 3, playManyJobs, setup{}},
		{"jobs/echo", "a job is executed with its arguments, in their order",
			"WRK-15 FETCH-09", 3, playEcho, setup{}},
		{"jobs/retried", "a job that is delivered again after its FAIL is executed and reported again",
			"FETCH-09 FETCH-10 FAIL-04", 5, playRetried, retriesSoon},
		{"jobs/killed", "a job is acknowledged after it ran and not before",
			"WRK-07", 4, playReportedAfterRun, setup{}},
		{"jobs/reservation", "a job that is delivered again when its reservation is over is reported",
			"FETCH-09 FETCH-10 RESP-09", 75, playReservationOver, retriesSoon},
		{"workers/two", "processes have different worker ids, also those that start at the same time",
			"HELLO-10", 1, playSeveralProcesses, setup{}},
	}
}

func playOutcomes(t *trial) {
	p := t.launch(options{})
	t.kept("WRK-01")
	t.worked(p, slices.Concat(t.pushMany(6, "fwp.ok", "[1]"), t.pushMany(4, "fwp.fail", `["it failed on purpose"]`),
		t.pushMany(3, "fwp.sleep", "[0.2]"), t.pushMany(12, "fwp.ok", `[1,"two",{"three":[3]}]`)))
}

func playUnknownType(t *trial) {
	p := t.launch(options{})
	t.worked(p, append(t.pushMany(2, unknownType, `[1]`), t.pushMany(3, "fwp.ok", "[1]")...))
}

// playUnusual returns a play of jobs with unusual contents. One more shows that the connections are in step afterwards.
func playUnusual(jobs []job) func(*trial) {
	return func(t *trial) {
		p := t.launch(options{})
		t.worked(p, append(t.pushOverQueues(jobs...), t.push(job{args: "[1]"})))
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
			t.open("WRK-15", "two reports of a job differ: one may be that of another job")
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
		t.open("WRK-15", fmt.Sprintf("the message of %d of %d jobs of type fwp.echo has no JSON array, or they have no FAIL",
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
		return t.count(func(e *workers.Event) bool { return e.Job != nil && e.Job.JID == jid })
	}
	reports := func(jid string) (n int) { // deliveries that a report follows, before the next one
		open := false
		for _, e := range t.all(func(e *workers.Event) bool { return e.Job != nil || line(fwp.FAIL, fwp.ACK)(e) }) {
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
			fmt.Sprintf("the job %s was delivered %d times, and %d of these got a report", jid, n, got))
		t.waited(lateShare * reportPatience)
	}
}

func playReportedAfterRun(t *trial) {
	p := t.launch(options{})
	jid := t.push(job{jobtype: "fwp.sleep", args: "[4]"})
	t.mustTake(jid)
	t.watch(p, 2*time.Second)
	beside := t.pushMany(3, "fwp.ok", "[1]")
	early := t.reportOf(jid)
	t.holds("WRK-07", early == nil, "no report while the job runs",
		"the job was reported while it ran, so that it would be lost if the worker died")
	t.shownBy(early)
	t.reported(p, soon, append(beside, jid)...)
}

// playReservationOver hands a worker a job that takes longer than its reservation. The server delivers it again, as one
// that ends at once, and does not know it any more when the first execution ends.
func playReservationOver(t *trial) {
	const runs, spare = 66, 9 * time.Second
	p := t.launch(options{})
	jid := t.push(job{jobtype: "fwp.sleep", args: fmt.Sprint("[", runs, "]"), more: `,"reserve_for":60`})
	deliveries := 0
	t.hook(changeDelivery(jid, func(text []byte) []byte {
		if deliveries++; deliveries == 1 {
			return text
		}
		return bytes.Replace(text, fmt.Appendf(nil, `"args":[%d]`, runs), []byte(`"args":[0]`), 1)
	}))
	t.mustTake(jid)
	reports := p.events(func(e *workers.Event) bool { return line(fwp.ACK, fwp.FAIL)(e) && e.Text("jid") == jid })
	t.awaitCount(p, runs*time.Second+spare, reports, 2)
	if t.exited(p) {
		t.giveUp(true, "the worker ended")
	}
	t.watch(p, timeToAct)
	if n := t.count(p.events(func(e *workers.Event) bool { return e.Job != nil && e.Job.JID == jid })); n < 2 {
		t.giveUp(true, "the job was delivered %d time, and not again when its reservation was over", n)
	}
	t.holds("FETCH-09", t.has(reports), "an ACK or a FAIL", "no report on a job that was delivered twice")
	t.waited(spare)
	t.itWorks(p, "RESP-09", "a worker that goes on fetching and reporting")
}

// playSeveralProcesses starts processes at the same time. Whether their worker ids differ is for the rules.
func playSeveralProcesses(t *trial) {
	var all []*program
	for range 3 {
		all = append(all, t.launch(options{eager: true}))
	}
	for _, p := range all {
		if err := t.awaitFirstLine(p); err != nil {
			t.giveUp(true, "%s", firstLine(err.Error()))
		}
		t.mustFetch(p)
	}
}
