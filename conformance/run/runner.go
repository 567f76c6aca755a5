package run

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/standstill"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// Server is one server that checks can run against, and what it offers.
type Server struct {
	Target   play.Target
	Password string
	Offers   []scenarios.Need

	// StartServer starts another server like this one for a check that cannot share a
	// server; if it is nil such checks run alone. The returned function ends the
	// server. The error may be an [UnservedError]. Calls may be concurrent.
	StartServer func() (Server, func(), error)

	// Ended reports whether the server's process has ended although nothing asked it to, how, and the last lines that it
	// printed; nil if that is not known. Calls may be concurrent.
	Ended func() (status string, output []string, ended bool)

	// PID returns the process that listens, 0 if that is not known; nil if it never is. Calls may be concurrent.
	PID func() int

	// Lifetime returns how long the process lived that has ended, 0 if it has not; nil if that is not known.
	Lifetime func() time.Duration

	// Printed returns what the server printed from one time to another, in few lines; nil if that is not known. Calls may
	// be concurrent.
	Printed func(from, to time.Time) []string

	// IsSlow is set if servers like this one take long to start: what can share one shares it.
	IsSlow bool

	// Failed returns why the server did not start again after it was stopped, an [UnservedError]; nil if it did. Nil: that
	// is not known. Calls may be concurrent.
	Failed func() error
}

// UnservedError reports that a server which was started does not serve: what is missing then is the target, and not the
// suite's fault.
type UnservedError struct {
	Cause           error
	ServesWhenEmpty bool // it serves in an empty folder
}

// Error implements error.
func (e *UnservedError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *UnservedError) Unwrap() error { return e.Cause }

// Offers lists the needs that a server meets, of which each has an entry, in the order of their names.
func Offers(meets map[scenarios.Need]bool) []scenarios.Need {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(meets)), func(n scenarios.Need) bool { return !meets[n] })
}

// ending describes the end of the server's process, and in a few words how it died; both are empty if the process runs,
// or that is not known.
func (s *Server) ending() (words, died string) {
	if s.Ended == nil {
		return "", ""
	}
	return EndingOf(s.Ended())
}

// EndingOf describes the end of a server's process, and in a few words how it died, from how that ended and what it
// printed last; both are empty if it has not ended.
func EndingOf(status string, output []string, ended bool) (words, died string) {
	switch {
	case !ended:
		return "", ""
	case len(output) == 0:
		return "the process of the server ended: " + status + "; it printed nothing", status
	}
	died = status
	reason := slices.IndexFunc(output, func(line string) bool {
		return slices.ContainsFunc([]*regexp.Regexp{goReason, rustPlace, rubyPlace, thrown}, func(r *regexp.Regexp) bool {
			return r.MatchString(line)
		})
	})
	switch last := output[len(output)-1]; {
	case reason >= 0:
		died += ": " + output[reason]
	case exceptionLine.MatchString(last): // a traceback of Python ends with it
		died += ": " + last
	}
	return "the process of the server ended: " + status + "; its last output:\n  " + strings.Join(output, "\n  "), died
}

// exceptionLine matches the last line of a traceback: the name of an exception, with its module and what it says, if
// anything.
var exceptionLine = regexp.MustCompile(`^[\w.]*(Error|Exception|Interrupt|Exit|Warning)\b(: |$)`)

// Loss says in which way a server does not serve, by what was seen of it; see [Death] for one that is not there.
func Loss(looks standstill.Looks, died, line, check string) string {
	return cmp.Or(looks.String(), Death(died, line, check))
}

// Death says that the server died, perhaps behind a command, or in which check, and how, as far as that is known.
func Death(died, line, check string) string {
	place := ""
	switch verb, _, _ := strings.Cut(strings.TrimLeft(line, `" `), " "); {
	case check != "":
		place = " in " + check
	case strings.HasPrefix(verb, "["): // frames, of which the first ones are no verb
		place = fmt.Sprintf(", perhaps after %.60s", line)
	case verb != "":
		place = ", perhaps after " + verb
	}
	if died != "" {
		place += " (" + died + ")"
	}
	return "the server died" + place
}

