package reports

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Finding is a broken clause with the evidence of one place: a Fail, a Warn or a Crash. All that a run finds about one
// clause counts as one finding; see RunFinding.
type Finding struct {
	// Clause is the id of the clause that was broken; empty if the script names none.
	Clause    string  `json:"clause,omitempty"`
	Level     Level   `json:"level,omitempty"`
	Statement string  `json:"statement,omitempty"`
	Verdict   Verdict `json:"verdict"`
	// Harm is that of the clause.
	Harm string `json:"harm,omitempty"`
	// Fix is the section of a page that says how to fix it, in the repository: "docs/how-to-fix-servers.md#fetch"; empty
	// if none does.
	Fix string `json:"fix,omitempty"`
	// CommandClause is the clause of the command itself, where Clause is about an earlier one that may be the reason.
	CommandClause string `json:"-"`
	// Premises are clauses on which it rests what was expected: this follows from a finding about one of them.
	Premises []string `json:"-"`
	Evidence
}

// Evidence is what was expected and received at one place of a check.
type Evidence struct {
	// Check is the id of the check; empty means the check that holds the finding.
	Check string `json:"check,omitempty"`
	// Step is the step of an upgrade, counted from 1, that it is about: what is found in two steps is two findings.
	Step int `json:"step,omitempty"`
	// File, Line and Col are the place in a script: lines and characters counted from 1. Width is
	// the number of characters. Line is 0 if there is no such place, Col is 0 for the whole line.
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
	Col   int    `json:"col,omitempty"`
	Width int    `json:"width,omitempty"`
	// Source is the line of the script, without its end.
	Source string `json:"source,omitempty" from:"target"`
	// Expected and Actual are what the clause asks for and what was received; they may have several lines.
	Expected string `json:"expected,omitempty" from:"target"`
	Actual   string `json:"actual,omitempty" from:"target"`
	// Differences lists the places in which a structured value differs, one each.
	Differences []string `json:"differences,omitempty" from:"target"`
	// RefusedVerb is the verb of the command that was refused here; empty if it is about something else.
	RefusedVerb string `json:"refused,omitempty" from:"target"`
	// Death is the reason that the server's process gave for its end, and the place in its code: crashes that have it in
	// common are one finding. It is empty if the process gave none.
	Death string `json:"death,omitempty" from:"target"`
	// ConnectionEnd is how the connection ended, if it did: "the server reset the connection" for example.
	ConnectionEnd string `json:"close,omitempty" from:"target"`
	// Printed is what the server printed meanwhile, its last lines or the beginning of a panic or a traceback, where it
	// closed the connection or sent nothing.
	Printed []string `json:"printed,omitempty" from:"target"`
	// Frequency is in how many runs or plays it occurred, if there were several: "in 2 of 10 runs".
	Frequency string `json:"seen,omitempty" from:"target"`
	// MarkedLine is the line of the conversation at which it was received, counted from 1; 0 if it is none of them.
	MarkedLine int `json:"marked_line,omitempty"`
	// Conversation is given where it is not that of the check, but of another run of it.
	Conversation []Line `json:"conversation,omitempty"`
	// KnownLine is the line, counted from 1, of the file of known findings that lists it; 0: none.
	KnownLine int `json:"known_line,omitempty"`
	// Script shows it again, in the suite's language, where the check is not a script itself.
	Script string `json:"script,omitempty" from:"target"`
	// NoScriptReason is why there is no Script where generated commands have found it.
	NoScriptReason string `json:"unscripted,omitempty" from:"target"`
	// LastSteps are the last steps before it that have to do with it, as they were played, where it has no Script.
	LastSteps []string `json:"unshrunk,omitempty" from:"target"`
	// Saved is the file that the script, or what is LastSteps, was saved in; empty if it was not.
	Saved string `json:"saved,omitempty"`
	// Reproduce is the command, on one line, that shows the finding again.
	Reproduce string `json:"reproduce,omitempty"`
	// Life is the command that lists the life of the job that it is about.
	Life string `json:"life,omitempty"`
	// Shrink is the command that leaves out of the script what the finding does not need, or why there is none.
	Shrink string `json:"shrink,omitempty"`
}

