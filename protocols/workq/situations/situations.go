package situations

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// commonClauses are the clauses that every situation with jobs is about.
const commonClauses = " CLI-05 CLI-06 CLI-07 CLI-12 CLI-13 CLI-15"

// table has all situations, those first of which workers get most wrong.
func table() []fwpsituations.Situation {
	return []fwpsituations.Situation{
		fwpsituations.Row("ttr/over", "a worker stops a job at the end of its time to run (lease, Special Considerations)",
			"CLI-01", 2, playWith(2, exceedTTR)),
		fwpsituations.Row("ttr/within", "a job that needs less than its time to run is completed (lease, Reply)",
			"CLI-17 CLI-14"+commonClauses, 3, playJobs(2, job{name: sleepJob, duration: 3 * time.Second, ttr: 5 * time.Second},
				job{name: sleepJob, duration: 500 * time.Millisecond, ttr: 4 * time.Second})),
		fwpsituations.Row("jobs/many", "each of many jobs is reported once, with the id of its lease (complete)",
			"CLI-03 CLI-04 CLI-14"+commonClauses, 1, playJobs(2, repeat(48, job{name: okJob, payload: "12345"})...)),
		fwpsituations.Row("jobs/failures", "a failed job is reported with fail, and no other job is (fail)",
			"CLI-14"+commonClauses, 1, playJobs(2, repeat(4, job{name: failJob, payload: "it has failed"},
				job{name: okJob})...)),
		fwpsituations.Row("jobs/mixed", "jobs of all names run concurrently (lease)",
			"CLI-09 CLI-14 CLI-04"+commonClauses, 1, playJobs(4, repeat(5, job{name: okJob}, job{name: failJob, payload: "no"},
				job{name: echoJob, payload: "a text"}, job{name: sleepJob, duration: 100 * time.Millisecond})...)),
		fwpsituations.Row("lease/loop", "a worker leases again after it reported a job, and after a pause (lease)",
			"CLI-11"+commonClauses, 5, playWith(1, loop)),
		fwpsituations.Row("lease/timeout", "a worker leases again after a lease without a job (lease)",
			"CLI-11 CLI-03", 60, playWith(1, timeout)),
		fwpsituations.Row("lease/second-attempt", "a job that is leased again runs again (add, max-fails)",
			"CLI-18"+commonClauses, 1, playWith(2, secondAttempt)),
		fwpsituations.Row("payload/bytes", "a payload may have any bytes, and is returned as the result (Protocol)",
			"CLI-09"+commonClauses, 1, playJobs(2, echoJobs(allBytes(), "\x00", "a\x00b", "\xff\xfe", "héllo wörld ✓",
				" padded ",
				"\ta\n", strings.Repeat("0123456789abcdef", 10_000))...)),
		fwpsituations.Row("payload/lines", "a payload may have CRLF, and what looks like replies and commands (Protocol)",
			"CLI-09"+commonClauses, 1, playJobs(2, echoJobs("\r\n", "a\r\nb", "\r\n\r\n", "ends with\r\n", "+OK\r\n",
				"+OK 1\r\n6ba7b810-9dad-41d1-80b4-00c04fd430c4 fwp.ok 1000 4\r\nping\r\n", "-TIMEOUT\r\n",
				"complete x 0\r\n\r\n", "\n", "\r")...)),
		fwpsituations.Row("payload/empty", "a payload may be empty (lease, Reply)",
			"CLI-09"+commonClauses, 1, playJobs(2, append(echoJobs("", "a", ""), job{name: okJob}, job{name: failJob})...)),
		fwpsituations.Row("payload/largest", "payload and result may have 1 MiB (add; complete)",
			"CLI-08 CLI-09"+commonClauses, 1, playJobs(1, echoJobs(strings.Repeat("0123456789abcde\n", workq.MaxBlock/16),
				"a")...)),
		fwpsituations.Row("reply/pieces", "a reply may arrive byte by byte (Protocol)",
			"CLI-10"+commonClauses, 1, playWith(2, pieces)),
		fwpsituations.Row("reply/not-found", "a worker continues after -NOT-FOUND in reply to a report (Errors)",
			"CLI-16 CLI-13", 1, playWith(2, notFound)),
	}
}

func repeat(n int, jobs ...job) (all []job) {
	for range n {
		all = append(all, jobs...)
	}
	return all
}

func echoJobs(payloads ...string) (all []job) {
	for _, p := range payloads {
		all = append(all, job{name: echoJob, payload: p})
	}
	return all
}

// allBytes returns each byte once.
func allBytes() string {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return string(all)
}

// playWith returns a play that starts the program on a session.
func playWith(concurrency int, act func(*session)) func(*fwpsituations.Play) {
	return func(t *fwpsituations.Play) {
		s := newSession(t)
		defer s.close()
		if err := s.start(concurrency); err != nil {
			t.GiveUp(true, "%s", text.FirstLine(err.Error()))
		}
		if !t.Works() {
			s.show()
			t.GiveUpWithoutWork()
		}
		act(s)
	}
}

