package run

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// What the law of the protocol finds in the conversations of scripts is a finding of its own, reported once for each
// rule and clause, however many plays have shown it. Its check is "law/" with the name of the rule.

// lawResults is what the law of the protocol found in all plays.
type lawResults struct {
	general  []string // see conformance.Suite.GeneralClauses
	rules    map[string]law.Rule
	findings map[lawKey]*lawFinding
	tally    law.Tally
}

type lawKey struct{ rule, clause string }

// lawFinding is one rule of the law that was broken, where a play has shown it first.
type lawFinding struct {
	law.Occurrence
	description conformance.Description // of the check that was played
	first       *conformance.Evidence
	shownPlays  int // that have shown it, of other checks alone where these may have another reason

	replays, shownReplays int                   // further plays of the same check, and those that have shown it
	cleanEvidence         *conformance.Evidence // of one that has not; nil if all have
	isFurther             bool                  // it came when the script had ended
}

// take keeps what the law found in a play and no line of the script has reported, and returns what the check is to be
// played again for, if no other play has shown the same.
func (l *lawResults) take(description conformance.Description, e *conformance.Evidence,
	lag time.Duration) (retry purpose) {
	l.tally.Add(e.Tally)
	if e.DeadReason != "" || e.HasRecovered { // a server that ended may have lost anything
		return noReplay
	}
	keys := map[lawKey]bool{}
	for _, v := range e.Law {
		key := lawKey{v.Rule, v.Clause}
		if l.isReported(e, v) || keys[key] {
			continue
		}
		keys[key] = true
		if v.IsTimed && lag >= machine.Room { // it is open
			retry = timeReplay
			continue
		}
		f, ok := l.findings[key]
		if !ok {
			f = &lawFinding{Occurrence: v, description: description, first: e}
			l.findings[key] = f
		}
		if !ok || f.isConfirmedBy(description, v) {
			f.shownPlays++
		}
		if f.shownPlays == 1 && f.description.ID == description.ID && f.isReplayable() {
			retry = max(retry, countReplay, purposeOf(timeReplay, f.IsTimed))
		}
	}
	return max(retry, purposeOf(countReplay, l.addReplay(description, e, keys)))
}

// isConfirmedBy reports whether a further play that has seen the same counts. One of the same check does if it says
// more; one of another check does unless both saw a span of time end at one moment, when the server may have stood
// still.
func (f *lawFinding) isConfirmedBy(description conformance.Description, v law.Occurrence) bool {
	if f.description.ID == description.ID {
		return f.isReplayable()
	}
	return !f.IsTimed || v.At.Sub(f.At).Abs() >= 2*time.Second
}

// isReplayable reports whether another play of the same check says more: for a span of time, and for content that
// nothing else explains.
func (f *lawFinding) isReplayable() bool { return f.IsTimed || !f.IsUnproven() }

// addReplay counts a further play of the checks in which the law found something first, and reports whether the check
// is to be played once more.
func (l *lawResults) addReplay(description conformance.Description, e *conformance.Evidence,
	keys map[lawKey]bool) (needsReplay bool) {
	for key, f := range l.findings {
		if f.description.ID != description.ID || f.first == e {
			continue
		}
		if f.replays++; keys[key] {
			f.shownReplays++
		} else {
			f.cleanEvidence = e
		}
		needsReplay = needsReplay || !f.IsUnproven() && f.shownPlays == 1 && inDoubt(f.replays, f.shownReplays > 0)
	}
	return needsReplay
}

// isReported reports whether a line or a finding of a play is about what the law found, or may be its cause.
func (l *lawResults) isReported(e *conformance.Evidence, v law.Occurrence) bool {
	return l.isCovered(e, v) || !v.IsAboutValue && (len(e.Findings) > 0 || l.follows(e, v))
}

// isSameMessage reports whether a result is about the message of a violation.
func isSameMessage(e *conformance.Evidence, r play.Result, v law.Occurrence) bool {
	return r.Conn == v.Conn && r.At == v.At.Sub(e.Began)
}

