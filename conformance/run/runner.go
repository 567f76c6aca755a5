package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// Server is one server that checks can run against, and what it offers.
type Server struct {
	Target   play.Target
	Password string
	Offers   []scenarios.Need

	// Fresh starts another server like this one for a check that cannot share a
	// server; if it is nil such checks run alone. The returned function ends the
	// server. The error may be an [UnservedError]. Calls may be concurrent.
	Fresh func() (Server, func(), error)

	// Ended reports whether the server's process has ended although nothing asked it to, how, and the last lines that it
	// printed; nil if that is not known. Calls may be concurrent.
	Ended func() (how string, output []string, ended bool)

	// Process returns the id of the process above all that were started for the server, so that their waits for a
	// processor count as lag; 0 if that is this process, and nil if it is not known. Calls may be concurrent.
	Process func() int
}

// UnservedError reports that a server which was started does not serve: what is missing then is the target, and not the
// suite's fault.
type UnservedError struct{ Cause error }

// Error implements error.
func (e *UnservedError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *UnservedError) Unwrap() error { return e.Cause }

// Offers lists the needs that a server meets, of which each has an entry, in the order of their names.
func Offers(meets map[scenarios.Need]bool) []scenarios.Need {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(meets)), func(n scenarios.Need) bool { return !meets[n] })
}

// ending describes the end of the server's process; it is empty if the process runs, or that is not known.
func (s *Server) ending() string {
	if s.Ended == nil {
		return ""
	}
	how, output, ended := s.Ended()
	switch {
	case !ended:
		return ""
	case len(output) == 0:
		return "the server's process has ended: " + how + "; it printed nothing"
	}
	return "the server's process has ended: " + how + "; what it printed last:\n  " + strings.Join(output, "\n  ")
}

// Runner runs checks. Protocol, Servers and Checks must be set; the zero value of
// everything else works. A Runner is used once.
type Runner struct {
	Protocol *conformance.Protocol // must be set
	Servers  []Server
	Checks   []conformance.Check   // what was selected
	Skipped  []conformance.Skipped // what the selection left out; reported as not selected

	// Prepare starts an embedded server with the settings of a script's header; nil
	// if there is none. The returned function ends it. Calls may be concurrent.
	Prepare func(settings map[string]string) (Server, func(), error)
	// Provide describes for each need how the user can offer it.
	Provide map[scenarios.Need]string
	// Reproduce is the command that runs one check again.
	Reproduce func(check string) string
	// Shrink is the command that makes a small script of what the law has found in one check.
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

	Watch    func(check string, line play.Line)  // receives each line of each conversation; calls may overlap
	Progress func(done, total int, check string) // is called when a check is over; calls do not overlap
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
	s.all(ctx)
	stop()
	meter.Wait()
	return s.report(ctx)
}

// report makes the report of the results.
func (s *runState) report(ctx context.Context) *reports.Report {
	rep := &reports.Report{
		Started: s.start, Took: time.Since(s.start), Seed: s.runner.Seed,
		Trouble: reports.Trouble{Interrupted: ctx.Err() != nil},
	}
	if _, unserved := errors.AsType[*UnservedError](s.err); unserved {
		rep.Unreachable = s.err.Error()
	} else if s.err != nil {
		rep.Internal = s.err.Error()
	}
	if s.repeat > 1 {
		rep.Repeat = s.repeat
	}
	for _, runs := range s.results {
		rep.Checks = append(rep.Checks, fold(runs))
	}
	for _, skipped := range s.runner.Skipped {
		rep.Checks = append(rep.Checks, s.withoutResult(skipped.Check.Describe(), reports.NotSelected,
			cause{reason: skipped.Reason, words: skipped.Why}, ""))
	}
	if serving, some := s.serving(); some {
		rep.Checks = append(rep.Checks, serving)
	}
	slices.SortFunc(rep.Checks, func(a, b reports.Check) int { return strings.Compare(a.ID, b.ID) })
	var broken []string
	for _, c := range rep.Checks {
		for _, f := range c.Findings {
			if f.Own == "" {
				broken = append(broken, f.Clause)
			}
		}
	}
	rep.Checks = append(rep.Checks, s.lawChecks(broken)...) // behind those with a line that shows what is wrong
	rep.Law, rep.Inputs = s.lawReport(), s.law.tally.Inputs
	s.runner.Protocol.Law.Fields.Complete(rep.Inputs)
	s.follow(rep.Checks)
	s.unserved(rep.Checks)
	s.premise(ctx, rep.Checks)
	rep.Clauses = s.clauses(rep.Checks)
	return rep
}

// QuickRun is how long a quick run begins checks, for each repetition. With a limit of
// checks at a time their waits are added.
const QuickRun = 2 * time.Minute

// tooLate returns why a quick run begins no more checks, or "" if it still does.
func (s *runState) tooLate() string {
	limit := QuickRun
	if s.runner.Parallel > 0 {
		for _, check := range s.described {
			limit += check.Wait / time.Duration(s.runner.Parallel)
		}
	}
	limit = limit.Truncate(time.Second) * time.Duration(s.repeat)
	if !s.runner.Quick || time.Since(s.start) < limit {
		return ""
	}
	return fmt.Sprintf("a quick run begins no more checks after %v", limit)
}
