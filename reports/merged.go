package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// MergedSchema is the value of the key "schema" of the JSON of every Merged. Its number grows when a key is removed,
// renamed or changes its meaning.
const MergedSchema = "fwpmerged/1"

// Merged is the sum of several runs of the load generator: what a single run that saw all of them would have recorded.
// It has no rate and no account of jobs, which are those of a run.
type Merged struct {
	// Schema is MergedSchema; WriteJSON sets it, whatever is here.
	Schema string `json:"schema"`
	// Exit is the exit code, and Words what it stands for; WriteJSON sets them.
	Exit    int    `json:"exit_code"`
	Words   string `json:"outcome"`
	Version string `json:"version,omitempty"`
	// Files are the logs and reports that were added up.
	Files []MergedFile `json:"files"`
	// Started is when the first of the runs began, and Took how long it was until the end of the last.
	Started time.Time     `json:"started,omitzero"`
	Took    time.Duration `json:"took_ns"`
	// Ops and Flows are those of a Load, without rates.
	Ops   []LoadOp   `json:"ops"`
	Flows []LoadFlow `json:"flows"`
	// Histograms is the sum as an HdrHistogram log, which Merged can be made from again.
	Histograms string `json:"histograms,omitempty"`
	// Internal is an internal error of the suite; empty if there was none.
	Internal string `json:"internal,omitempty"`
}

// MergedFile is one of the files that were added up.
type MergedFile struct {
	Name string `json:"name"`
	// Runs are the ids of the runs in it; none if it does not name them.
	Runs []string `json:"runs"`
	// CutOff is set if the file has no end: what had been written counts.
	CutOff bool `json:"cut_off,omitempty"`
	// Invalid is why the figures of the file are no results, empty if they are. A log does not know.
	Invalid string `json:"invalid,omitempty"`
}

// Histograms are the histograms of a run, as a report in JSON has them.
type Histograms struct {
	// Log is an HdrHistogram log.
	Log string
	// Invalid is why the run is INVALID, empty if it is not.
	Invalid string
}

