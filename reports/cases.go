package reports

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Suite is a result as a list of cases, each of which passed or not: what JUnit, SARIF and the annotations of GitHub
// are written from. Texts in it are not escaped: the writers do that.
type Suite struct {
	// Name is what was run: "fwpcheck run" for example.
	Name    string
	Version string
	// Target is what was tested, and where; Subject is its name and version, or what stands for them.
	Target, Subject string

	StartTime time.Time
	Took      time.Duration
	Seed      uint64
	Outcome
	Cases []Case
	// FallbackFile is a file of the user's repository that stands for the run, empty if none is known: the file of known
	// findings, or the workflow of a CI system.
	FallbackFile string
	// Repository is the user's repository, and Folder that of the call, to which the names of files are relative; both
	// are empty if the call is at its root.
	Repository, Folder string
	// Scripts is the folder that has the texts of the scripts of the cases, by their names; empty if there is none.
	Scripts string
}

// CaseState is what became of a case.
type CaseState uint8

// The states of a case.
const (
	CasePassed  CaseState = iota
	CaseFailed            // the target is wrong: a finding that counts, a threshold that is missed, a stale expectation
	CaseErrored           // there is no result: inconclusive, not run, INVALID, unreachable
	CaseSkipped           // the target lacks what it needs, or it is a known finding
)

// Case is one thing that a run was about: a clause in a check, a kind of difference, a threshold.
type Case struct {
	// Class is the group of the case, the clause as a rule: "PROTOCOL-QUIET-02". Name is unique in its suite:
	// "quiet/stays - PROTOCOL-QUIET-02".
	Class, Name string
	Check       string
	Clause      string
	Level       Level
	State       CaseState
	// Kind is the verdict in a word: "fail", "crash", "warn", "stale", "missed" for example.
	Kind string
	// Message says in one sentence why the case did not pass, or what is to be known though it did.
	Message string
	// Evidence has what was expected and received.
	Evidence []Block
	// File and Line are the script; Reproducer is a file that shows the finding again, empty if there is none.
	File       string
	Line       int
	Reproducer string
	// Script is where a script shows the finding.
	Script ScriptPlace
	// KnownPlace is where the finding is listed as known, "fwpcheck.expect:7" for example; empty if it is not. The writers
	// skip a case that is known.
	KnownPlace string
	Took       time.Duration
}

// ScriptPlace is a place in a script: one of the suite's, one of the user's, or one that was made for a finding.
type ScriptPlace struct {
	// Name is Evidence.File, or the name of the case for a script that was made for it; empty if there is no script.
	Name string
	// Text is that of the script; empty if it is not known, or is in a file of the user's.
	Text string
	// Line, Col and Width are those of Evidence.
	Line, Col, Width int
}

// EffectiveState is the state of the case after what is known: a case that is excused is skipped.
func (c *Case) EffectiveState() CaseState {
	if c.IsExcused() {
		return CaseSkipped
	}
	return c.State
}

// IsExcused reports whether the case would fail or have no result, if it were not known.
func (c *Case) IsExcused() bool {
	return c.KnownPlace != "" && (c.State == CaseFailed || c.State == CaseErrored)
}

// Reason returns why the case has its state.
func (c *Case) Reason() string {
	if c.KnownPlace != "" {
		return strings.TrimSuffix("known, "+c.KnownPlace+": "+c.Message, ": ")
	}
	return c.Message
}

// CaseStateOf returns the state of a case with a verdict.
func CaseStateOf(v Verdict, o ExitOptions) CaseState {
	switch {
	case o.isFailure(v):
		return CaseFailed
	case isOpen(v):
		return CaseErrored
	case v == Skipped, v == NotApplicable, v == NotSelected:
		return CaseSkipped
	}
	return CasePassed
}

// NewSuite returns the suite of a result, with the cases of what kept it from being complete.
func NewSuite(name string, head *Head, outcome Outcome) Suite {
	s := Suite{
		Name: name, Version: head.Version, StartTime: head.StartTime, Took: head.Took, Seed: head.Seed, Outcome: outcome,
	}
	s.addTroubles(head.Trouble)
	return s
}