// show has the rules see how a program behaves that does not work jobs.
func (s *session) show() {
	const moment = 5 * time.Second
	s.push(job{name: okJob, payload: "1"}, job{name: echoJob, payload: "a text"},
		job{name: failJob, payload: "it has failed"})
	s.Pass(s.program, moment)
	s.checkUnfinished()
}

// playJobs returns a play whose jobs are worked.
func playJobs(concurrency int, jobs ...job) func(*fwpsituations.Play) {
	return playWith(concurrency, func(s *session) { s.checkJobs("", s.push(jobs...)...) })
}

// checkJobs waits until each job is reported, and a moment longer, and decides whether all were, and a clause by that.
func (s *session) checkJobs(clause string, jobs ...*addedJob) {
	missing := s.awaitReports(jobs...)
	s.Pass(s.program, time.Second)
	leasedCount := s.leasedCount(jobs)
	if leasedCount == 0 && clause == "" {
		s.GiveUp(true, "the worker leased none of %d jobs within %v; it %s", len(jobs), timeLimit(jobs), s.Ending(s.program))
	}
	s.checkUnfinished()
	forgottenCount := 0
	for _, k := range missing {
		forgottenCount += min(1, s.leasedCount([]*addedJob{k}))
	}
	s.decide("CLI-12", forgottenCount == 0, "complete or fail for each job that was leased",
		fmt.Sprintf("no report for %d of %d jobs within %v; the worker %s",
			forgottenCount, leasedCount, timeLimit(jobs), s.Ending(s.program)))
	switch name := s.missingName(jobs); {
	case clause != "" && name != "":
		s.LeaveOpen(clause, "the worker leases no job with the name "+name)
	case clause == "" && name == "" && len(missing) > forgottenCount:
		s.decide("CLI-11", false, "a worker that leases as long as there are jobs", fmt.Sprintf(
			"%d of %d jobs were leased, and no more within %v; the worker %s", leasedCount, len(jobs), timeLimit(jobs),
			s.Ending(s.program)))
	case clause != "":
		s.decide(clause, len(missing) == 0, "a worker that runs each job", fmt.Sprintf(
			"%d of %d jobs were reported within %v; the worker %s",
			len(jobs)-len(missing), len(jobs), timeLimit(jobs), s.Ending(s.program)))
	}
}

// decide decides a clause by what has not come, unless a report that the server cannot carry out is the reason.
func (s *session) decide(clause string, holds bool, expected, got string) {
	broken := fwpsituations.WithLock(&s.mu, func() string { return s.brokenClause })
	if !holds && broken != "" {
		s.LeaveOpen(clause, "this finding may be a consequence of the one about WORKQ-"+broken)
		return
	}
	s.Decide(clause, holds, expected, got)
}

// decideMissing decides a clause by the jobs that were not reported. What a worker has leased that goes on it has
// forgotten to report.
func (s *session) decideMissing(clause string, missing []*addedJob, expected, got string) {
	if n := len(missing); n > 0 && s.leasedCount(missing) == n && !s.HasExited(s.program) {
		clause, expected = "CLI-12", "complete or fail for each job that was leased"
	}
	s.decide(clause, len(missing) == 0, expected, got)
}

// checkUnfinished decides that lines have no end, and that blocks are too short, for which bytes are missing all the
// time.
func (s *session) checkUnfinished() {
	const silence = 3 * time.Second
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.openConns {
		if !c.isShort || s.Now()-c.shortAt < silence || c.isUnreadable {
			continue
		}
		line, block, ok := strings.Cut(string(c.input), "\r\n")
		if !ok {
			s.brokenClause = "CLI-05"
			s.Decide("CLI-05", false, "a command line that ends with CRLF",
				fmt.Sprintf("no more for %v than %s", silence, excerpt([]byte(line))))
			continue
		}
		s.brokenClause = "CLI-07"
		s.Decide("CLI-07", false, "a block of as many bytes as its line says, and then CRLF",
			fmt.Sprintf("%d bytes after the line %s, and no more for %v", len(block), excerpt([]byte(line)), silence))
	}
}

// loop pushes one job after the other, and the last one after a pause in which short leases bring nothing.
func loop(s *session) {
	const jobs, pause = 8, 3500 * time.Millisecond
	for i := range jobs {
		if i == jobs-1 {
			s.Pass(s.program, pause)
		}
		if missing := s.awaitReports(s.push(job{name: okJob, payload: "1"})...); len(missing) > 0 {
			s.checkUnfinished()
			s.decideMissing("CLI-11", missing, "a lease after each report",
				fmt.Sprintf("job %d of %d was not done within %v; the worker %s", i+1, jobs, waitLimit, s.Ending(s.program)))
			return
		}
	}
	s.NoteOccasion("CLI-11")
	s.NoteOccasion("CLI-12")
	s.Pass(s.program, time.Second)
}

