package reports

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// ChangesSchema is the value of the key "schema" of the JSON of every Changes. Its number grows when a key is removed,
// renamed or changes its meaning.
const ChangesSchema = "fwpchanges/1"

// Changes is what differs between the reports of several runs, in the order in which they were given. What a file of
// known findings says of them does not count.
type Changes struct {
	// Schema is ChangesSchema; WriteJSON sets it, whatever is here.
	Schema string `json:"schema"`
	// Exit is the exit code, and Words what it stands for; WriteJSON sets them.
	Exit    int    `json:"exit_code"`
	Words   string `json:"outcome"`
	Version string `json:"version,omitempty"`
	// Runs are the reports.
	Runs []ChangedRun `json:"runs"`
	// Compared is how many clauses of checks were evaluated in the first and in the last of them.
	Compared int `json:"compared"`
	// Changes has the worst first.
	Changes []Change `json:"changes"`

	// reports are what was compared, without what is known; only pages with pictures have them.
	reports []*Report
}

// ChangedRun is one of the reports.
type ChangedRun struct {
	Name     string          `json:"name"`
	Target   Target          `json:"target"`
	Version  string          `json:"version,omitempty"`
	Started  time.Time       `json:"started,omitzero"`
	Findings map[Verdict]int `json:"findings"`
}

// ChangeKind is how the last run differs from the first.
type ChangeKind string

// The kinds.
const (
	Appeared    ChangeKind = "appeared"        // a finding that was none
	Changed     ChangeKind = "changed"         // another verdict or another symptom
	Unevaluated ChangeKind = "not evaluated"   // the last run has no result
	Went        ChangeKind = "went"            // a finding that is none
	Evaluated   ChangeKind = "evaluated"       // the first run had no result
	Varied      ChangeKind = "in between only" // first and last are the same
)

// changeKinds holds the kinds, the worst first, and their style.
var changeKinds = [...]struct {
	kind  ChangeKind
	style Style
}{
	{Appeared, Bad}, {Changed, Caution}, {Unevaluated, Unclear}, {Varied, Unclear}, {Went, Good}, {Evaluated, Optional},
}

// Change is a clause of a check that differs between runs, or a check that names no clause.
type Change struct {
	Kind   ChangeKind `json:"kind"`
	Check  string     `json:"check"`
	Clause string     `json:"clause,omitempty"`
	// Verdicts has one for each run; "not selected" where the check or its clause is not in the report.
	Verdicts []Verdict `json:"verdicts"`
	// Before and After are the signatures of the first finding in the first run, and in the last one.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Worse is set if the verdict of the last run is worse than that of the first: Worst decides.
	Worse bool `json:"worse,omitempty"`
}

// Compare returns what differs between the reports, of which there are two or more; names has one for each.
func Compare(names []string, all []*Report) *Changes {
	c := &Changes{Runs: []ChangedRun{}, Changes: []Change{}}
	var keys []changeKey
	results := make([]map[changeKey]changeResult, len(all))
	for i, r := range all {
		results[i] = r.results(&keys)
		run := ChangedRun{names[i], r.Target, r.Version, r.Started.UTC().Round(0), map[Verdict]int{}}
		for _, b := range broken(symptoms(unknown(r.Findings()))) {
			run.Findings[b.Verdict]++
		}
		c.Runs, c.reports = append(c.Runs, run), append(c.reports, r.unheld())
	}
	slices.SortFunc(keys, func(a, b changeKey) int {
		return cmp.Or(strings.Compare(a.check, b.check), strings.Compare(a.clause, b.clause))
	})
	draw := newDraws(all)
	for _, key := range slices.Compact(keys) {
		if !draw.chance(key) {
			c.add(key, results)
		}
	}
	rank := func(k ChangeKind) int {
		for i := range changeKinds {
			if changeKinds[i].kind == k {
				return i
			}
		}
		return len(changeKinds)
	}
	slices.SortStableFunc(c.Changes, func(a, b Change) int {
		return cmp.Or(rank(a.Kind)-rank(b.Kind), a.last().rank()-b.last().rank())
	})
	return c
}

// draws is what Compare needs to know about checks that generate what they do.
type draws struct {
	generates map[string]bool // by check
	found     map[string]bool // by clause: the first and the last run have findings of it
}

func newDraws(all []*Report) draws {
	d := draws{map[string]bool{}, map[string]bool{}}
	for _, r := range all {
		for i := range r.Checks {
			d.generates[r.Checks[i].ID] = d.generates[r.Checks[i].ID] || r.Checks[i].File == ""
		}
	}
	first := map[string]bool{}
	for _, f := range all[0].Findings() {
		first[f.Clause] = true
	}
	for _, f := range all[len(all)-1].Findings() {
		d.found[f.Clause] = first[f.Clause]
	}
	return d
}

