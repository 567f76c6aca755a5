package results

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// Suite returns l as cases: whether the run is valid, whether every job is accounted for, each finding, and each
// threshold. Evaluate comes first.
func (l *Load) Suite(o reports.ExitOptions) reports.Suite {
	s := l.Target.suite("fwpbench run", &l.Head, l.Outcome(o))
	if l.GoneReason != "" {
		s.Add(reports.Case{Class: "load", Name: "the target serves until the end", State: reports.CaseErrored, Kind: "lost",
			Message: l.GoneReason})
	}
	if len(l.Ops) == 0 && len(l.Phases) == 0 {
		return s
	}
	s.Add(l.validCase())
	s.Add(l.jobsCase())
	for i := range l.Findings {
		f := &l.Findings[i]
		s.Add(reports.Case{
			Class: cmp.Or(f.Clause, "load"), Name: f.String(), Clause: f.Clause, Kind: string(f.Kind),
			State:   reports.CaseStateOf(f.Level.BreachVerdict(), reports.ExitOptions{}),
			Message: f.Description, Evidence: []reports.Block{reports.Prose{Lines: f.page(reports.PageOptions{})}},
		})
	}
	for _, t := range l.Thresholds {
		c := reports.Case{Class: "thresholds", Name: t.Threshold, Kind: "passed", Message: "actual " + t.Actual}
		switch {
		case t.NotJudged:
			c.State, c.Kind = reports.CaseErrored, "not judged"
		case t.IsUndecided:
			c.State, c.Kind = reports.CaseErrored, "undecided"
		case !t.IsMet:
			c.State, c.Kind = reports.CaseFailed, "missed"
			c.Message = strings.TrimPrefix(fmt.Sprintf("expected %s; actual %s", t.Expected, t.Actual), "expected ; ")
		}
		s.Add(c)
	}
	return s
}

// suite returns the suite of a result about the target, without cases of its own.
func (t *LoadTarget) suite(name string, head *reports.Head, outcome reports.Outcome) reports.Suite {
	s := reports.NewSuite(name, head, outcome)
	s.Target, s.Subject = t.Subject.At(t.URL, t.Chosen), t.Subject.ShortName(t.URL, t.Chosen)
	return s
}

// validCase is whether the figures of a load are about the target.
func (l *Load) validCase() reports.Case {
	c := reports.Case{Class: "load", Name: "the figures are valid", Kind: "valid", Took: l.Took}
	if !l.Validity.IsValid {
		c.State, c.Kind, c.Message = reports.CaseErrored, "INVALID", l.invalidWords()
		var p page
		p.validity(l)
		c.Evidence = p.Blocks
	}
	return c
}

// jobsCase is whether every job of a load is accounted for.
func (l *Load) jobsCase() reports.Case {
	c := reports.Case{Class: "load", Name: "every job is accounted for", Kind: "accounted for", Message: l.account()}
	switch {
	case l.Jobs.LostJobs+l.Jobs.Duplicated+l.Jobs.Foreign >
		l.Disruptions.excusedCount("lost")+l.Disruptions.excusedCount("duplicated"):
		c.State, c.Kind = reports.CaseFailed, "not accounted for"
	case l.IsUndecided():
		c.State, c.Kind = reports.CaseErrored, "inconclusive"
	case l.Jobs.Pushed+l.Jobs.Doubtful == 0:
		c.State, c.Kind, c.Message = reports.CaseSkipped, "no job", "no job was pushed"
	}
	var p page
	p.jobs(l)
	c.Evidence = p.Blocks
	c.Message = text.OneLine(c.Message)
	return c
}
