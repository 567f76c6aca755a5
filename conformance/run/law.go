package run

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// What the law of the protocol finds in the conversations of scripts is a finding of its own, told once for each rule and
// clause, however many plays have shown it. Its check is "law/" with the name of the rule.

// lawful is what the law of the protocol found in all plays.
type lawful struct {
	found map[lawKey]*lawFinding
}

type lawKey struct{ rule, clause string }

// lawFinding is one rule of the law that was broken, where a play has shown it first.
type lawFinding struct {
	law.Seen
	about conformance.Description // of the check that was played
	first *conformance.Evidence
	plays int
}

// take keeps what the law found in a play and no line of the script has reported. Where a line has found a departure,
// what follows may follow from it, but for the values of a message.
func (l *lawful) take(about conformance.Description, e *conformance.Evidence, lag time.Duration) {
	if e.Dead != "" || e.Back { // a server that ended may have lost anything
		return
	}
	departed := len(e.Breaches) > 0 || slices.ContainsFunc(e.Results, mismatched)
	seen := map[lawKey]bool{}
	for _, v := range e.Law {
		key := lawKey{v.Rule, v.Clause}
		if departed && !v.Alone || filed(e, v) || v.Timed && lag > mostLagOfTimes || seen[key] {
			continue
		}
		seen[key] = true
		if l.found[key] == nil {
			l.found[key] = &lawFinding{Seen: v, about: about, first: e}
		}
		l.found[key].plays++
	}
}

func mismatched(r play.Result) bool { return r.Outcome == play.Mismatched }

// filed reports whether a line of the script, or a breach, is about the same message.
func filed(e *conformance.Evidence, v law.Seen) bool {
	at := v.At.Sub(e.Began)
	return slices.ContainsFunc(e.Breaches, func(b scenarios.Breach) bool { return b.Conn == v.Conn && b.At == at }) ||
		slices.ContainsFunc(e.Results, func(r play.Result) bool {
			return r.Outcome == play.Mismatched && r.Conn == v.Conn && r.At == at
		})
}

// Unlisted returns the checks that a report may have beside those of a suite: of a crash that no check has caused, and
// one for each rule of the law.
func Unlisted(p *conformance.Protocol) []string {
	all := []string{CrashCheck}
	for rule := range p.Law.Rules {
		all = append(all, lawPrefix+rule)
	}
	return all
}

// lawPrefix is how the names of checks begin that are rules of the law.
const lawPrefix = "law/"

// mostLagOfTimes is how late this machine may have been where a finding rests on a span of time.
const mostLagOfTimes = 100 * time.Millisecond

// proven reports whether a finding counts: where its premise is time, two plays must have shown it; where another fault
// may be the reason, there must be no other.
func (f *lawFinding) proven(alone bool) bool {
	return (!f.Timed || f.plays > 1) && (!f.Doubtful || alone)
}

// checks returns a check for each rule that was broken, in the order of their names. alone says that nothing else was
// found.
func (s *runState) lawChecks(alone bool) []reports.Check {
	byRule := map[string]*reports.Check{}
	keys := slices.SortedFunc(maps.Keys(s.law.found), func(a, b lawKey) int {
		return slices.Compare([]string{a.rule, a.clause}, []string{b.rule, b.clause})
	})
	alone = alone && !slices.ContainsFunc(keys, func(k lawKey) bool { return s.law.found[k].proven(false) })
	for _, k := range keys {
		f := s.law.found[k]
		if !f.proven(alone) {
			continue
		}
		c := byRule[k.rule]
		if c == nil {
			c = &reports.Check{ID: lawPrefix + k.rule, Title: s.runner.Protocol.Law.Rules[k.rule].Title, Attempts: 1}
			byRule[k.rule] = c
		}
		s.addLaw(c, f)
	}
	var all []reports.Check
	for _, rule := range slices.Sorted(maps.Keys(byRule)) {
		all = append(all, *byRule[rule])
	}
	return all
}

// addLaw adds a finding to the check of its rule.
func (s *runState) addLaw(c *reports.Check, f *lawFinding) {
	m := scenarios.Mark{Clause: f.Clause}
	if f.Should {
		m.Level = string(reports.LevelShould)
	}
	v := &verdicts{state: s, about: f.about, evidence: f.first, check: reports.Check{ID: c.ID, File: f.about.File}}
	verdict := v.protocol().MismatchVerdict(m)
	c.Verdict = reports.Worst(append([]reports.Verdict{verdict}, verdictOf(c)...)...)
	c.Clauses = append(c.Clauses, reports.ClauseVerdict{
		ID: f.Clause, Level: v.protocol().LevelOf(m), Verdict: verdict, Why: f.Got,
	})
	if !verdict.Breach() {
		return
	}
	cause := f.What
	if f.plays > 1 {
		cause = joined(cause, fmt.Sprintf("seen in %s, first in %s", text.Count(f.plays, "play"), f.about.ID))
	}
	v.finding(verdict, m, play.Result{
		Expected: f.Expected, Got: f.Got, Cause: cause, Conn: f.Conn, At: f.At.Sub(f.first.Began),
	})
	found := v.check.Findings[0]
	found.Conversation = conversation(f.first)
	if s.runner.Reproduce != nil {
		found.Reproduce = s.runner.Reproduce(f.about.ID)
	}
	c.Findings = append(c.Findings, found)
}

func verdictOf(c *reports.Check) []reports.Verdict {
	if len(c.Clauses) == 0 {
		return nil
	}
	return []reports.Verdict{c.Verdict}
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