// chance reports whether a difference would mean nothing: a check that generates what it does finds some of what is
// wrong in each run, so what it shows of a clause counts only if the first or the last run has no finding of that
// clause.
func (d draws) chance(key changeKey) bool {
	return key.clause != "" && d.generates[key.check] && d.found[key.clause]
}

// changeKey is what is compared.
type changeKey struct{ check, clause string }

// changeResult is the result of one run for it.
type changeResult struct {
	verdict    Verdict
	signatures []string
}

// unheld returns a report as if no file of known findings had been there.
func (r *Report) unheld() *Report {
	plain := *r
	plain.Expectations, plain.Checks, plain.Clauses = nil, slices.Clone(r.Checks), slices.Clone(r.Clauses)
	for i := range plain.Checks {
		c := &plain.Checks[i]
		c.Known, c.Findings, c.Clauses = 0, unknown(c.Findings), slices.Clone(c.Clauses)
		for k := range c.Clauses {
			c.Clauses[k].Known = 0
		}
	}
	for i := range plain.Clauses {
		plain.Clauses[i].Known = 0
	}
	return &plain
}

// unknown returns findings as if no file of known findings had been there.
func unknown(all []Finding) []Finding {
	all = slices.Clone(all)
	for i := range all {
		all[i].Known = 0
	}
	return all
}

// results returns the results of a run, and adds what they are about to keys.
func (r *Report) results(keys *[]changeKey) map[changeKey]changeResult {
	results := map[changeKey]changeResult{}
	for i := range r.Checks {
		c := &r.Checks[i]
		set := func(clause string, v Verdict) {
			results[changeKey{c.ID, clause}] = changeResult{verdict: v}
		}
		for _, cv := range c.Clauses {
			set(cv.ID, cv.Verdict)
		}
		if len(c.Clauses) == 0 {
			set("", c.Verdict)
		}
		for _, f := range r.FindingsOf(c) {
			key := changeKey{c.ID, f.Clause}
			one, some := results[key]
			if !some {
				one.verdict = f.Verdict
			}
			if s := f.Signature(); !slices.Contains(one.signatures, s) {
				one.signatures = append(one.signatures, s)
			}
			results[key] = one
		}
	}
	for key := range results {
		*keys = append(*keys, key)
	}
	return results
}

// add compares the results of the runs for one clause of a check.
func (c *Changes) add(key changeKey, results []map[changeKey]changeResult) {
	change := Change{Check: key.check, Clause: key.clause}
	for _, of := range results {
		one, some := of[key]
		if !some {
			one.verdict = NotSelected
		}
		change.Verdicts = append(change.Verdicts, one.verdict)
	}
	first, last := results[0][key], results[len(results)-1][key]
	first.verdict, last.verdict = change.first(), change.last()
	if first.verdict.Decided() && last.verdict.Decided() {
		c.Compared++
	}
	if change.Kind = change.kind(first, last); change.Kind == "" {
		return
	}
	change.Before, change.After = strings.Join(first.signatures, "; "), strings.Join(last.signatures, "; ")
	change.Worse = last.verdict != first.verdict && Worst(first.verdict, last.verdict) == last.verdict
	c.Changes = append(c.Changes, change)
}

func (c *Change) first() Verdict { return c.Verdicts[0] }
func (c *Change) last() Verdict  { return c.Verdicts[len(c.Verdicts)-1] }

// kind returns how the last result differs from the first; empty if it does not.
func (c *Change) kind(first, last changeResult) ChangeKind {
	varied := func(v Verdict) bool { return v.Breach() != last.verdict.Breach() && v.Decided() }
	switch {
	case last.verdict.Breach() && !first.verdict.Breach():
		return Appeared
	case last.verdict.Breach():
		if first.verdict != last.verdict || !slices.Equal(slices.Sorted(slices.Values(first.signatures)),
			slices.Sorted(slices.Values(last.signatures))) {
			return Changed
		}
	case first.verdict.Breach() && last.verdict.Decided():
		return Went
	case first.verdict.Decided() && !last.verdict.Decided():
		return Unevaluated
	case !first.verdict.Decided() && last.verdict.Decided():
		return Evaluated
	}
	if slices.ContainsFunc(c.Verdicts, varied) && first.verdict.Decided() {
		return Varied
	}
	return ""
}