// RunFinding is a finding of the run: a clause that is broken, however many checks show it in however many places; the
// end of a server for one reason, in however many checks; or a check that names no clause and fails.
type RunFinding struct {
	// Clause is empty if the check names none.
	Clause    string  `json:"clause,omitempty"`
	Level     Level   `json:"level,omitempty"`
	Statement string  `json:"statement,omitempty"`
	Verdict   Verdict `json:"verdict"`
	// Harm is that of the clause.
	Harm string `json:"harm,omitempty"`
	// Checks names the checks that show it.
	Checks []string `json:"checks"`
	// SymptomIndexes are the places in the list of that name, counted from 0, where it is shown.
	SymptomIndexes []int `json:"symptoms"`
}

// Symptom is one place of a check where something else was received than expected, with all that this breaks.
type Symptom struct {
	// Verdict is the worst of those on the clauses.
	Verdict Verdict  `json:"verdict"`
	Clauses []string `json:"clauses"`
	Evidence
}

// KnownCounts is a part of Counts.
type KnownCounts struct {
	Clauses int `json:"clauses"`
	Checks  int `json:"checks_without_clause"`
}

// Counts is what a run comes to.
type Counts struct {
	// Findings counts the findings by their verdict, but for the known ones.
	Findings map[Verdict]int `json:"findings"`
	// Clauses counts every clause once: with the verdict of its finding, or else with its own. A clause that no check
	// evaluates counts as not selected.
	Clauses map[Verdict]int `json:"clauses"`
	// KnownCounts counts the clauses, and the checks that name none, that are broken or inconclusive as a file of known
	// findings says. They are in none of the other counts.
	KnownCounts KnownCounts `json:"known,omitzero"`
	// Checks counts the checks that name no clause.
	Checks map[Verdict]int `json:"checks_without_clause"`
}

// Harms returns what users meet of a client that breaks clauses, the worst first: that is the order of its findings.
func Harms() []string {
	return []string{"jobs lost", "jobs run twice", "no work", "no shutdown", "no heartbeats"}
}

// harmRank is the place of a harm among them; what is none is the last.
func harmRank(harm string) int {
	if i := slices.Index(Harms(), harm); i >= 0 {
		return i
	}
	return len(Harms())
}

// Findings returns the evidence of every finding of the run: what harms users first, by harm, then the worst first
// (crash, fail, warn), and otherwise in the order of the checks. Empty fields that the check or the clause knows
// (Check, File, Level, Statement, Frequency) are filled in.
//
// A red verdict without evidence, of a check or of a clause, becomes a finding that has no more than its cause. So a
// run with a red verdict always has a finding.
func (r *Report) Findings() []Finding {
	var all []Finding
	for i := range r.Checks {
		all = append(all, r.FindingsOf(&r.Checks[i])...)
	}
	for _, c := range r.Clauses {
		if c.Verdict.IsBreach() && !mentions(all, c.ID) {
			all = append(all, r.fillClause(Finding{Clause: c.ID, Verdict: c.Verdict,
				Evidence: Evidence{Check: strings.Join(c.Checks, ", "), Actual: c.Cause}}))
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(harmRank(a.Harm)-harmRank(b.Harm), a.Verdict.rank()-b.Verdict.rank(), a.gravity()-b.gravity())
	})
	return all
}

// gravity is the rank of a finding among those of its verdict: where a script shows the same as generated commands, it
// leads, and a connection that the server only closed weighs less than a reply that it should not have given.
func (f *Finding) gravity() int {
	generated := 0
	switch {
	case f.NoScriptReason != "":
		generated = 4
	case f.File == "":
		generated = 2
	}
	return generated + min(len(f.ConnectionEnd), 1)
}