// leavesToLaw reports whether a line leaves what is wrong with its message to the law, which blames another clause for
// certain: it is about none, or about such as say less of the message.
func (l *lawResults) leavesToLaw(e *conformance.Evidence, r play.Result, v law.Occurrence) bool {
	other := func(m scenarios.ClauseMark) bool { return m.Clause == v.Clause || !l.isVaguer(m.Clause, r, v) }
	return isSameMessage(e, r, v) && r.Outcome == play.Mismatched && !v.IsUnproven() &&
		!slices.ContainsFunc(r.Marks, other)
}

// isVaguer reports whether a clause says less of a message than the law does: it is a general one, it is about the
// reply to a command that was sent when the connection had ended, or it is about the fields of a job, where the law
// knows that the job had to come again, and nothing came. Where it never came, the values of its fields may be why.
func (l *lawResults) isVaguer(clause string, r play.Result, v law.Occurrence) bool {
	if v.IsIdleEnd && r.Ending != scenarios.Open || slices.Contains(l.general, clause) {
		return true
	}
	if !r.IsEmptyReply || !v.LacksRedelivery || l.rules[v.Rule].MayBreak(clause) {
		return false
	}
	for _, rule := range l.rules {
		if rule.Traits&law.OfField != 0 && rule.MayBreak(clause) {
			return true
		}
	}
	return false
}

// explains reports whether a violation, seen at a time, is why more bytes have come than one reply: they are the rest
// of a reply that is wrong for certain.
func explains(v law.Occurrence, b scenarios.Breach, at time.Duration) bool {
	return b.Kind == scenarios.ExtraReply && b.Conn == v.Conn && b.At == at && !v.IsUnproven()
}

// isMismatch reports whether a line was not met; lag may be the reason.
func isMismatch(r play.Result) bool { return r.Outcome == play.Mismatched || r.Reason == play.Lag }

// isCovered reports whether a line of the script that is about a clause, or a breach, is about the same message, or a
// finding of a property about the same clause.
func (l *lawResults) isCovered(e *conformance.Evidence, v law.Occurrence) bool {
	at := v.At.Sub(e.Began)
	return slices.ContainsFunc(e.Findings, func(f conformance.Finding) bool { return f.Clause == v.Clause }) ||
		slices.ContainsFunc(e.Breaches, func(b scenarios.Breach) bool {
			return b.Conn == v.Conn && b.At == at && !explains(v, b, at)
		}) ||
		slices.ContainsFunc(e.Results, func(r play.Result) bool {
			return isMismatch(r) && len(r.Marks) > 0 && isSameMessage(e, r, v) && !l.leavesToLaw(e, r, v)
		})
}

// follows reports whether what the law found may follow from a departure that a line or a breach has shown: another
// reply than the one that was due, or another name in it. What departs in other values leaves the law what it knows. A
// set-up line tells nothing itself: a command that it needs and that is refused is the law's to tell.
func (l *lawResults) follows(e *conformance.Evidence, v law.Occurrence) bool {
	at := v.At.Sub(e.Began)
	hasName := func(d scenarios.Difference) bool { return d.Name != "" }
	other := func(b scenarios.Breach) bool { return stopsPlay(b) && !explains(v, b, at) }
	return slices.ContainsFunc(e.Breaches, other) || slices.ContainsFunc(e.Results, func(r play.Result) bool {
		switch {
		case !isMismatch(r) || r.IsAssumed && !slices.ContainsFunc(r.Differences, hasName):
			return false
		case l.leavesToLaw(e, r, v):
			return false
		case len(r.Marks) > 0 || !r.IsCommandRefused:
			return true
		}
		return r.At < at || r.At == at && r.Conn != v.Conn
	})
}

// Unlisted returns the checks that a report may have beside those of a suite: first that of a crash which no check has
// caused, and then one for each rule of the law.
func Unlisted(p *conformance.Suite) []string {
	all := []string{CrashCheck}
	for _, rule := range slices.Sorted(maps.Keys(p.Law.Rules)) {
		all = append(all, reports.LawPrefix+rule)
	}
	return all
}

// isProven reports whether a finding counts, beside the clauses that are broken for certain. Where its premise is time,
// or something else may be the reason, two plays must have shown it. Where another fault of the server may be the
// reason, there must be no other; and a clause about an earlier command is not blamed where the command fails without
// that.
func (f *lawFinding) isProven(clauses []string) bool {
	if f.shownPlays == 1 && f.IsUnproven() {
		return false
	}
	return (!f.Doubtful || len(clauses) == 0) && (f.CommandClause == "" || !slices.Contains(clauses, f.CommandClause))
}