// Suite returns r as cases: one for each clause of each check, and one for each check of no clause. What was not
// selected and what does not bind the target is left out. A clause that o requires and that was not evaluated is a case
// of its own, and so is one whose goal was not reached.
func (r *Report) Suite(o ExitOptions) Suite {
	command := cmp.Or(r.Target.Role, "run")
	if r.Upgrade != nil {
		command = "upgrade"
	}
	s := NewSuite("fwpcheck "+command, &r.Head, r.Outcome(o))
	s.Target, s.Subject = r.Target.String(), r.Target.shortName()
	if r.Expectations != nil {
		s.FallbackFile = r.Expectations.File
	}
	findings := r.Findings()
	for i := range r.Checks {
		s.addCheck(r, &r.Checks[i], findings, o)
	}
	for _, f := range findings { // of clauses that no check lists
		match := func(c *Case) bool { return c.Check == f.Check && c.Clause == f.Clause }
		if Find(s.Cases, match) == nil {
			s.Add(r.caseOf(f, o))
		}
	}
	s.addStale(r.Expectations)
	for _, id := range r.tally(o).missingClauses {
		s.Add(Case{
			Class: id, Name: "required - " + id, Clause: id, State: CaseErrored, Kind: "not evaluated",
			Message: "required by --require, but not evaluated",
		})
	}
	return s
}

// addCheck appends the cases of a check.
func (s *Suite) addCheck(r *Report, c *Check, findings []Finding, o ExitOptions) {
	duration := c.Took // of the first case only: the sum of the cases is that of the checks
	for _, cv := range c.verdicts() {
		if cv.Verdict == NotSelected || cv.Verdict == NotApplicable {
			continue
		}
		item := newCase(c.ID, cv.ID)
		if f := mainFinding(findings, c.ID, cv.ID); f != nil && cv.Verdict.IsBreach() {
			item = r.caseOf(*f, o)
		} else {
			item.Message, item.KnownPlace = join(cmp.Or(cv.Cause, defaultWhy(cv.Verdict)), cv.Provide),
				r.Expectations.linePlace(cv.KnownLine)
		}
		item.Level, item.File, item.Took, duration = cv.Level, c.File, duration, 0
		item.State, item.Kind = CaseStateOf(cv.Verdict, o), cv.Verdict.String()
		s.Add(item)
	}
}

// newCase returns the case of a clause in a check, which is named after both.
func newCase(check, clause string) Case {
	return Case{
		Class: cmp.Or(clause, "checks"), Name: JoinWith(" - ", check, clause), Check: check, Clause: clause,
	}
}

// mainFinding returns the first finding of a clause in a check that is not known, or else the first one.
func mainFinding(findings []Finding, check, clause string) *Finding {
	var best *Finding
	for i := range findings {
		if f := &findings[i]; f.Check == check && f.Clause == clause && (best == nil || f.KnownLine < best.KnownLine) {
			best = f
		}
	}
	return best
}

// addStale appends a case for each line of the file of known findings that is no longer found.
func (s *Suite) addStale(e *Expectations) {
	if e == nil {
		return
	}
	for _, l := range e.StaleLines {
		s.Add(Case{
			Class: "expectations", Name: e.linePlace(l.Line) + " - " + text.OneLine(l.Text), Check: e.File, File: e.File,
			Line:  l.Line,
			State: CaseFailed, Kind: "stale", Message: "no longer found: " + l.Reason,
		})
	}
}

// Add appends a case, whose name it makes unique: readers of JUnit take the first of several with one name.
func (s *Suite) Add(c Case) {
	name := c.Name
	for n := 2; slices.ContainsFunc(s.Cases, func(have Case) bool { return have.Name == c.Name }); n++ {
		c.Name = fmt.Sprintf("%s (%d)", name, n)
	}
	if c.Script.Name == name {
		c.Script.Name = c.Name
	}
	s.Cases = append(s.Cases, c)
}

// FileName returns the name, without its end, of a file for the result: "fwpcheck-run-faktory-1.9.3".
func (s *Suite) FileName() string {
	name := []rune(notInFileName.ReplaceAllString(strings.ToLower(s.Name+" "+s.Subject), "-"))
	return strings.Trim(string(name[:min(len(name), fileNameLimit)]), "-.")
}

var notInFileName = regexp.MustCompile(`[^a-z0-9.+_]+`)

// fileNameLimit is how many characters FileName has at most.
const fileNameLimit = 120

// RunClass is the class of the cases that are about the run as a whole.
const RunClass = "run"

