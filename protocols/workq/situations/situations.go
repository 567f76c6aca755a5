package situations

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// ofAll are the clauses that every situation with jobs is about.
const ofAll = " CLI-05 CLI-06 CLI-07 CLI-12 CLI-13 CLI-15"

// table has all situations, those first of which workers get most wrong.
func table() []fwpsituations.Situation {
	return []fwpsituations.Situation{
		fwpsituations.Row("ttr/over", "a worker stops a job at the end of its time to run (lease, Special Considerations)",
			"CLI-01", 2, playing(2, timeToRunOver)),
		fwpsituations.Row("ttr/within", "a job that needs less than its time to run is completed (lease, Reply)",
			"CLI-17 CLI-14"+ofAll, 3, works(2, job{name: sleep, takes: 3 * time.Second, ttr: 5 * time.Second},
				job{name: sleep, takes: 500 * time.Millisecond, ttr: 4 * time.Second})),
		fwpsituations.Row("jobs/many", "each of many jobs is reported once, with the id of its lease (complete)",
			"CLI-03 CLI-04 CLI-14"+ofAll, 1, works(2, repeated(48, job{name: ok, payload: "12345"})...)),
		fwpsituations.Row("jobs/failures", "a failed job is reported with fail, and no other job is (fail)",
			"CLI-14"+ofAll, 1, works(2, repeated(4, job{name: fails, payload: "it has failed"}, job{name: ok})...)),
		fwpsituations.Row("jobs/mixed", "jobs of all names run concurrently (lease)",
			"CLI-09 CLI-14 CLI-04"+ofAll, 1, works(4, repeated(5, job{name: ok}, job{name: fails, payload: "no"},
				job{name: echo, payload: "a text"}, job{name: sleep, takes: 100 * time.Millisecond})...)),
		fwpsituations.Row("lease/loop", "a worker leases again after it reported a job, and after a pause (lease)",
			"CLI-11"+ofAll, 5, playing(1, loop)),
		fwpsituations.Row("lease/timeout", "a worker leases again after a lease without a job (lease)",
			"CLI-11 CLI-03", 60, playing(1, timeout)),
		fwpsituations.Row("lease/second-attempt", "a job that is leased again runs again (add, max-fails)",
			"CLI-18"+ofAll, 1, playing(2, secondAttempt)),
		fwpsituations.Row("payload/bytes", "a payload may have any bytes, and is returned as the result (Protocol)",
			"CLI-09"+ofAll, 1, works(2, echoes(allBytes(), "\x00", "a\x00b", "\xff\xfe", "héllo wörld ✓", " padded ",
				"\ta\n", strings.Repeat("0123456789abcdef", 10_000))...)),
		fwpsituations.Row("payload/lines", "a payload may have CRLF, and what looks like replies and commands (Protocol)",
			"CLI-09"+ofAll, 1, works(2, echoes("\r\n", "a\r\nb", "\r\n\r\n", "ends with\r\n", "+OK\r\n",
				"+OK 1\r\n6ba7b810-9dad-41d1-80b4-00c04fd430c4 fwp.ok 1000 4\r\nping\r\n", "-TIMEOUT\r\n",
				"complete x 0\r\n\r\n", "\n", "\r")...)),
		fwpsituations.Row("payload/empty", "a payload may be empty (lease, Reply)",
			"CLI-09"+ofAll, 1, works(2, append(echoes("", "a", ""), job{name: ok}, job{name: fails})...)),
		fwpsituations.Row("payload/largest", "payload and result may have 1 MiB (add; complete)",
			"CLI-08 CLI-09"+ofAll, 1, works(1, echoes(strings.Repeat("0123456789abcde\n", workq.MaxBlock/16), "a")...)),
		fwpsituations.Row("reply/pieces", "a reply may arrive byte by byte (Protocol)",
			"CLI-10"+ofAll, 1, playing(2, pieces)),
		fwpsituations.Row("reply/not-found", "a worker continues after -NOT-FOUND in reply to a report (Errors)",
			"CLI-16 CLI-13", 1, playing(2, notFound)),
	}
}

func repeated(n int, jobs ...job) (all []job) {
	for range n {
		all = append(all, jobs...)
	}
	return all
}

