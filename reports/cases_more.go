package reports

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// Suite returns e as cases: one for each finding, and one for the exploration itself.
func (e *Exploration) Suite(o ExitOptions) Suite {
	s := Suite{
		Name: "fwpcheck explore", Version: e.Version, Target: named(e.Target.URL, e.Target.Chosen), Started: e.Started,
		Took: e.Took, Seed: e.Seed,
	}
	s.Code, s.Words = e.Outcome(o)
	s.troubles(e.trouble())
	s.whole("the exploration", s.Code == ExitInconclusive)
	for i := range e.Findings {
		f := &e.Findings[i]
		c := f.asCase(o)
		c.Reproducer = f.Path
		s.add(c)
	}
	return s
}

// whole appends the case of the run as a whole, which has no result if nothing was evaluated.
func (s *Suite) whole(name string, without bool) {
	if len(s.Cases) > 0 { // it has a trouble
		return
	}
	c := Case{Class: "run", Name: name, Kind: "pass", Message: s.Words, Took: s.Took}
	if without {
		c.State, c.Kind = CaseErrored, "inconclusive"
	}
	s.add(c)
}

// Suite returns c as cases: one for each kind of difference, which fails if B breaks what A does not, and one for the
// comparison itself.
func (c *Comparison) Suite(o ExitOptions) Suite {
	s := Suite{
		Name: "fwpcheck compare", Version: c.Version, Started: c.Started, Took: c.Took, Seed: c.Seed,
		Target: "A " + named(c.A.URL, c.A.Chosen) + ", B " + named(c.B.URL, c.B.Chosen),
	}
	s.Code, s.Words = c.Outcome(o)
	s.troubles(c.trouble())
	s.whole("the comparison", s.Code == ExitInconclusive)
	for i := range c.Differences {
		d := &c.Differences[i]
		one := Case{
			Class: cmp.Or(d.Clause, "differences"), Name: strings.Trim(d.Command+" "+d.Field, " "), Clause: d.Clause,
			Kind: string(d.Mark), Message: clipped("A: "+d.A.line()) + "; " + clipped("B: "+d.B.line()),
		}
		one.Name = cmp.Or(one.Name, "connection") + " - " + one.Class
		if d.Breaks(o) {
			one.State = CaseFailed
		}
		var lines []string
		for _, e := range d.Conversation {
			lines = append(lines, e.lines()...)
		}
		one.Evidence = strings.Join(lines, "\n") + "\n"
		s.add(one)
	}
	return s
}

// Suite returns l as cases: whether the run is valid, whether every job is accounted for, each finding, and each
// threshold. Evaluate comes first.
func (l *Load) Suite(ExitOptions) Suite {
	s := Suite{
		Name: "fwpbench run", Version: l.Version, Target: named(l.Target.URL, l.Target.Chosen), Started: l.Started,
		Took: l.Took, Seed: l.Seed,
	}
	s.Code, s.Words = l.Outcome()
	s.troubles(l.trouble())
	if l.Gone != "" {
		s.add(Case{Class: "load", Name: "the target serves until the end", State: CaseErrored, Kind: "lost", Message: l.Gone})
	}
	if len(l.Ops) == 0 && len(l.Phases) == 0 {
		return s
	}
	s.add(l.validCase())
	s.add(l.jobsCase())
	for i := range l.Findings {
		f := &l.Findings[i]
		s.add(Case{
			Class: cmp.Or(f.Clause, "load"), Name: f.String(), Clause: f.Clause, State: stateOf(f.Level.Breach(), ExitOptions{}),
			Kind: string(f.Kind), Message: f.What, Evidence: textOf(Prose{f.page(PageOptions{})}),
		})
	}
	for _, t := range l.Thresholds {
		c := Case{Class: "thresholds", Name: t.Threshold, Kind: "passed", Message: "actual " + t.Actual}
		switch {
		case t.NotJudged:
			c.State, c.Kind = CaseErrored, "not judged"
		case !t.Met:
			c.State, c.Kind = CaseFailed, "missed"
			c.Message = strings.TrimPrefix(fmt.Sprintf("expected %s; actual %s", t.Expected, t.Actual), "expected ; ")
		}
		s.add(c)
	}
	return s
}

// validCase is whether the figures of a load are about the target.
func (l *Load) validCase() Case {
	c := Case{Class: "load", Name: "the figures are valid", Kind: "valid", Took: l.Took}
	if !l.Validity.Valid {
		c.State, c.Kind, c.Message = CaseErrored, "INVALID", l.invalid()
		var p Page
		p.validity(l)
		c.Evidence = textOf(p.Blocks...)
	}
	return c
}

// jobsCase is whether every job of a load is accounted for.
func (l *Load) jobsCase() Case {
	c := Case{Class: "load", Name: "every job is accounted for", Kind: "accounted for", Message: l.account()}
	switch {
	case l.Jobs.Lost+l.Jobs.Duplicated+l.Jobs.Foreign > l.Disruptions.excused():
		c.State, c.Kind = CaseFailed, "not accounted for"
	case l.undecided():
		c.State, c.Kind = CaseErrored, "inconclusive"
	case l.Jobs.Pushed+l.Jobs.Doubtful == 0:
		c.Message = "no job was pushed"
	}
	var p Page
	p.jobs(l)
	c.Evidence = textOf(p.Blocks...)
	c.Message = text.OneLine(c.Message)
	return c
}
