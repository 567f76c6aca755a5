package results

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// MergedSchema is the Schema of every Merged.
const MergedSchema = "fwpmerged/1"

// Merged is the sum of several runs of the load generator: what a single run that saw all of them would have recorded.
// It has no rate and no account of jobs, which are those of a run.
type Merged struct {
	reports.Head
	// Files are the logs and reports that were added up.
	Files []MergedFile `json:"files"`
	// Ops and Flows are those of a Load, without rates.
	Ops   []LoadOp   `json:"ops"`
	Flows []LoadFlow `json:"flows"`
	// Histograms is the sum as an HdrHistogram log, which Merged can be made from again.
	Histograms string `json:"histograms,omitempty"`
}

// MergedFile is one of the files that were added up.
type MergedFile struct {
	Name string `json:"name"`
	// Runs are the ids of the runs in it; none if it does not name them.
	Runs []string `json:"runs"`
	// IsCutOff is set if the file has no end: what had been written counts.
	IsCutOff bool `json:"cut_off,omitempty"`
	// Invalid is why the figures of the file are no results, empty if they are. A log does not know.
	Invalid string `json:"invalid,omitempty"`
	// Exit is the exit code of the report, and Words what it stands for; of a log it is not known, and 0.
	Exit  int    `json:"exit_code,omitempty"`
	Words string `json:"outcome,omitempty" from:"target"`
}

// Histograms are the histograms of a run, as a report in JSON has them.
type Histograms struct {
	// Log is an HdrHistogram log.
	Log string
	// Invalid is why the run is INVALID, empty if it is not.
	Invalid string
	// Exit and Words are the outcome of the report.
	Exit  int
	Words string
}

