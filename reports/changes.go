package reports

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// ChangesSchema is the Schema of every Changes.
const ChangesSchema = "fwpchanges/1"

// Changes is what differs between the reports of several runs, in the order in which they were given. What a file of
// known findings says of them does not count.
type Changes struct {
	Head
	// Runs are the reports.
	Runs []ChangedRun `json:"runs"`
	// Compared is how many clauses of checks were evaluated in the first and in the last of them.
	Compared int `json:"compared"`
	// Changes has the worst first.
	Changes []Change `json:"changes"`

	// reports are what was compared; only pages with pictures have them.
	reports []*Report
}

// ChangedRun is one of the reports.
type ChangedRun struct {
	Name      string          `json:"name"`
	Target    Target          `json:"target"`
	Version   string          `json:"version,omitempty"`
	StartTime time.Time       `json:"started,omitzero"`
	Findings  map[Verdict]int `json:"findings"`
	// Outcome is what the exit code of the run stands for, in one line of words.
	Outcome string `json:"outcome"`
}

// ChangeKind is how the last run differs from the first.
type ChangeKind string

// The kinds.
const (
	Appeared    ChangeKind = "appeared"        // a finding that was none
	Changed     ChangeKind = "changed"         // another verdict or another symptom
	Unevaluated ChangeKind = "not evaluated"   // the last run has no result
	Disappeared ChangeKind = "went"            // a finding that is none
	Evaluated   ChangeKind = "evaluated"       // the first run had no result
	Varied      ChangeKind = "in between only" // first and last are the same
)

// changeRow is a row of changeKinds.
type changeRow struct {
	kind  ChangeKind
	style Style
	words string
}

// changeKinds holds the kinds, the worst first, with their style and what stands in their section of a page.
var changeKinds = [...]changeRow{
	{Appeared, Bad, "findings of the last run, not of the first"},
	{Changed, Caution, "the verdict or the symptom changed"},
	{Unevaluated, Unclear, "the last run has no result"},
	{Varied, Unclear, "the first and the last run agree"},
	{Disappeared, Good, "findings of the first run, not of the last"},
	{Evaluated, Optional, "the first run had no result"},
}

// rank is the place of a kind in changeKinds.
func (k ChangeKind) rank() int {
	return slices.IndexFunc(changeKinds[:], func(row changeRow) bool { return row.kind == k })
}

// Change is a clause of a check that differs between runs, or a check that names no clause.
type Change struct {
	Kind   ChangeKind `json:"kind"`
	Check  string     `json:"check"`
	Clause string     `json:"clause,omitempty"`
	// Verdicts has one for each run; "not selected" where the check or its clause is not in the report.
	Verdicts []Verdict `json:"verdicts"`
	// Before and AfterCommands are the signatures of the first finding in the first run, and in the last one.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// IsWorse is set if the verdict of the last run is worse than that of the first: Worst decides.
	IsWorse bool `json:"worse,omitempty"`
}

// Compare returns what differs between the reports, of which there are two or more; names has one for each.
func Compare(names []string, all []*Report) *Changes {
	c := &Changes{Runs: []ChangedRun{}, Changes: []Change{}, reports: all}
	var keys []changeKey
	results := make([]map[changeKey]changeResult, len(all))
	for i, r := range all {
		results[i] = r.collectResults(&keys)
		words := r.Outcome(ExitOptions{}).Words
		run := ChangedRun{names[i], r.Target, r.Version, r.StartTime.UTC().Round(0), map[Verdict]int{}, words}
		for _, b := range runFindings(groupSymptoms(clearKnownLines(r.Findings()))) {
			run.Findings[b.Verdict]++
		}
		c.Runs = append(c.Runs, run)
	}
	slices.SortFunc(keys, func(a, b changeKey) int {
		return cmp.Or(strings.Compare(a.check, b.check), strings.Compare(a.clause, b.clause))
	})
	first, last := all[0].Findings(), all[len(all)-1].Findings()
	for _, key := range slices.Compact(keys) {
		if !isChance(key, all, first, last) {
			c.add(key, results)
		}
	}
	slices.SortStableFunc(c.Changes, func(a, b Change) int {
		return cmp.Or(a.Kind.rank()-b.Kind.rank(), a.last().rank()-b.last().rank())
	})
	return c
}