// Conclude appends a case for an exit code that no other case explains: readers of cases do not see the code. If no
// case has a result, that is a failure: nothing was tested.
func (s *Suite) Conclude() {
	exists := func(match func(c *Case) bool) bool { return Find(s.Cases, match) != nil }
	isOpen := func(c *Case) bool { return c.EffectiveState() == CaseFailed || c.EffectiveState() == CaseErrored }
	tested := exists(func(c *Case) bool { return c.State == CasePassed || c.State == CaseFailed })
	switch {
	case s.Code == ExitWell, exists(func(c *Case) bool { return isOpen(c) && (tested || c.Class == RunClass) }):
	case tested:
		s.Add(Case{Class: RunClass, Name: "the outcome of the run", State: CaseErrored, Kind: "inconclusive",
			Message: s.Words})
	default:
		s.Add(Case{Class: RunClass, Name: NothingTested, State: CaseFailed, Kind: "nothing tested", Message: s.Words})
	}
}

// NothingTested is the name of the case of a run in which no case has a result.
const NothingTested = "nothing was tested"

// addTroubles appends what kept a run from being complete.
func (s *Suite) addTroubles(t Trouble) {
	interrupted := ""
	if t.Interrupted {
		interrupted = "the run was interrupted: there are results so far"
	}
	for _, trouble := range []struct{ name, kind, words string }{
		{"the target can be reached", "unreachable", t.Unreachable},
		{"this machine and the suite", "failed on this machine", t.Internal},
		{"the command line", "usage", t.Usage}, {"the run is complete", "interrupted", interrupted},
	} {
		if trouble.words != "" {
			s.Add(Case{Class: RunClass, Name: trouble.name, State: CaseErrored, Kind: trouble.kind,
				Message: text.OneLine(trouble.words)})
		}
	}
}

// AddRun appends the case of the run as a whole, which has no result if nothing was evaluated.
func (s *Suite) AddRun(name string, isEmpty bool) {
	if len(s.Cases) > 0 { // it has a trouble
		return
	}
	c := Case{Class: RunClass, Name: name, Kind: "pass", Message: s.Words, Took: s.Took}
	if isEmpty {
		c.State, c.Kind = CaseErrored, "inconclusive"
	}
	s.Add(c)
}

// caseOf returns the case of one finding, with its conversation as far as it leads to the finding.
func (r *Report) caseOf(f Finding, o ExitOptions) Case {
	c := f.toCase(o)
	c.KnownPlace = r.Expectations.linePlace(f.KnownLine)
	c.Script.Text = cmp.Or(c.Script.Text, r.Scripts[f.File])
	if conversation := transcript(&f.Evidence, r.conversation(&f), PageOptions{}); len(conversation.Entries) > 0 {
		c.Evidence = append(c.Evidence, conversation)
	}
	return c
}

// toCase returns a finding as a case.
func (f *Finding) toCase(o ExitOptions) Case {
	c := newCase(f.Check, f.Clause)
	c.Level, c.File, c.Line, c.Reproducer = f.Level, f.File, f.Line, f.Saved
	c.Script = ScriptPlace{Name: f.File, Line: f.Line, Col: f.Col, Width: f.Width}
	if f.Script != "" {
		c.Script = ScriptPlace{Name: c.Name, Text: f.Script, Line: lineOf(f.Script, f.Clause)}
	}
	c.State, c.Kind, c.Message = CaseStateOf(f.Verdict, o), f.Verdict.String(), clip(text.OneLine(f.Actual))
	if f.Expected != "" {
		c.Message = clip("expected "+text.OneLine(f.Expected)) + "; got " + c.Message
	}
	var p Page
	p.Add(Prose{LinesOf(f.Statement)})
	p.evidence(&f.Evidence, PageOptions{})
	c.Evidence = p.Blocks
	return c
}

// lineOf returns the line of a generated script, counted from 1, that shows the finding: the one behind the last mark
// of the clause. Without a mark it is the first one.
func lineOf(script, clause string) int {
	if at := strings.LastIndex(script, "\nclause "+clause); at >= 0 {
		return strings.Count(script[:at], "\n") + 3
	}
	return 1
}

// Count returns how many cases have each state, after what is known.
func (s *Suite) Count() map[CaseState]int {
	counts := map[CaseState]int{}
	for i := range s.Cases {
		counts[s.Cases[i].EffectiveState()]++
	}
	return counts
}