// decide returns the outcome of the comparison.
func (c *Changes) decide(o ExitOptions) outcome {
	counts := map[ChangeKind]int{}
	bad := false
	for i := range c.Changes {
		change := &c.Changes[i]
		counts[change.Kind]++
		counted := change.last() == Fail || change.last() == Crash || o.Strict && change.last() == Warn
		bad = bad || counted && (change.Kind == Appeared || change.Kind == Changed && change.Worse)
	}
	var parts []string
	for _, k := range changeKinds {
		if n := counts[k.kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, k.kind))
		}
	}
	words := text.Count(len(c.Changes), "change")
	if len(parts) > 0 {
		words += ": " + strings.Join(parts, ", ")
	}
	return decide([]claim{
		claimed(ExitFindings, bad, words),
		claimed(ExitInconclusive, c.Compared == 0, "nothing was evaluated in both the first and the last run"),
		claimed(ExitWell, true, words+"; "+text.Count(c.Compared, "result")+" compared"),
	})
}

// Outcome returns the exit code, and what it stands for in one line of words. A finding that appeared, or changed to a
// worse verdict, is exit code 1.
func (c *Changes) Outcome(o ExitOptions) (code int, words string) {
	decided := c.decide(o)
	return decided.code, decided.words
}

// WriteJSON writes c as one indented JSON object and a final newline, as changes.schema.json describes it.
func (c *Changes) WriteJSON(w io.Writer, o ExitOptions) error {
	whole := *c
	whole.Schema = ChangesSchema
	whole.Exit, whole.Words = c.Outcome(o)
	whole.Runs, whole.Changes = list(c.Runs), list(c.Changes)
	return writeJSON(w, &whole)
}

// Page returns c for people: the runs, each change in a line, and what was received before and after.
func (c *Changes) Page(o PageOptions) Page {
	var p Page
	runs := Table{}
	for i, r := range c.Runs {
		runs.Rows = append(runs.Rows, Cells(fmt.Sprint(i+1), r.Name, named(r.Target.URL, r.Target.Chosen),
			strings.TrimPrefix(began(r.Started), ", started "), cmp.Or(listed(r.Findings), "no findings")))
	}
	p.section("RUNS", "")
	p.add(runs)
	if o.Figures && len(c.reports) > 0 {
		p.section("CLAUSES", "the verdict on each, in each report")
		p.add(MatrixOf(c.names(), c.reports...))
	}
	for _, k := range changeKinds {
		p.changes(c, k.kind, k.style)
	}
	p.conclusion(text.Count(len(c.Runs), "report"), c.decide(o.Exit))
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

// changeTitles says what stands in each section of a page.
var changeTitles = map[ChangeKind]string{
	Appeared: "findings of the last run that the first did not have", Changed: "another verdict or another symptom",
	Unevaluated: "the last run has no result", Varied: "the first and the last run agree",
	Went: "findings of the first run that the last does not have", Evaluated: "the first run had no result",
}

// changes appends the changes of one kind.
func (p *Page) changes(c *Changes, kind ChangeKind, style Style) {
	t := Table{Wrap: true}
	for i := range c.Changes {
		change := &c.Changes[i]
		if change.Kind != kind {
			continue
		}
		var verdicts []string
		for _, v := range change.Verdicts {
			verdicts = append(verdicts, v.String())
		}
		row := Cells(change.Clause, change.Check, strings.Join(verdicts, " > "))
		row.Cells[2] = Styled(style, strings.Join(verdicts, " > "))
		t.Rows = append(t.Rows, row)
		for _, side := range []struct{ label, text string }{{"before", change.Before}, {"after", change.After}} {
			if side.text != "" && (kind == Appeared || kind == Changed) {
				t.Rows = append(t.Rows, Cells("", side.label, side.text))
			}
		}
	}
	if len(t.Rows) > 0 {
		p.section(strings.ToUpper(string(kind)), changeTitles[kind])
		p.add(t)
	}
}

// Suite returns c as cases: one for each change, which fails if it makes the exit code 1.
func (c *Changes) Suite(o ExitOptions) Suite {
	s := Suite{Name: "fwpcheck compare", Version: c.Version}
	s.Code, s.Words = c.Outcome(o)
	for _, r := range c.Runs {
		s.Target = strings.TrimPrefix(s.Target+", "+r.Name, ", ")
	}
	s.whole("the comparison", s.Code == ExitInconclusive)
	for i := range c.Changes {
		change := &c.Changes[i]
		one := Case{
			Class: cmp.Or(change.Clause, "checks"), Name: change.Check, Check: change.Check, Clause: change.Clause,
			Kind: string(change.Kind), Message: join(change.Before, change.After),
		}
		if change.Clause != "" {
			one.Name += " - " + change.Clause
		}
		only := Changes{Compared: 1, Changes: []Change{*change}}
		if code, _ := only.Outcome(o); code == ExitFindings {
			one.State = CaseFailed
		}
		s.add(one)
	}
	return s
}