func echoes(payloads ...string) (all []job) {
	for _, p := range payloads {
		all = append(all, job{name: echo, payload: p})
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

// playing returns a play that starts the program on a session.
func playing(concurrency int, then func(*session)) func(*fwpsituations.Play) {
	return func(t *fwpsituations.Play) {
		s := newSession(t)
		defer s.close()
		if err := s.start(concurrency); err != nil {
			t.GiveUp(true, "%s", text.FirstLine(err.Error()))
		}
		if !t.Works() {
			s.show()
			t.WorksNowhere()
		}
		then(s)
	}
}

// show has the rules see how a program behaves that does not work jobs.
func (s *session) show() {
	const moment = 5 * time.Second
	s.push(job{name: ok, payload: "1"}, job{name: echo, payload: "a text"}, job{name: fails, payload: "it has failed"})
	s.Pass(s.program, moment)
	s.unfinished()
}

// works returns a play whose jobs are worked.
func works(concurrency int, jobs ...job) func(*fwpsituations.Play) {
	return playing(concurrency, func(s *session) { s.works("", s.push(jobs...)...) })
}

// works waits until each job is reported, and a moment longer, and decides whether all were, and a clause by that.
func (s *session) works(clause string, jobs ...*known) {
	missing := s.unreported(jobs...)
	s.Pass(s.program, time.Second)
	leased := s.leased(jobs)
	if leased == 0 && clause == "" {
		s.GiveUp(true, "the worker leased none of %d jobs within %v; it %s", len(jobs), within(jobs), s.Ending(s.program))
	}
	s.unfinished()
	forgotten := 0
	for _, k := range missing {
		forgotten += min(1, s.leased([]*known{k}))
	}
	s.decide("CLI-12", forgotten == 0, "complete or fail for each job that was leased",
		fmt.Sprintf("no report for %d of %d jobs within %v; the worker %s",
			forgotten, leased, within(jobs), s.Ending(s.program)))
	switch unnamed := s.unnamed(jobs); {
	case clause != "" && unnamed != "":
		s.Leave(clause, "the worker leases no job with the name "+unnamed)
	case clause == "" && unnamed == "" && len(missing) > forgotten:
		s.decide("CLI-11", false, "a worker that leases as long as there are jobs", fmt.Sprintf(
			"%d of %d jobs were leased, and no more within %v; the worker %s", leased, len(jobs), within(jobs),
			s.Ending(s.program)))
	case clause != "":
		s.decide(clause, len(missing) == 0, "a worker that runs each job", fmt.Sprintf(
			"%d of %d jobs were reported within %v; the worker %s",
			len(jobs)-len(missing), len(jobs), within(jobs), s.Ending(s.program)))
	}
}

// decide decides a clause by what has not come, unless a report that the server cannot carry out is the reason.
func (s *session) decide(clause string, held bool, expected, got string) {
	spoiled := fwpsituations.Locked(&s.mu, func() string { return s.spoiled })
	if !held && spoiled != "" {
		s.Leave(clause, "this finding may be a consequence of the one about WORKQ-"+spoiled)
		return
	}
	s.Holds(clause, held, expected, got)
}

// notWorked decides a clause by the jobs that were not reported. What a worker has leased that goes on it has forgotten
// to report.
func (s *session) notWorked(clause string, missing []*known, expected, got string) {
	if n := len(missing); n > 0 && s.leased(missing) == n && !s.Exited(s.program) {
		clause, expected = "CLI-12", "complete or fail for each job that was leased"
	}
	s.decide(clause, len(missing) == 0, expected, got)
}

// unfinished decides that lines have no end, and that blocks are too short, for which bytes are missing all the time.
func (s *session) unfinished() {
	const still = 3 * time.Second
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.open {
		if !c.short || s.Now()-c.partial < still || c.blind {
			continue
		}
		line, block, ends := strings.Cut(string(c.sent), "\r\n")
		if !ends {
			s.spoiled = "CLI-05"
			s.Holds("CLI-05", false, "a command line that ends with CRLF",
				fmt.Sprintf("no more for %v than %s", still, shown([]byte(line))))
			continue
		}
		s.spoiled = "CLI-07"
		s.Holds("CLI-07", false, "a block of as many bytes as its line says, and then CRLF",
			fmt.Sprintf("%d bytes after the line %s, and no more for %v", len(block), shown([]byte(line)), still))
	}
}

// loop pushes one job after the other, and the last one after a pause in which short leases bring nothing.
func loop(s *session) {
	const jobs, pause = 8, 3500 * time.Millisecond
	for i := range jobs {
		if i == jobs-1 {
			s.Pass(s.program, pause)
		}
		if missing := s.unreported(s.push(job{name: ok, payload: "1"})...); len(missing) > 0 {
			s.unfinished()
			s.notWorked("CLI-11", missing, "a lease after each report",
				fmt.Sprintf("job %d of %d was not done within %v; the worker %s", i+1, jobs, soon, s.Ending(s.program)))
			return
		}
	}
	s.Kept("CLI-11")
	s.Kept("CLI-12")
	s.Pass(s.program, time.Second)
}

// timeout lets the leases of the worker bring nothing, several times if they are short.
func timeout(s *session) {
	const most, some, further = 70 * time.Second, 6, 15 * time.Second
	idle := func(n int) func() bool {
		return func() bool { return fwpsituations.Locked(&s.mu, func() bool { return s.idle >= n }) }
	}
	if !s.Until(s.program, most, idle(1)) {
		longest := fwpsituations.Locked(&s.mu, func() time.Duration { return s.longest })
		s.GiveUp(longest < most, "no lease was over within %v: the longest waits for %v; the worker %s", most, longest,
			s.Ending(s.program))
	}
	s.Until(s.program, further, idle(some)) // for what a worker does only then
	missing := s.unreported(s.pushMany(4, job{name: ok, payload: "1"})...)
	s.notWorked("CLI-11", missing, "a worker that leases again",
		fmt.Sprintf("%d of 4 jobs were not done within %v after a lease without a job; the worker %s",
			len(missing), soon, s.Ending(s.program)))
}

// secondAttempt has a job fail as often as it may.
func secondAttempt(s *session) {
	const attempts = 3
	k := s.push(job{name: fails, payload: "again", failures: attempts})[0]
	over := func() bool { return len(k.report) >= attempts }
	all := s.Until(s.program, soon, func() bool { return fwpsituations.Locked(&s.mu, over) })
	s.Pass(s.program, time.Second)
	s.mu.Lock()
	leases, reported := len(k.leases), len(k.report)
	s.mu.Unlock()
	if leases < 2 {
		s.GiveUp(true, "the job was leased %d times within %v", leases, soon)
	}
	if reported >= leases && !all {
		s.decide("CLI-11", false, "a worker that leases again",
			fmt.Sprintf("%d leases of a job that may be leased %d times", leases, attempts))
		return
	}
	s.decide("CLI-18", all, fmt.Sprintf("a report for each of %d leases", leases),
		fmt.Sprintf("%d reports for a job that was leased %d times", reported, leases))
	if all {
		s.Kept("CLI-12")
	}
}

// pieces has every reply arrive byte by byte.
func pieces(s *session) {
	s.follow("on writing: pieces 1, pause 1ms")
	s.Pass(s.program, 100*time.Millisecond)
	s.works("CLI-10", s.push(repeated(3, job{name: ok, payload: "12345"}, job{name: echo, payload: "a\r\nb"})...)...)
}

// notFound has the jobs of the first reports have ended meanwhile, by their time to live for example.
func notFound(s *session) {
	const refused = 3
	s.follow(fmt.Sprintf("on ran complete fail if not refused; first %d: error NOT-FOUND ''", refused))
	all := s.pushMany(refused+6, job{name: ok, payload: "1"})
	missing := s.unreported(all...)
	if len(missing) == len(all) {
		s.GiveUp(true, "no job was reported within %v", soon)
	}
	s.Pass(s.program, time.Second)
	s.notWorked("CLI-16", missing, "a worker that continues", fmt.Sprintf(
		"%d of %d jobs were not done within %v after -NOT-FOUND in reply to the first reports; the worker %s",
		len(missing), len(all), soon, s.Ending(s.program)))
}

// timeToRunOver leases a job to the worker that takes much longer than it may, more than twice as long, behind one that
// may take a minute.
func timeToRunOver(s *session) {
	const ttr, takes, margin = 2 * time.Second, 5 * time.Second, 1500 * time.Millisecond
	s.unreported(s.push(job{name: ok, payload: "1"})...)
	k := s.push(job{name: sleep, takes: takes, ttr: ttr, attempts: 1})[0]
	if !s.Until(s.program, soon, func() bool { return s.leased([]*known{k}) > 0 }) {
		s.GiveUp(true, "the worker did not lease the job within %v", soon)
	}
	over := func() bool { return len(k.report) > 0 || k.leases[0].next > 0 }
	s.Until(s.program, takes+margin, func() bool { return fwpsituations.Locked(&s.mu, over) })
	s.mu.Lock()
	defer s.mu.Unlock()
	from := k.leases[0]
	const expected = "a worker that stops the job after its time to run of 2s"
	switch again := from.next - from.at; {
	case len(k.report) > 0 && k.report[0].verb == workq.Complete: // the rules have judged it
	case len(k.report) > 0:
		after := k.report[0].at - from.at
		s.Holds("CLI-01", after < ttr+margin, expected,
			fmt.Sprintf("fail %v after the lease", after.Round(time.Millisecond)))
	case again >= takes:
		s.Holds("CLI-01", false, expected, fmt.Sprintf(
			"no report; the next lease on the connection came %v later", again.Round(time.Millisecond)))
	case again >= ttr/2 && again < ttr+margin:
		s.Kept("CLI-01")
	default:
		s.Leave("CLI-01", "the worker did not report the job, so it is unknown when it stopped it")
	}
}