// isChance reports whether a difference would mean nothing: a check that generates what it does finds some of what is
// wrong in each run, so what it shows of a clause counts only if the first or the last run has no finding of that
// clause.
func isChance(key changeKey, all []*Report, first, last []Finding) bool {
	generates := func(r *Report) bool {
		return Find(r.Checks, func(c *Check) bool { return c.ID == key.check && c.File == "" }) != nil
	}
	return key.clause != "" && mentions(first, key.clause) && mentions(last, key.clause) &&
		slices.ContainsFunc(all, generates)
}

// changeKey is what is compared.
type changeKey struct{ check, clause string }

// changeResult is the result of one run for it.
type changeResult struct {
	verdict    Verdict
	signatures []string
}

// clearKnownLines returns findings as if no file of known findings had been there.
func clearKnownLines(all []Finding) []Finding {
	all = slices.Clone(all)
	for i := range all {
		all[i].KnownLine = 0
	}
	return all
}

// collectResults returns the results of a run, and adds what they are about to keys.
func (r *Report) collectResults(keys *[]changeKey) map[changeKey]changeResult {
	results := map[changeKey]changeResult{}
	for i := range r.Checks {
		c := &r.Checks[i]
		for _, cv := range c.verdicts() {
			results[changeKey{c.ID, cv.ID}] = changeResult{verdict: cv.Verdict}
		}
		for _, f := range r.FindingsOf(c) {
			key := changeKey{c.ID, f.Clause}
			result, ok := results[key]
			if !ok {
				result.verdict = f.Verdict
			}
			result.signatures = addUnique(result.signatures, f.Signature())
			results[key] = result
		}
	}
	*keys = slices.AppendSeq(*keys, maps.Keys(results))
	return results
}

// add compares the results of the runs for one clause of a check.
func (c *Changes) add(key changeKey, results []map[changeKey]changeResult) {
	change := Change{Check: key.check, Clause: key.clause}
	for _, byKey := range results {
		result, ok := byKey[key]
		if !ok {
			result.verdict = NotSelected
		}
		change.Verdicts = append(change.Verdicts, result.verdict)
	}
	first, last := results[0][key], results[len(results)-1][key]
	first.verdict, last.verdict = change.first(), change.last()
	if first.verdict.IsDecided() && last.verdict.IsDecided() {
		c.Compared++
	}
	if change.Kind = change.classify(first, last); change.Kind == "" {
		return
	}
	change.Before, change.After = strings.Join(first.signatures, "; "), strings.Join(last.signatures, "; ")
	change.IsWorse = last.verdict != first.verdict && Worst(first.verdict, last.verdict) == last.verdict
	c.Changes = append(c.Changes, change)
}

func (c *Change) first() Verdict { return c.Verdicts[0] }
func (c *Change) last() Verdict  { return c.Verdicts[len(c.Verdicts)-1] }

// classify returns how the last result differs from the first; empty if it does not.
func (c *Change) classify(first, last changeResult) ChangeKind {
	isVaried := func(v Verdict) bool { return v.IsBreach() != last.verdict.IsBreach() && v.IsDecided() }
	switch {
	case last.verdict.IsBreach() && !first.verdict.IsBreach():
		return Appeared
	case last.verdict.IsBreach():
		if first.verdict != last.verdict || !slices.Equal(slices.Sorted(slices.Values(first.signatures)),
			slices.Sorted(slices.Values(last.signatures))) {
			return Changed
		}
	case first.verdict.IsBreach() && last.verdict.IsDecided():
		return Disappeared
	case first.verdict.IsDecided() && !last.verdict.IsDecided():
		return Unevaluated
	case !first.verdict.IsDecided() && last.verdict.IsDecided():
		return Evaluated
	}
	if slices.ContainsFunc(c.Verdicts, isVaried) && first.verdict.IsDecided() {
		return Varied
	}
	return ""
}

// fails reports whether the change makes the exit code 1: a finding that counts appeared, or became worse.
func (c *Change) fails(o ExitOptions) bool {
	return o.isFailure(c.last()) && (c.Kind == Appeared || c.Kind == Changed && c.IsWorse)
}