// FindingsOf returns the findings of one check as [Report.Findings] has them, those without evidence last.
func (r *Report) FindingsOf(c *Check) []Finding {
	var findings []Finding
	for _, f := range c.Findings {
		findings = append(findings, r.fillClause(c.fillFinding(f)))
	}
	for _, cv := range c.Clauses {
		if cv.Verdict.IsBreach() && !mentions(findings, cv.ID) {
			finding := Finding{Clause: cv.ID, Level: cv.Level, Verdict: cv.Verdict, Evidence: Evidence{Actual: cv.Cause}}
			findings = append(findings, r.fillClause(c.fillFinding(finding)))
		}
	}
	if c.Verdict.IsBreach() && len(findings) == 0 {
		findings = append(findings, c.fillFinding(Finding{Verdict: c.Verdict, Evidence: Evidence{Actual: c.Cause}}))
	}
	return findings
}

// verdicts returns the verdicts of the check: on its clauses or, if it names none, its own, which has no clause.
func (c *Check) verdicts() []ClauseVerdict {
	if len(c.Clauses) > 0 {
		return c.Clauses
	}
	return []ClauseVerdict{c.clauseVerdict()}
}

// clauseVerdict returns the verdict of the check as that on a clause without a name.
func (c *Check) clauseVerdict() ClauseVerdict {
	return ClauseVerdict{
		Verdict: c.Verdict, Cause: c.Cause, Reason: c.Reason, Provide: c.Provide, KnownLine: c.KnownLine, Runs: c.Runs,
	}
}

// fillFinding fills in what f leaves to the check that holds it.
func (c *Check) fillFinding(f Finding) Finding {
	f.Check, f.File = cmp.Or(f.Check, c.ID), cmp.Or(f.File, c.File)
	f.Frequency = cmp.Or(f.Frequency, join(c.frequency(f.Verdict, f.Clause), c.stability()))
	return f
}

// fillClause fills in what the catalogue knows about the clause of f.
func (r *Report) fillClause(f Finding) Finding {
	if c := r.clauseByID(f.Clause); c != nil {
		f.Level, f.Statement, f.Harm = cmp.Or(f.Level, c.Level), cmp.Or(f.Statement, c.Statement), cmp.Or(f.Harm, c.Harm)
		f.Fix = cmp.Or(f.Fix, c.Fix)
	}
	return f
}

// clauseByID returns the clause with an id, nil if there is none.
func (r *Report) clauseByID(id string) *Clause {
	return Find(r.Clauses, func(c *Clause) bool { return id != "" && c.ID == id })
}

// checkByID returns the check with an id, an empty one if there is none.
func (r *Report) checkByID(id string) *Check {
	if c := Find(r.Checks, func(c *Check) bool { return c.ID == id }); c != nil {
		return c
	}
	return &Check{}
}

func mentions(findings []Finding, clause string) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Clause == clause })
}

// groupSymptoms groups findings that have their place and what was received there in common, in the order of the first
// of each. The first of a group is the worst; each clause is in it once.
func groupSymptoms(all []Finding) [][]Finding {
	type place struct {
		check, file, expected, actual, clause string
		line, col                             int
	}
	groups := groupBy(all, func(f *Finding) place {
		clause := ""
		if f.NoScriptReason != "" { // no place of its own: two clauses are two symptoms, however alike
			clause = f.Clause
		}
		return place{f.Check, f.File, f.Expected, f.Actual, clause, f.Line, f.Col}
	})
	for i, group := range groups {
		groups[i] = nil
		for _, f := range group {
			if f.Clause == "" || !mentions(groups[i], f.Clause) {
				groups[i] = append(groups[i], f)
			}
		}
	}
	return groups
}