// ReadHistograms returns the histograms in the JSON of a Load or of a Merged. The error says why there are none.
func ReadHistograms(data []byte) (Histograms, error) {
	var r struct {
		Schema     string       `json:"schema"`
		Histograms string       `json:"histograms"`
		Validity   *Validity    `json:"validity"`
		Files      []MergedFile `json:"files"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return Histograms{}, fmt.Errorf("not a report in JSON: %w", err)
	}
	h := Histograms{Log: r.Histograms}
	switch {
	case r.Schema != LoadSchema && r.Schema != MergedSchema:
		return h, fmt.Errorf("its schema is %q, and %q and %q can be merged", r.Schema, LoadSchema, MergedSchema)
	case h.Log == "":
		return h, fmt.Errorf("it has no histograms: nothing was measured in its run")
	case r.Schema == MergedSchema:
		h.Invalid = invalidAmong(r.Files)
	case r.Validity == nil:
		h.Invalid = "the run was not evaluated"
	case !r.Validity.Valid:
		h.Invalid = strings.TrimPrefix((&Load{Validity: *r.Validity}).invalid(), "INVALID: ")
	}
	return h, nil
}

// invalidAmong returns why files are INVALID, for the first of them.
func invalidAmong(files []MergedFile) string {
	for _, f := range files {
		if f.Invalid != "" {
			return fmt.Sprintf("%s: %s", f.Name, f.Invalid)
		}
	}
	return ""
}

// decide returns the outcome of merging.
func (m *Merged) decide() outcome {
	invalid := 0
	for _, f := range m.Files {
		if f.Invalid != "" {
			invalid++
		}
	}
	files := text.Count(len(m.Files), "file")
	return decide([]claim{
		claimed(ExitInternal, m.Internal != "", "internal error: "+m.Internal),
		claimed(ExitInconclusive, invalid > 0, fmt.Sprintf("INVALID: the runs of %d of %s are", invalid, files)),
		claimed(ExitWell, true, files+" merged"),
	})
}

// Outcome returns the exit code, and what it stands for in one line of words.
func (m *Merged) Outcome() (code int, words string) {
	decided := m.decide()
	return decided.code, decided.words
}

// WriteJSON writes m as one indented JSON object and a final newline, as merged.schema.json describes it.
func (m *Merged) WriteJSON(w io.Writer) error {
	whole := *m
	whole.Schema, whole.Started = MergedSchema, m.Started.UTC().Round(0)
	whole.Exit, whole.Words = m.Outcome()
	whole.Files, whole.Ops, whole.Flows = slices.Clone(list(m.Files)), list(m.Ops), list(m.Flows)
	for i := range whole.Files {
		whole.Files[i].Runs = list(whole.Files[i].Runs)
	}
	return writeJSON(w, &whole)
}

// Page returns m for people: the files, the commands, and their times. Times of an INVALID run are there only if
// o.ShowInvalid is set.
func (m *Merged) Page(o PageOptions) Page {
	var p Page
	p.section("FILES", "")
	t := Table{}
	for _, f := range m.Files {
		t.Rows = append(t.Rows, f.row())
	}
	p.add(t)
	sum := &Load{Ops: m.Ops, Flows: m.Flows, Plan: LoadPlan{Open: true}}
	if invalid := invalidAmong(m.Files); invalid == "" || o.ShowInvalid {
		if invalid != "" {
			p.ofInvalid()
		}
		p.merged(sum, o)
	} else {
		p.add(Heading{1, Styled(Bad, "INVALID")}, Prose{wordsOf([]string{
			"The times of an INVALID run are no results, and neither is a sum with them. Leave the file out, or give " +
				"--show-invalid to look for the cause."})})
		p.errors(sum)
	}
	p.conclusion("the runs took "+short(m.Took)+began(m.Started), m.decide())
	return p
}

// row returns the row of a file: its name, its runs, and what is to be known about it.
func (f *MergedFile) row() Row {
	runs := text.Count(len(f.Runs), "run")
	switch len(f.Runs) {
	case 0:
		runs = "no name of a run"
	case 1:
		runs = "run " + f.Runs[0]
	}
	row := Row{Cells: Cells(f.Name, runs).Cells}
	if f.Invalid != "" {
		row.Detail = append(row.Detail, Styled(Bad, "INVALID: "+text.OneLine(f.Invalid)))
	}
	if f.CutOff {
		row.Detail = append(row.Detail, Styled(Caution, "It has no end: the run that wrote it was cut off; what it had "+
			"written by then counts."))
	}
	return row
}

// merged appends the commands and the times of a sum.
func (p *Page) merged(l *Load, o PageOptions) {
	p.section("COMMANDS", "those of all runs")
	t := Table{Columns: []Column{
		{Width: opWidth}, {Title: "answered", Right: true, Width: 13}, {Title: "errors", Right: true, Width: 8},
	}}
	for i := range l.Ops {
		op := &l.Ops[i]
		if op.Count+op.errors() == 0 {
			continue
		}
		row := Cells(opWords(op.Op), text.Grouped(op.Count))
		row.Cells, row.Detail = append(row.Cells, op.errorCount()), kinds(op.Errors)
		t.Rows = append(t.Rows, row)
	}
	p.add(t)
	p.times(l)
	if o.Figures {
		p.timesFigures(l)
	}
}

// Suite returns m as cases, one for each file: whether its figures are results.
func (m *Merged) Suite(ExitOptions) Suite {
	s := Suite{Name: "fwpbench merge", Version: m.Version, Started: m.Started, Took: m.Took}
	var names []string
	for _, f := range m.Files {
		names = append(names, path.Base(strings.ReplaceAll(f.Name, `\`, "/")))
	}
	s.Target = strings.Join(names, ", ")
	s.Code, s.Words = m.Outcome()
	for i, f := range m.Files {
		c := Case{Class: "merge", Name: fmt.Sprintf("the figures of file %d are valid: %s", i+1, f.Name), Kind: "valid"}
		if f.Invalid != "" {
			c.State, c.Kind, c.Message = CaseErrored, "INVALID", f.Invalid
		}
		s.add(c)
	}
	return s
}