// Outcome returns the exit code, and what it stands for in one line of words. A finding that appeared, or changed to a
// worse verdict, is exit code 1.
func (c *Changes) Outcome(o ExitOptions) Outcome {
	counts := map[ChangeKind]int{}
	hasFailure := false
	for i := range c.Changes {
		change := &c.Changes[i]
		counts[change.Kind]++
		hasFailure = hasFailure || change.fails(o)
	}
	var parts []string
	for _, row := range changeKinds {
		if n := counts[row.kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, row.kind))
		}
	}
	words := JoinWith(": ", text.Count(len(c.Changes), "change"), strings.Join(parts, ", "))
	return Decide(append(c.Claims(words, ""),
		NewClaim(ExitFindings, hasFailure, words),
		NewClaim(ExitInconclusive, c.Compared == 0, "nothing was evaluated in both the first and the last run"),
		NewClaim(ExitWell, true, words+"; "+text.Count(c.Compared, "result")+" compared"),
	))
}

// WriteJSON writes c as one indented JSON object and a final newline, as changes.schema.json describes it.
func (c *Changes) WriteJSON(w io.Writer, o ExitOptions) error {
	output := *c
	output.Head = c.WithOutcome(ChangesSchema, c.Outcome(o))
	output.Runs, output.Changes = EmptyIfNil(c.Runs), EmptyIfNil(c.Changes)
	return WriteJSON(w, &output)
}

// Page returns c for people: the runs, each change in a line, and what was received before and after.
func (c *Changes) Page(o PageOptions) Page {
	var p Page
	runs := Table{}
	for i, r := range c.Runs {
		runs.Rows = append(runs.Rows, Cells(fmt.Sprint(i+1), r.Name, r.Target.String(),
			strings.TrimPrefix(StartWords(r.StartTime), ", started "), cmp.Or(verdictList(r.Findings), r.Outcome)))
	}
	p.Section("RUNS", "")
	p.Add(runs)
	if o.Figures && len(c.reports) > 0 {
		p.Section("CLAUSES", "each clause, with its verdict in each report")
		p.Add(matrixOf(c.names(), false, c.reports))
	}
	for _, row := range changeKinds {
		p.changes(c, row)
	}
	p.Conclude(text.Count(len(c.Runs), "report"), c.Outcome(o.Exit))
	return p
}

// names returns short names of the runs: their numbers, and their files without folders.
func (c *Changes) names() []string {
	var names []string
	for i, r := range c.Runs {
		names = append(names, fmt.Sprintf("%d %s", i+1, path.Base(strings.ReplaceAll(r.Name, `\`, "/"))))
	}
	return names
}

// changes appends the changes of one kind.
func (p *Page) changes(c *Changes, kind changeRow) {
	t := Table{Wrap: true}
	for _, change := range c.Changes {
		if change.Kind != kind.kind {
			continue
		}
		var verdicts []string
		for _, v := range change.Verdicts {
			verdicts = append(verdicts, v.String())
		}
		t.Rows = append(t.Rows, Row{Cells: []Text{
			PlainText(change.Clause), PlainText(change.Check), StyledText(kind.style, strings.Join(verdicts, " > ")),
		}})
		for _, side := range [][2]string{{"before", change.Before}, {"after", change.After}} {
			if side[1] != "" && (kind.kind == Appeared || kind.kind == Changed) {
				t.Rows = append(t.Rows, Cells("", side[0], side[1]))
			}
		}
	}
	p.TableSection(strings.ToUpper(string(kind.kind)), kind.words, t)
}

// Suite returns c as cases: one for each change, which fails if it makes the exit code 1.
func (c *Changes) Suite(o ExitOptions) Suite {
	s := NewSuite("fwpcheck compare", &c.Head, c.Outcome(o))
	for _, r := range c.Runs {
		s.Target = strings.TrimPrefix(s.Target+", "+r.Name, ", ")
	}
	s.AddRun("the comparison", s.Code == ExitInconclusive)
	for i := range c.Changes {
		change := &c.Changes[i]
		item := newCase(change.Check, change.Clause)
		item.Kind, item.Message = string(change.Kind), join(change.Before, change.After)
		if change.fails(o) {
			item.State = CaseFailed
		}
		s.Add(item)
	}
	return s
}