// isUnsteady reports whether a span of time was wrong in a single play, and not when its check was played again, alone.
func (f *lawFinding) isUnsteady(clauses []string) bool {
	return f.IsTimed && f.shownPlays == 1 && f.cleanEvidence != nil && f.CommandClause == "" &&
		(!f.Doubtful || len(clauses) == 0)
}

// lawChecks returns a check for each rule that was broken, in the order of their names. clauses are those that other
// checks have found broken.
func (s *runState) lawChecks(clauses []string) []reports.Check {
	byRule := map[string]*reports.Check{}
	keys := slices.SortedFunc(maps.Keys(s.law.findings), func(a, b lawKey) int {
		return slices.Compare([]string{a.rule, a.clause}, []string{b.rule, b.clause})
	})
	for _, k := range keys {
		if f := s.law.findings[k]; !f.Doubtful && f.CommandClause == "" && f.isProven(clauses) {
			clauses = append(clauses, k.clause)
		}
	}
	for _, k := range keys {
		f := s.law.findings[k]
		if !f.isProven(clauses) && !f.isUnsteady(clauses) {
			continue
		}
		c := byRule[k.rule]
		if c == nil {
			c = &reports.Check{ID: reports.LawPrefix + k.rule, Title: s.runner.Suite.Law.Rules[k.rule].Title, Attempts: 1}
			byRule[k.rule] = c
		}
		if f.isProven(clauses) {
			s.addLaw(c, f)
		} else {
			s.addUnsteady(c, f)
		}
	}
	var all []reports.Check
	for _, rule := range slices.Sorted(maps.Keys(byRule)) {
		all = append(all, *byRule[rule])
	}
	return all
}

// lawReport returns what the law has judged, nil for nothing.
func (s *runState) lawReport() *reports.Law {
	tally := s.law.tally
	if tally.Messages == 0 && len(tally.OpenReasons) == 0 {
		return nil
	}
	all := &reports.Law{Judged: tally.Messages, OpenReasons: tally.OpenReasons}
	for _, name := range slices.Sorted(maps.Keys(s.runner.Suite.Law.Rules)) {
		rate := tally.Rules[name]
		rule := reports.LawRule{ID: reports.LawPrefix + name, Passes: rate.Passes, Breaches: rate.Breaches,
			OpenReasons: rate.OpenReasons}
		rule.Decide()
		all.Rules = append(all.Rules, rule)
	}
	return all
}

// addLaw adds a finding to the check of its rule.
func (s *runState) addLaw(c *reports.Check, f *lawFinding) {
	m := scenarios.ClauseMark{Clause: f.Clause}
	if f.IsRecommendation {
		m.Level = string(reports.LevelShould)
	}
	v := &resultBuilder{state: s, description: f.description, evidence: f.first,
		check: reports.Check{ID: c.ID, File: f.description.File}}
	verdict := v.suite().MismatchVerdict(m)
	c.Verdict = reports.Worst(append([]reports.Verdict{verdict}, verdictOf(c)...)...)
	reason, frequency := f.Got, f.frequency(s.law.tally.Rules[f.Rule].Clauses[f.Clause])
	if frequency != "" { // not in what was received, by which a known finding is recognized
		reason += "; " + frequency
	}
	c.Clauses = append(c.Clauses, reports.ClauseVerdict{
		ID: f.Clause, Level: v.suite().LevelOf(m), Verdict: verdict, Cause: reason,
	})
	if !verdict.IsBreach() {
		return
	}
	v.addFinding(verdict, m, play.Result{
		Expected: f.Expected, Got: f.Got, Cause: f.Detail, Conn: f.Conn, At: f.At.Sub(f.first.Began),
	})
	found := v.check.Findings[0]
	found.Frequency, found.RefusedVerb, found.Premises = frequency, law.RefusedVerb(f.Place), f.Premises
	found.Conversation, found.MarkedLine = evidenceLines(f.first.Conversation, f.Occurrence, f.At.Sub(f.first.Began))
	if s.runner.Reproduce != nil {
		found.Reproduce = s.runner.Reproduce(f.description.ID)
	}
	if s.runner.Shrink != nil {
		found.Shrink = f.shrink(s.runner.Shrink)
	}
	c.Findings = append(c.Findings, found)
}