// Runner runs checks. Protocol, Servers and Checks must be set; the zero value of
// everything else works. A Runner is used once.
type Runner struct {
	Suite     *conformance.Suite // must be set
	Servers   []Server
	Checks    []conformance.Check    // what was selected
	Omissions []conformance.Omission // what the selection left out; reported as not selected

	// Provide describes for each need how the user can offer it.
	Provide map[scenarios.Need]string
	// Reproduce is the command that runs one check again.
	Reproduce func(check string) string
	// Shrink is the command that makes a small script of what the law has found in one check; of a check that generates
	// what it sends, whose finding has no name, the one that looks for a script.
	Shrink func(check, finding string) string

	// Parties are those that the target is. What binds none of them is not applicable.
	Parties conformance.Parties

	Timeout  time.Duration // see play.Player
	Patience time.Duration // see play.Player
	Parallel int           // checks at a time; if zero two that are busy, and any number that wait
	Seed     uint64        // of the order and of the names; the names also hold the time, so that runs do not meet
	// SeedNames draws the names from the seed alone, so that two runs have the same: no server may have been used before.
	SeedNames bool
	Repeat    int  // how often each check is run; once if zero
	FailFast  bool // stop at the first fail or crash that Expected does not return true for
	Quick     bool // end soon on every server, for checks that a quick selection picked: see QuickRun
	Virtual   bool // time is virtual (testing/synctest): no timer is ever late, and none is watched for it

	// Expected reports whether all findings of a check are known; nil if none are.
	Expected func(reports.Check) bool

	WatchLine func(check string, line reports.Line) // receives each line of each conversation; calls may overlap
	Progress  func(done, total int, check string)   // is called when a check is over; calls do not overlap
}

// Run runs the checks and returns their report, without target and version.
// It blocks until all are over; when ctx is done it ends early, and the report
// is marked as interrupted and has the results so far.
func (r *Runner) Run(ctx context.Context) *reports.Report {
	s := newRunState(r)
	measuring, stop := context.WithCancel(ctx)
	var meter sync.WaitGroup
	if !r.Virtual { // its ticks were a quarter of the processor time of plays that wait for minutes
		meter.Go(func() { s.meter.Run(measuring) })
	}
	s.runAll(ctx)
	stop()
	meter.Wait()
	return s.report(ctx)
}

// report makes the report of the results.
func (s *runState) report(ctx context.Context) *reports.Report {
	rep := &reports.Report{
		Head: reports.Head{
			StartTime: s.start, Took: time.Since(s.start), Seed: s.runner.Seed,
			Trouble: reports.Trouble{Interrupted: ctx.Err() != nil},
		},
		ReplayTime: s.retryTime(),
	}
	unserved := asUnserved(s.err) != nil
	if s.err != nil && !unserved {
		rep.Internal = s.err.Error()
	}
	if s.repeat > 1 {
		rep.Repeat = s.repeat
	}
	for _, runs := range s.results {
		rep.Checks = append(rep.Checks, fold(runs))
	}
	for _, omission := range s.runner.Omissions {
		rep.Checks = append(rep.Checks, s.withoutResult(omission.Check.Describe(), reports.NotSelected,
			cause{reason: omission.Reason, words: omission.Explanation}, ""))
	}
	s.leaveUnshown(rep.Checks)
	if serving, ok := s.crashCheck(); ok {
		rep.Checks = append(rep.Checks, serving)
	}
	if unserved {
		addStartFailure(rep, s.err)
	}
	slices.SortFunc(rep.Checks, func(a, b reports.Check) int { return strings.Compare(a.ID, b.ID) })
	// Behind those with a line that shows what is wrong.
	rep.Checks = append(rep.Checks, s.lawChecks(brokenClauses(rep.Checks))...)
	rep.Law = s.lawReport()
	s.follow(rep.Checks)
	s.foldRefusals(rep.Checks)
	s.applyPremise(ctx, rep.Checks)
	rep.Clauses = s.clauses(rep.Checks)
	if unserved {
		noteUnreached(rep, s.err)
	}
	return rep
}

// brokenClauses returns the clauses that findings show broken themselves: none that blames an earlier command.
func brokenClauses(checks []reports.Check) (clauses []string) {
	for _, c := range checks {
		for _, f := range c.Findings {
			if f.CommandClause == "" {
				clauses = append(clauses, f.Clause)
			}
		}
	}
	return clauses
}

// QuickRun is how long a quick run begins checks, for each repetition, however many may run at a time.
const QuickRun = 2 * time.Minute

// quickRetries is for how long after that it tries a check again whose finding is not proven.
const quickRetries = 30 * time.Second

// quickEnd returns how long a quick run begins checks.
func (s *runState) quickEnd() time.Duration { return QuickRun * time.Duration(s.repeat) }

// timeReason returns why a quick run begins no more checks, or "" if it still does.
func (s *runState) timeReason() string {
	if !s.runner.Quick || time.Since(s.start) < s.quickEnd() {
		return ""
	}
	return fmt.Sprintf("a quick run starts no more checks after %v", s.quickEnd())
}

// retryFrom begins the rounds in which checks are tried again, if there are some.
func (s *runState) retryFrom(now time.Time) {
	if s.retryDeadline = now.Add(max(now.Sub(s.start)/retryShare, minRetryTime)); len(s.retryQueue) > 0 {
		s.firstEnd = now
	}
	if last := s.start.Add(s.quickEnd() + quickRetries); s.runner.Quick && last.Before(s.retryDeadline) {
		s.retryDeadline = last
	}
}

// retryTime returns how long checks were tried again.
func (s *runState) retryTime() time.Duration {
	if s.firstEnd.IsZero() {
		return 0
	}
	return time.Since(s.firstEnd)
}