// ReadHistograms returns the histograms in the JSON of a Load or of a Merged. The error says why there are none.
func ReadHistograms(data []byte) (Histograms, error) {
	var r struct {
		Schema     string       `json:"schema"`
		Exit       int          `json:"exit_code"`
		Words      string       `json:"outcome"`
		Histograms string       `json:"histograms"`
		Validity   *Validity    `json:"validity"`
		Files      []MergedFile `json:"files"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return Histograms{}, fmt.Errorf("not a report in JSON: %w", err)
	}
	h := Histograms{Log: r.Histograms, Exit: r.Exit, Words: r.Words}
	switch {
	case r.Schema != LoadSchema && r.Schema != MergedSchema:
		return h, fmt.Errorf("its schema is %q, and %q and %q can be merged", r.Schema, LoadSchema, MergedSchema)
	case h.Log == "":
		return h, fmt.Errorf("it has no histograms, because its run measured nothing")
	case r.Schema == MergedSchema:
		h.Invalid = invalidAmong(r.Files)
	case r.Validity == nil:
		h.Invalid = "the run was not evaluated"
	case !r.Validity.IsValid:
		h.Invalid = strings.TrimPrefix((&Load{Validity: *r.Validity}).invalidWords(), "INVALID: ")
	}
	return h, nil
}

// invalidAmong returns why files are INVALID, for the first of them.
func invalidAmong(files []MergedFile) string {
	if f := reports.Find(files, func(f *MergedFile) bool { return f.Invalid != "" }); f != nil {
		return f.Name + ": " + f.Invalid
	}
	return ""
}

// Outcome returns the exit code, and what it stands for in one line of words.
func (m *Merged) Outcome(reports.ExitOptions) reports.Outcome {
	invalid := sumOf(m.Files, func(f *MergedFile) int { return min(1, len(f.Invalid)) })
	files := text.Count(len(m.Files), "file")
	merged := files + " merged"
	if f := reports.Find(m.Files, func(f *MergedFile) bool { return f.IsCutOff }); f != nil {
		merged += ", of which " + f.Name + " is incomplete"
	}
	claims := append(m.Claims(files, ""), reports.NewClaim(reports.ExitInconclusive, invalid > 0,
		fmt.Sprintf("INVALID: the runs of %d of %s are", invalid, files)))
	for i := range m.Files { // the sum is no better than its files
		f := &m.Files[i]
		claims = append(claims, reports.NewClaim(f.Exit, countsInSum(f.Exit),
			join(merged, f.Name+": "+text.OneLine(f.Words))))
	}
	return reports.Decide(append(claims, reports.NewClaim(reports.ExitWell, true, merged)))
}

// countsInSum reports whether a sum has the exit code of one of its parts: one about the target, and not about how the
// part ended.
func countsInSum(code int) bool {
	return code == reports.ExitLoss || code == reports.ExitFindings || code == reports.ExitInconclusive
}

// WriteJSON writes m as one indented JSON object and a final newline, as merged.schema.json describes it.
func (m *Merged) WriteJSON(w io.Writer, o reports.ExitOptions) error {
	doc := *m
	doc.Head = m.WithOutcome(MergedSchema, m.Outcome(o))
	doc.Files, doc.Ops, doc.Flows = slices.Clone(reports.EmptyIfNil(m.Files)), reports.EmptyIfNil(m.Ops),
		reports.EmptyIfNil(m.Flows)
	for i := range doc.Files {
		doc.Files[i].Runs = reports.EmptyIfNil(doc.Files[i].Runs)
	}
	return reports.WriteJSON(w, &doc)
}

// Page returns m for people: the files, the commands, and their times. Times of an INVALID run are there only if
// o.ShowInvalid is set.
func (m *Merged) Page(o reports.PageOptions) reports.Page {
	p := page{hasPictures: o.Figures}
	p.Section("FILES", "")
	p.Add(reports.Table{Rows: reports.RowsOf(m.Files, (*MergedFile).row)})
	sum := &Load{Ops: m.Ops, Flows: m.Flows, Plan: LoadPlan{IsOpenLoop: true}}
	if invalid := invalidAmong(m.Files); invalid == "" || o.ShowInvalid {
		if invalid != "" {
			p.invalidHeading()
		}
		p.sumTables(sum)
	} else {
		p.entry(1, reports.Bad, "INVALID", "The times of an INVALID run are not results, and neither is a sum that "+
			"includes them. Leave the file out, or give --show-invalid to look for the cause.")
		p.errors(sum)
	}
	p.Conclude("the runs took "+reports.Duration(m.Took)+reports.StartWords(m.StartTime), m.Outcome(o.Exit))
	return p.Page
}

// row returns the row of a file: its name, its runs, and what is to be known about it.
func (f *MergedFile) row() reports.Row {
	runs := text.Count(len(f.Runs), "run")
	switch len(f.Runs) {
	case 0:
		runs = "unnamed run"
	case 1:
		runs = "run " + f.Runs[0]
	}
	row := reports.Cells(f.Name, runs)
	if f.Invalid != "" {
		row.Detail = append(row.Detail, reports.StyledText(reports.Bad, "INVALID: "+text.OneLine(f.Invalid)))
	}
	if f.Exit != reports.ExitWell && f.Invalid == "" {
		row.Detail = append(row.Detail, reports.StyledText(reports.Caution,
			fmt.Sprintf("exit code %d: %s", f.Exit, text.OneLine(f.Words))))
	}
	if f.IsCutOff {
		row.Detail = append(row.Detail, reports.StyledText(reports.Caution,
			"Incomplete: the run that wrote it was cut off; the part before that counts."))
	}
	return row
}

// sumTables appends the commands and the times of a sum.
func (p *page) sumTables(l *Load) {
	p.Section("COMMANDS", "the sum of all runs")
	p.Add(l.commandTable(false))
	p.times(l)
	p.timesFigures(l)
}

// Suite returns m as cases, one for each file: whether its figures are results.
func (m *Merged) Suite(o reports.ExitOptions) reports.Suite {
	s := reports.NewSuite("fwpbench merge", &m.Head, m.Outcome(o))
	var names []string
	for _, f := range m.Files {
		names = append(names, path.Base(strings.ReplaceAll(f.Name, `\`, "/")))
	}
	s.Target, s.Subject = strings.Join(names, ", "), strings.Join(names, " ")
	for i, f := range m.Files {
		c := reports.Case{Class: "merge", Name: fmt.Sprintf("the figures of file %d are valid: %s", i+1, f.Name),
			Kind: "valid"}
		if f.Invalid != "" {
			c.State, c.Kind, c.Message = reports.CaseErrored, "INVALID", f.Invalid
		}
		s.Add(c)
	}
	return s
}

// Join adds a part of the report of one generator to the same part of the report of all: pointers to structs of one
// type. How a field is joined is in its tag join: "sum", "max", "or", or "first" for the first that is not empty. A
// field without it stays as it is, but for those of structs that are embedded.
func Join(sum, part any) {
	to, from := reflect.ValueOf(sum).Elem(), reflect.ValueOf(part).Elem()
	for i := range to.NumField() {
		field, value := to.Field(i), from.Field(i)
		if to.Type().Field(i).Anonymous {
			Join(field.Addr().Interface(), value.Addr().Interface())
		}
		switch to.Type().Field(i).Tag.Get("join") {
		case "sum":
			if field.CanFloat() {
				field.SetFloat(field.Float() + value.Float())
			} else {
				field.SetInt(field.Int() + value.Int())
			}
		case "max":
			field.SetInt(max(field.Int(), value.Int()))
		case "or":
			field.SetBool(field.Bool() || value.Bool())
		case "first":
			if field.IsZero() {
				field.Set(value)
			}
		}
	}
}