// shrink returns the command that makes a script of the finding, or why there is none.
func (f *lawFinding) shrink(command func(check, finding string) string) string {
	isOperation := func(n scenarios.Need) bool {
		return n == scenarios.NeedRestart || n == scenarios.NeedKill || n == scenarios.NeedSignals
	}
	switch {
	case f.isFurther:
		return "it came when the script of " + f.description.ID + " had ended, which shrink does not wait for"
	case f.description.File == "":
		return f.description.ID + " generates its conversations, so there is no script"
	case slices.ContainsFunc(f.description.Needs, isOperation):
		return f.description.ID + " needs a restart or an order to workers, which shrink does not support"
	}
	return command(f.description.ID, reports.LawPrefix+f.Rule+" "+f.Clause)
}

// frequency returns how often a finding was seen, of so many occasions; empty if no more than once, and not played
// again.
func (f *lawFinding) frequency(occasions int) string {
	words := "seen in " + text.Count(f.shownPlays, "play")
	if occasions > f.shownPlays {
		words = fmt.Sprintf("seen %s in %s", text.Count(occasions, "time"), text.Count(f.shownPlays, "play"))
	}
	switch {
	case f.replays > f.shownReplays:
		return fmt.Sprintf("%s; shown in %d of %s", words, f.shownReplays, text.Count(f.replays, "replay"))
	case max(f.shownPlays, occasions) > 1:
		return words
	}
	return ""
}

// addUnsteady adds a clause that one play has shown broken and the next one has not, with the conversations of both.
func (s *runState) addUnsteady(c *reports.Check, f *lawFinding) {
	level, reason := s.runner.Suite.LevelOf(scenarios.ClauseMark{Clause: f.Clause}),
		f.Got+" in one of two plays of "+f.description.ID
	c.Verdict = reports.Worst(append([]reports.Verdict{reports.Inconclusive}, verdictOf(c)...)...)
	c.Clauses = append(c.Clauses, reports.ClauseVerdict{
		ID: f.Clause, Level: level, Verdict: reports.Inconclusive, Cause: reason, Reason: reports.ReasonUnsteady,
	})
	if c.Conversation == nil {
		lines, _ := evidenceLines(f.first.Conversation, f.Occurrence, f.At.Sub(f.first.Began))
		c.Cause, c.Reason = reason, reports.ReasonUnsteady
		c.Conversation = bothPlays(lines, f.cleanEvidence.Conversation)
	}
}

// evidenceLines returns the lines of a conversation that a violation at some time rests on, and which of them is its
// message, counted from 1; 0 if it is none. These are the lines about its job, the message with the command that it
// answers and, unless it is about a value alone, what else the connection has said. All lines count for a time without
// a job.
func evidenceLines(all []reports.Line, v law.Occurrence, at time.Duration) (lines []reports.Line, marked int) {
	end := slices.IndexFunc(all, func(l reports.Line) bool { return l.At > at })
	if end < 0 {
		end = len(all)
	}
	command := end - 1
	for command >= 0 && (all[command].Conn != v.Conn || all[command].From != reports.FromClient) {
		command--
	}
	for i, l := range all[:end] {
		message := l.Conn == v.Conn && l.At == at && l.From == reports.FromServer
		if message || i == command || concerns(v, l) {
			lines = append(lines, l)
		}
		if message {
			marked = len(lines)
		}
	}
	return lines, marked
}

// concerns reports whether a line is about the job of a violation or, unless that is about a value alone, was said on
// its connection. All lines count for a time without a job.
func concerns(v law.Occurrence, l reports.Line) bool {
	if v.JID == "" && v.IsTimed || v.JID != "" && strings.Contains(l.Text, v.JID) {
		return true
	}
	return !v.IsAboutValue && (l.Conn == v.Conn || l.Conn == "")
}

func verdictOf(c *reports.Check) []reports.Verdict {
	if len(c.Clauses) == 0 {
		return nil
	}
	return []reports.Verdict{c.Verdict}
}
