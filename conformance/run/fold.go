package run

import (
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/reports"
)

// fold makes one result of those of all repetitions: the worst verdict, and the number of
// times of each.
func fold(runs []reports.Check) reports.Check {
	if len(runs) == 1 {
		return runs[0]
	}
	var verdicts []reports.Verdict
	for _, c := range runs {
		verdicts = append(verdicts, c.Verdict)
	}
	worst := runs[slices.Index(verdicts, reports.Worst(verdicts...))]
	worst.Runs = reports.CountVerdicts(verdicts...)
	worst.Clauses = foldClauses(runs)
	worst.Findings, worst.LeftoverJobs = slices.Clone(worst.Findings), nil
	for _, c := range runs {
		worst.LeftoverJobs = append(worst.LeftoverJobs, c.LeftoverJobs...)
		for _, f := range c.Findings {
			same := func(g reports.Finding) bool { return f.Clause == g.Clause && f.Verdict == g.Verdict }
			if !slices.ContainsFunc(worst.Findings, same) {
				f.Conversation = c.Conversation // not that of the run that counts
				worst.Findings = append(worst.Findings, f)
			}
		}
	}
	return worst
}

func foldClauses(runs []reports.Check) []reports.ClauseVerdict {
	var ids []string
	verdictsOf := map[string][]reports.ClauseVerdict{}
	for _, c := range runs {
		for _, cv := range c.Clauses {
			if verdictsOf[cv.ID] == nil {
				ids = append(ids, cv.ID)
			}
			verdictsOf[cv.ID] = append(verdictsOf[cv.ID], cv)
		}
	}
	var all []reports.ClauseVerdict
	for _, id := range ids {
		var verdicts []reports.Verdict
		for _, cv := range verdictsOf[id] {
			verdicts = append(verdicts, cv.Verdict)
		}
		worst := worstOf(verdictsOf[id])
		worst.Runs = reports.CountVerdicts(verdicts...)
		all = append(all, worst)
	}
	return all
}

// clauses folds the checks into the catalogue: every clause with its worst verdict.
func (s *runState) clauses(checks []reports.Check) []reports.Clause {
	verdictsOf := map[string][]reports.ClauseVerdict{}
	checksOf := map[string][]string{}
	for _, c := range checks {
		for _, cv := range c.Clauses {
			verdictsOf[cv.ID] = append(verdictsOf[cv.ID], cv)
			checksOf[cv.ID] = append(checksOf[cv.ID], c.ID)
		}
	}
	catalogue := s.runner.Suite.Clauses()
	all := make([]reports.Clause, 0, len(catalogue))
	for _, c := range catalogue {
		rc := reports.Clause{
			ID: c.ID, Level: c.Level, Section: c.Section, Statement: c.Statement, Harm: c.Harm, Checks: checksOf[c.ID],
		}
		switch {
		case len(verdictsOf[c.ID]) > 0:
			worst := worstOf(verdictsOf[c.ID])
			rc.Verdict, rc.Cause, rc.Reason, rc.Provide = worst.Verdict, worst.Cause, worst.Reason, worst.Provide
		case !s.runner.Parties.AreBoundBy(c):
			rc.Verdict, rc.Cause = reports.NotApplicable, s.runner.Parties.UnboundReason()
		case c.ExclusionReason != "":
			rc.Verdict, rc.Cause = reports.NotApplicable, strings.TrimSuffix(c.ExclusionReason, ".")
		default:
			rc.Verdict, rc.Cause = reports.NotSelected, "no check tests it yet"
		}
		all = append(all, rc)
	}
	return all
}

func worstOf(all []reports.ClauseVerdict) reports.ClauseVerdict {
	worst := all[0]
	for _, cv := range all[1:] {
		if worst.Verdict != cv.Verdict && reports.Worst(worst.Verdict, cv.Verdict) == cv.Verdict {
			worst = cv
		}
	}
	return worst
}

// Replace puts results of checks that were played again in the place of those in a report, where they are decided, with
// the clauses that they are about.
func Replace(r *reports.Report, replays []reports.Check) {
	touched := map[string]bool{}
	for i := range r.Checks {
		at := slices.IndexFunc(replays, func(c reports.Check) bool { return c.ID == r.Checks[i].ID })
		if at < 0 || !replays[at].Verdict.IsDecided() {
			continue
		}
		replays[at].Attempts += max(r.Checks[i].Attempts, 1)
		r.Checks[i] = replays[at]
		for _, cv := range replays[at].Clauses {
			touched[cv.ID] = true
		}
	}
	for i := range r.Clauses {
		c := &r.Clauses[i]
		var all []reports.ClauseVerdict
		for _, check := range r.Checks {
			for _, cv := range check.Clauses {
				if cv.ID == c.ID && touched[c.ID] {
					all = append(all, cv)
				}
			}
		}
		if len(all) > 0 {
			worst := worstOf(all)
			c.Verdict, c.Cause, c.Reason, c.Provide = worst.Verdict, worst.Cause, worst.Reason, worst.Provide
		}
	}
}