// runFindings returns what the groups of symptoms break: the findings of the run, the worst first, without the known
// ones.
func runFindings(groups [][]Finding) []RunFinding {
	var all []symptomFinding
	for i, group := range groups {
		for _, f := range dropKnown(group) {
			all = append(all, symptomFinding{f, i})
		}
	}
	deaths := deathsOf(all)
	var findings []RunFinding
	for _, members := range groupBy(all, deaths.keyOf) {
		first := members[max(0, slices.IndexFunc(members, func(f symptomFinding) bool { return f.Clause != "" }))]
		b := RunFinding{
			Clause: first.Clause, Level: first.Level, Statement: first.Statement, Verdict: first.Verdict, Harm: first.Harm,
		}
		if len(deaths[first.Death]) > deathLimit {
			b.Clause, b.Level, b.Statement = "", "", "the server died: "+first.Death
		}
		if b.Verdict == Crash && b.Clause == "" {
			b.Statement = cmp.Or(b.Statement, text.FirstLine(first.Actual)) // what died, behind what
		}
		for _, f := range members {
			b.Verdict = Worst(b.Verdict, f.Verdict)
			b.Checks, b.SymptomIndexes = addUnique(b.Checks, f.Check), addUnique(b.SymptomIndexes, f.symptomIndex)
		}
		findings = append(findings, b)
	}
	slices.SortStableFunc(findings, func(a, b RunFinding) int {
		return cmp.Or(harmRank(a.Harm)-harmRank(b.Harm), a.Verdict.rank()-b.Verdict.rank())
	})
	return findings
}

// groupBy puts the values with the same key together, in the order of the first of each.
func groupBy[T any, K comparable](all []T, key func(*T) K) [][]T {
	var groups [][]T
	at := map[K]int{}
	for i := range all {
		k := key(&all[i])
		if _, ok := at[k]; !ok {
			at[k], groups = len(groups), append(groups, nil)
		}
		groups[at[k]] = append(groups[at[k]], all[i])
	}
	return groups
}

// addUnique returns a list with a value in it.
func addUnique[T comparable](list []T, value T) []T {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

// Signature returns what is the same of f in every run: what was received, or how it differs, and what was expected. It
// has one line; see MaskVolatile for what is replaced in it.
func (f *Finding) Signature() string {
	if len(f.Differences) > 0 {
		return beginning(strings.Join(f.Differences, "; "), 2*signatureLimit)
	}
	received := beginning(text.FirstLine(f.Actual), signatureLimit)
	if expected := text.FirstLine(f.Expected); expected != "" && received != "" {
		return received + " instead of " + beginning(expected, signatureLimit)
	}
	return received
}

// signatureLimit is how many characters of what was received or expected are in a signature. The rest of a long reply
// depends on where the report has cut it.
const signatureLimit = 80

// beginning returns the first characters of s, stable.
func beginning(s string, limit int) string {
	all := []rune(MaskVolatile(s))
	return strings.TrimSpace(string(all[:min(len(all), limit)]))
}

// unstable holds what differs from run to run, and what stands for it. The order counts.
var unstable = []struct {
	pattern     *regexp.Regexp
	replacement string
}{
	// The names of scripts, of explorations and of loads, also behind an escape such as \r.
	{regexp.MustCompile(`fwp\d{10}[0-9a-f]{4}-\d+-([a-zA-Z_]+)[-0-9]*`), "$$$1"},
	{regexp.MustCompile(`(?:(?:fwp|x)[0-9a-f]{16}|fwpbench-[0-9a-z]+)-[-a-z0-9]+`), "$$name"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)?`), "#time"},
	{regexp.MustCompile(`\b\d{16,}\b(?:[.,]\d+)*`), "##"},
	{regexp.MustCompile(`\b[0-9a-f]*\d[0-9a-f]{15,}\b`), "#"},
	{regexp.MustCompile(`\b(?:\d+(?:\.\d+)? ?(?:ns|us|µs|ms|s|m|h))+\b`), "#time"},
	{regexp.MustCompile(`\d+(?:[.,]\d+)*`), "#"},
}

// MaskVolatile returns s with what differs from run to run replaced: names that the suite made up by the word in them
// ("$queue"), times and durations by "#time", numbers of 16 digits or more, which a float64 need not hold, by "##", and
// other numbers by "#". Spaces are single.
func MaskVolatile(s string) string {
	for _, u := range unstable {
		s = u.pattern.ReplaceAllString(s, u.replacement)
	}
	return text.OneLine(s)
}
