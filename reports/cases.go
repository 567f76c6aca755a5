package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// Suite is a result as a list of cases, each of which passed or not: what JUnit, TAP and the annotations of GitHub are
// written from. Texts in it are not escaped: the writers do that.
type Suite struct {
	// Name is what was run: "fwpcheck run" for example.
	Name    string
	Version string
	Target  string
	Started time.Time
	Took    time.Duration
	Seed    uint64
	// Code is the exit code, and Words what it stands for.
	Code  int
	Words string
	Cases []Case
	// Place is a file of the user's repository that stands for the run, empty if none is known: the file of known
	// findings, or the workflow of a CI system.
	Place string
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
	// Evidence has what was expected and received, in several lines.
	Evidence string
	// File and Line are the script; Reproducer is a file that shows the finding again, empty if there is none.
	File       string
	Line       int
	Reproducer string
	// Known is where the finding is listed as known, "fwpcheck.expect:7" for example; empty if it is not. The writers
	// skip a case that is known.
	Known string
	Took  time.Duration
}

// state returns what the writers make of the case.
func (c *Case) state() CaseState {
	if c.listed() {
		return CaseSkipped
	}
	return c.State
}

// listed reports whether the case would fail or have no result, if it were not known.
func (c *Case) listed() bool {
	return c.Known != "" && (c.State == CaseFailed || c.State == CaseErrored)
}

// message returns why the case has its state.
func (c *Case) message() string {
	if c.Known != "" {
		return strings.TrimSuffix("known, "+c.Known+": "+c.Message, ": ")
	}
	return c.Message
}

// stateOf returns the state of a case with a verdict.
func stateOf(v Verdict, o ExitOptions) CaseState {
	switch {
	case v == Fail, v == Crash, v == Warn && o.Strict:
		return CaseFailed
	case isOpen(v):
		return CaseErrored
	case v == Skipped, v == NotApplicable, v == NotSelected:
		return CaseSkipped
	}
	return CasePassed
}

// Suite returns r as cases: one for each clause of each check, and one for each check of no clause. What was not
// selected and what does not bind the target is left out. A clause that o requires and that was not evaluated is a case
// of its own, and so is one whose goal was not reached.
func (r *Report) Suite(o ExitOptions) Suite {
	s := Suite{
		Name: "fwpcheck " + cmp.Or(r.Target.Role, "run"), Version: r.Version, Target: r.Target.named(), Started: r.Started,
		Took: r.Took, Seed: r.Seed,
	}
	s.Code, s.Words = r.Outcome(o)
	if r.Expectations != nil {
		s.Place = r.Expectations.File
	}
	s.troubles(r.trouble())
	found := r.Findings()
	for i := range r.Checks {
		s.check(r, &r.Checks[i], found, o)
	}
	for _, f := range found { // of clauses that no check lists
		if !s.has(f.Check, f.Clause) {
			s.add(r.caseOf(f, o))
		}
	}
	for i := range r.Clauses {
		if c := &r.Clauses[i]; c.WithoutGoal() {
			s.goal(r, c)
		}
	}
	s.stale(r.Expectations)
	for _, id := range r.tally(o).missing {
		s.add(Case{
			Class: id, Name: "required - " + id, Clause: id, State: CaseErrored, Kind: "not evaluated",
			Message: "required with --require, and not evaluated",
		})
	}
	return s
}

// check appends the cases of a check.
func (s *Suite) check(r *Report, c *Check, found []Finding, o ExitOptions) {
	took := c.Took // of the first case only: the sum of the cases is that of the checks
	add := func(clause string, level Level, v Verdict, why, provide string, known int) {
		if v == NotSelected || v == NotApplicable {
			return
		}
		one := Case{
			Class: cmp.Or(clause, "checks"), Name: c.ID, Check: c.ID, Clause: clause, Level: level, File: c.File,
			State: stateOf(v, o), Kind: v.String(), Message: join(why, provide), Took: took,
		}
		if clause != "" {
			one.Name += " - " + clause
		}
		here := slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return f.Check != c.ID || f.Clause != clause })
		// what is not known first
		slices.SortStableFunc(here, func(a, b Finding) int { return cmp.Compare(a.Known, b.Known) })
		if v.Breach() && len(here) > 0 {
			worse := r.caseOf(here[0], o)
			one.Message, one.Evidence, one.Line = worse.Message, worse.Evidence, worse.Line
			one.Known, one.Reproducer = worse.Known, worse.Reproducer
		} else if known > 0 {
			one.Known = r.Expectations.at(known)
		}
		took = 0
		s.add(one)
	}
	for _, cv := range c.Clauses {
		add(cv.ID, cv.Level, cv.Verdict, cmp.Or(cv.Why, openWhy(cv.Verdict)), cv.Provide, cv.Known)
	}
	if len(c.Clauses) == 0 {
		add("", "", c.Verdict, cmp.Or(c.Why, openWhy(c.Verdict)), c.Provide, c.Known)
	}
}

