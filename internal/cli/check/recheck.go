package check

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/life"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
)

// reportSchema begins the schema of a report that is evaluated again.
const reportSchema = "fwpcheck/"

// recheckOptions are the flags of `fwpcheck recheck`.
type recheckOptions struct {
	testOptions

	expect expectFlags
	job    string
}

// newRecheck builds `fwpcheck recheck`.
func newRecheck(p process) *cobra.Command {
	o := &recheckOptions{}
	cmd := &cobra.Command{
		Use:   "recheck FILE...|-",
		Short: "Evaluate a saved report or saved histories again",
		Args: func(_ *cobra.Command, args []string) error {
			return errorIf(len(args) == 0, "give the files of a report or of histories, or - for standard input")
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := cmp.Or(o.expect.validate(), o.reportFlags.Validate()); err != nil {
				return err
			}
			return p.recheck(o, args)
		},
	}
	f := o.bindFlags(cmd)
	f.StringVar(&o.expect.name, "expect", "", "compare a report with the known findings in `FILE`")
	f.BoolVar(&o.isStrict, "strict", false, "treat recommendations as requirements: each warn is a finding")
	f.StringArrayVar(&o.require, "require", nil, "exit with code 3 unless `CLAUSE` is evaluated; may be repeated")
	f.StringVar(&o.job, "job", "", "list only the calls of the job with the jid `JID`")
	if err := cmd.RegisterFlagCompletionFunc("job", p.completeJobs); err != nil {
		panic(err) // the flag was declared above
	}
	o.reportFlags.Declare(cmd, "print all checks in the report")
	o.reportFlags.DeclareDetails(cmd)
	return cmd
}

// recheck evaluates files again.
func (p process) recheck(o *recheckOptions, names []string) error {
	if o.job != "" {
		return p.printLife(o, names)
	}
	for _, name := range names {
		data, isReport, err := p.ReadReport(name, reportSchema)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case isReport && len(names) > 1:
			return fmt.Errorf("%s is a report, and recheck takes only one; use fwpcheck compare for several reports", name)
		case isReport:
			return p.recheckReport(o, name, data)
		case name == "-":
			p.In = io.MultiReader(bytes.NewReader(data), p.In)
		}
	}
	if o.expect.name != "" {
		return errors.New("--expect works only with the report of a run, not with histories")
	}
	return p.judge(o, names)
}

// recheckReport evaluates the report of a run again.
func (p process) recheckReport(o *recheckOptions, name string, data []byte) error {
	r, err := reports.ReadJSON(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := o.checkRequired(checkRequirable); err != nil {
		return err
	}
	if r, err = o.applyExpectations(r); err != nil {
		return err
	}
	return o.deliver(p, r)
}

// applyExpectations returns the report, held against the file of --expect if there is one. The server is the one that
// the saved run has found out.
func (o *recheckOptions) applyExpectations(r *reports.Report) (*reports.Report, error) {
	if o.expect.name == "" {
		return r, nil
	}
	all, err := checksOf(registry.Default())
	if err != nil {
		return nil, err
	}
	ids := texts(r.Checks, func(c reports.Check) string { return c.ID })
	e, err := o.expect.read(selection{checks: all}, ids...)
	if err != nil {
		return nil, err
	}
	if r.Expectations != nil {
		e.server.Name, e.server.Version, _ = strings.Cut(r.Expectations.Server, " ")
	}
	return e.judge(r), nil
}

// formatMessage is what a file is that cannot be evaluated again.
const formatMessage = "not a report of fwpcheck run (JSON or HTML), and not a history of fwpbench run --history"

// judge checks the histories of some files.
func (p process) judge(o *recheckOptions, names []string) error {
	all := &reports.Histories{}
	for _, name := range names {
		f := reports.History{Name: name}
		h, err := p.loadHistory(name)
		if err != nil {
			f.Damage = text.OfError(err)
			p.Logf("%s: %s", name, f.Damage)
		}
		if h != nil {
			fillHistory(&f, h)
		}
		all.Files = append(all.Files, f)
	}
	return o.deliver(p, all)
}

// loadHistory reads a history. With an error it returns what is before the damage, nil if that is nothing.
func (p process) loadHistory(name string) (*history.History, error) {
	in := p.In
	if name != "-" {
		file, err := input.Open(name)
		if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
			return nil, pathErr.Err // the caller names the file
		}
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
		in = file
	}
	h, err := history.Load(in)
	if damage, ok := errors.AsType[*history.DamageError](err); ok && damage.Line == 1 {
		return nil, errors.New(formatMessage)
	}
	if err != nil && len(h.Events) == 0 {
		return nil, err
	}
	return h, err
}

// fillHistory fills in what a history shows.
func fillHistory(f *reports.History, h *history.History) {
	report := history.Examine(h)
	f.Events, f.Drained, f.CutTime = len(h.Events), h.Drained, h.CutAt
	f.Jobs, f.Settled, f.Inconclusive = report.Jobs, report.Settled, causes(report.Undecided)
	for _, found := range report.Findings {
		clause := clauseOf(string(found.Breach))
		finding := reports.HistoryFinding{
			Clause: clause.ID, Level: clause.Level, Statement: clause.Statement, JID: found.JID, Description: found.Description,
		}
		for _, other := range found.Or {
			finding.Or = append(finding.Or, registry.Default().ClauseOf(string(other)))
		}
		for _, i := range found.Events {
			e := indexedEvent{i, h.Events[i]}
			finding.Events = append(finding.Events, reports.HistoryEvent{Data: e, Cells: life.Cells(i, &e.Event)})
		}
		f.Findings = append(f.Findings, finding)
	}
	f.Lives = livesOf(recordOf(f.Name, h, &report))
}

// maxJIDs is how many jobs are named whose end is not known for the same reason.
const maxJIDs = 5

// causes counts jobs by the reason why their end is not known.
func causes(undecided []history.Undecided) (all []reports.HistoryCause) {
	for _, job := range undecided {
		i := slices.IndexFunc(all, func(c reports.HistoryCause) bool { return c.Reason == job.Reason })
		if i < 0 {
			i = len(all)
			all = append(all, reports.HistoryCause{Reason: job.Reason})
		}
		cause := &all[i]
		if cause.Jobs++; len(cause.JIDs) < maxJIDs {
			cause.JIDs = append(cause.JIDs, job.JID)
		}
	}
	return all
}

// indexedEvent is an event with its index in the history.
type indexedEvent struct {
	Index int `json:"index"`
	history.Event
}