// timeout lets the leases of the worker bring nothing, several times if they are short.
func timeout(s *session) {
	const limit, idleCount, extra = 70 * time.Second, 6, 15 * time.Second
	idle := func(n int) func() bool {
		return func() bool { return fwpsituations.WithLock(&s.mu, func() bool { return s.idleLeases >= n }) }
	}
	if !s.WaitUntil(s.program, limit, idle(1)) {
		longest := fwpsituations.WithLock(&s.mu, func() time.Duration { return s.longestLease })
		s.GiveUp(longest < limit, "no lease was over within %v: the longest waits for %v; the worker %s", limit, longest,
			s.Ending(s.program))
	}
	s.WaitUntil(s.program, extra, idle(idleCount)) // for what a worker does only then
	missing := s.awaitReports(s.pushMany(4, job{name: okJob, payload: "1"})...)
	s.decideMissing("CLI-11", missing, "a worker that leases again",
		fmt.Sprintf("%d of 4 jobs were not done within %v after a lease without a job; the worker %s",
			len(missing), waitLimit, s.Ending(s.program)))
}

// secondAttempt has a job fail as often as it may.
func secondAttempt(s *session) {
	const attempts = 3
	k := s.push(job{name: failJob, payload: "again", failures: attempts})[0]
	isOver := func() bool { return len(k.reports) >= attempts }
	all := s.WaitUntil(s.program, waitLimit, func() bool { return fwpsituations.WithLock(&s.mu, isOver) })
	s.Pass(s.program, time.Second)
	s.mu.Lock()
	leases, reportCount := len(k.leases), len(k.reports)
	s.mu.Unlock()
	if leases < 2 {
		s.GiveUp(true, "the job was leased %d times within %v", leases, waitLimit)
	}
	if reportCount >= leases && !all {
		s.decide("CLI-11", false, "a worker that leases again",
			fmt.Sprintf("%d leases of a job that may be leased %d times", leases, attempts))
		return
	}
	s.decide("CLI-18", all, fmt.Sprintf("a report for each of %d leases", leases),
		fmt.Sprintf("%d reports for a job that was leased %d times", reportCount, leases))
	if all {
		s.NoteOccasion("CLI-12")
	}
}

// pieces has every reply arrive byte by byte.
func pieces(s *session) {
	s.follow("on writing: pieces 1, pause 1ms")
	s.Pass(s.program, 100*time.Millisecond)
	s.checkJobs("CLI-10", s.push(repeat(3, job{name: okJob, payload: "12345"},
		job{name: echoJob, payload: "a\r\nb"})...)...)
}

// notFound has the jobs of the first reports have ended meanwhile, by their time to live for example.
func notFound(s *session) {
	const refusedCount = 3
	s.follow(fmt.Sprintf("on ran complete fail if not refused; first %d: error NOT-FOUND ''", refusedCount))
	all := s.pushMany(refusedCount+6, job{name: okJob, payload: "1"})
	missing := s.awaitReports(all...)
	if len(missing) == len(all) {
		s.GiveUp(true, "no job was reported within %v", waitLimit)
	}
	s.Pass(s.program, time.Second)
	s.decideMissing("CLI-16", missing, "a worker that continues", fmt.Sprintf(
		"%d of %d jobs were not done within %v after -NOT-FOUND in reply to the first reports; the worker %s",
		len(missing), len(all), waitLimit, s.Ending(s.program)))
}

// exceedTTR leases a job to the worker that takes much longer than it may, more than twice as long, behind one that
// may take a minute.
func exceedTTR(s *session) {
	const ttr, takes, margin = 2 * time.Second, 5 * time.Second, 1500 * time.Millisecond
	s.awaitReports(s.push(job{name: okJob, payload: "1"})...)
	k := s.push(job{name: sleepJob, duration: takes, ttr: ttr, attempts: 1})[0]
	if !s.WaitUntil(s.program, waitLimit, func() bool { return s.leasedCount([]*addedJob{k}) > 0 }) {
		s.GiveUp(true, "the worker did not lease the job within %v", waitLimit)
	}
	isOver := func() bool { return len(k.reports) > 0 || k.leases[0].nextAt > 0 }
	s.WaitUntil(s.program, takes+margin, func() bool { return fwpsituations.WithLock(&s.mu, isOver) })
	s.mu.Lock()
	defer s.mu.Unlock()
	from := k.leases[0]
	const expected = "a worker that stops the job after its time to run of 2s"
	switch gap := from.nextAt - from.at; {
	case len(k.reports) > 0 && k.reports[0].verb == workq.Complete: // the rules have judged it
	case len(k.reports) > 0:
		elapsed := k.reports[0].at - from.at
		s.Decide("CLI-01", elapsed < ttr+margin, expected,
			fmt.Sprintf("fail %v after the lease", elapsed.Round(time.Millisecond)))
	case gap >= takes:
		s.Decide("CLI-01", false, expected, fmt.Sprintf(
			"no report; the next lease on the connection came %v later", gap.Round(time.Millisecond)))
	case gap >= ttr/2 && gap < ttr+margin:
		s.NoteOccasion("CLI-01")
	default:
		s.LeaveOpen("CLI-01", "the worker did not report the job, so it is unknown when it stopped it")
	}
}