// goal appends the case of a clause that all its checks passed, and whose goal was not reached.
func (s *Suite) goal(r *Report, c *Clause) {
	one := Case{
		Class: c.ID, Name: "goal - " + c.ID, Clause: c.ID, Level: c.Level, State: CaseErrored, Kind: Inconclusive.String(),
		Message: join(c.Why, c.Provide),
	}
	if c.Known > 0 {
		one.Known = r.Expectations.at(c.Known)
	}
	s.add(one)
}

// stale appends a case for each line of the file of known findings that is no longer so.
func (s *Suite) stale(e *Expectations) {
	if e == nil {
		return
	}
	for _, l := range e.Stale {
		s.add(Case{
			Class: "expectations", Name: e.at(l.Line) + " - " + text.OneLine(l.Text), Check: e.File, File: e.File, Line: l.Line,
			State: CaseFailed, Kind: "stale", Message: "no longer so: " + l.Why,
		})
	}
}

// openWhy is the cause of a verdict that has none.
func openWhy(v Verdict) string {
	if wanting(v) {
		return defaultWhy(v)
	}
	return ""
}

// has reports whether there is a case about a clause in a check.
func (s *Suite) has(check, clause string) bool {
	return slices.ContainsFunc(s.Cases, func(c Case) bool { return c.Check == check && c.Clause == clause })
}

// add appends a case, whose name it makes unique: readers of JUnit take the first of several with one name.
func (s *Suite) add(c Case) {
	name := c.Name
	for n := 2; slices.ContainsFunc(s.Cases, func(have Case) bool { return have.Name == c.Name }); n++ {
		c.Name = fmt.Sprintf("%s (%d)", name, n)
	}
	s.Cases = append(s.Cases, c)
}

// troubles appends what kept a run from being complete.
func (s *Suite) troubles(t trouble) {
	for _, of := range []struct{ name, kind, why string }{
		{"the target can be reached", "unreachable", t.unreachable}, {"the suite itself", "internal error", t.internal},
		{"the command line", "usage", t.usage},
	} {
		if of.why != "" {
			s.add(Case{Class: "run", Name: of.name, State: CaseErrored, Kind: of.kind, Message: text.OneLine(of.why)})
		}
	}
	if t.interrupted {
		s.add(Case{
			Class: "run", Name: "the run is complete", State: CaseErrored, Kind: "interrupted",
			Message: "the run was interrupted: there are results until then",
		})
	}
}

// caseOf returns the case of one finding, with its conversation as far as it leads to the finding.
func (r *Report) caseOf(f Finding, o ExitOptions) Case {
	c := f.asCase(o)
	if f.Known > 0 {
		c.Known = r.Expectations.at(f.Known)
	}
	said := transcript(&f.Evidence, r.conversation(&f), PageOptions{})
	if len(said.Entries) > 0 {
		c.Evidence += "\n" + textOf(said)
	}
	return c
}

// asCase returns a finding as a case.
func (f *Finding) asCase(o ExitOptions) Case {
	c := Case{
		Class: cmp.Or(f.Clause, "checks"), Name: f.Check, Check: f.Check, Clause: f.Clause, Level: f.Level, File: f.File,
		Line: f.Line, State: stateOf(f.Verdict, o), Kind: f.Verdict.String(), Reproducer: f.Saved,
		Message: clipped(text.OneLine(f.Actual)),
	}
	if f.Clause != "" {
		c.Name += " - " + f.Clause
	}
	if f.Expected != "" {
		c.Message = clipped("expected "+text.OneLine(f.Expected)) + "; got " + clipped(text.OneLine(f.Actual))
	}
	var p Page
	if f.Statement != "" {
		p.add(Prose{LinesOf(f.Statement)})
	}
	p.evidence(&f.Evidence, PageOptions{})
	c.Evidence = textOf(p.Blocks...)
	return c
}

// textOf returns blocks as text.
func textOf(blocks ...Block) string {
	t := &textWriter{width: textWidth}
	for i, b := range blocks {
		if i > 0 && apart(blocks[i-1], b) {
			t.line("")
		}
		t.block(b)
	}
	return t.out.String()
}

// count returns how many cases have each state, after what is known.
func (s *Suite) count() map[CaseState]int {
	counts := map[CaseState]int{}
	for i := range s.Cases {
		counts[s.Cases[i].state()]++
	}
	return counts
}
