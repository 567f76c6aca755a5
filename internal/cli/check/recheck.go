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

// toolsReport begins the schema of a report that is evaluated again.
const toolsReport = "fwpcheck/"

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
			return refuse(len(args) == 0, "give the files of a report or of histories, or - for standard input")
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := cmp.Or(o.expect.validate(), o.reportFlags.Validate()); err != nil {
				return err
			}
			return p.recheck(o, args)
		},
	}
	f := o.flags(cmd)
	f.StringVar(&o.expect.name, "expect", "", "compare a report with the known findings in `FILE`")
	f.BoolVar(&o.strict, "strict", false, "treat recommendations as requirements: each warn is a finding")
	f.StringArrayVar(&o.require, "require", nil, "exit with code 3 unless `CLAUSE` is evaluated; may be repeated")
	f.StringVar(&o.job, "job", "", "list only the calls of the job with the jid `JID`")
	if err := cmd.RegisterFlagCompletionFunc("job", p.completeJobs); err != nil {
		panic(err) // the flag was declared above
	}
	o.reportFlags.Declare(cmd, "print all checks in the report")
	return cmd
}

// recheck evaluates files again.
func (p process) recheck(o *recheckOptions, names []string) error {
	if o.job != "" {
		return p.lifeOf(o, names)
	}
	for _, name := range names {
		data, some, err := p.ReadReport(name, toolsReport)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case some && len(names) > 1:
			return fmt.Errorf("%s is a report, and recheck takes only one; use fwpcheck compare for several reports", name)
		case some:
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
	if err := o.required(requirable); err != nil {
		return err
	}
	if r, err = o.held(r); err != nil {
		return err
	}
	return o.deliver(p, r)
}

// held returns the report, held against the file of --expect if there is one. The server is the one that the saved
// run has found out.
func (o *recheckOptions) held(r *reports.Report) (*reports.Report, error) {
	if o.expect.name == "" {
		return r, nil
	}
	all, err := checksOf(registry.Default())
	if err != nil {
		return nil, err
	}
	ids := texts(r.Checks, func(c reports.Check) string { return c.ID })
	known, err := o.expect.read(selection{in: all}, ids...)
	if err != nil {
		return nil, err
	}
	if r.Expectations != nil {
		known.server.Name, known.server.Version, _ = strings.Cut(r.Expectations.Server, " ")
	}
	return known.judge(r), nil
}

// unread is what a file is that cannot be evaluated again.
const unread = "not a report of fwpcheck run (JSON or HTML), and not a history of fwpbench run --history"

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
			check(&f, h)
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
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			return nil, failed.Err // the caller names the file
		}
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
		in = file
	}
	h, err := history.Load(in)
	if damage, ok := errors.AsType[*history.DamageError](err); ok && damage.Line == 1 {
		return nil, errors.New(unread)
	}
	if err != nil && len(h.Events) == 0 {
		return nil, err
	}
	return h, err
}

// check fills in what a history shows.
func check(f *reports.History, h *history.History) {
	report := history.Examine(h)
	f.Events, f.Drained, f.Cut = len(h.Events), h.Drained, h.Cut
	f.Jobs, f.Settled, f.Inconclusive = report.Jobs, report.Settled, causes(report.Undecided)
	for _, found := range report.Findings {
		clause := clauseOf(string(found.Breach))
		shown := reports.HistoryFinding{
			Clause: clause.ID, Level: clause.Level, Statement: clause.Statement, JID: found.JID, What: found.What,
		}
		for _, other := range found.Or {
			shown.Or = append(shown.Or, registry.Default().ClauseOf(string(other)))
		}
		for _, i := range found.Events {
			e := numbered{i, h.Events[i]}
			shown.Events = append(shown.Events, reports.HistoryEvent{Data: e, Cells: life.Cells(i, &e.Event)})
		}
		f.Findings = append(f.Findings, shown)
	}
	f.Lives = livesOf(recordOf(f.Name, h, &report))
}

// jidsShown is how many jobs are named whose end is not known for the same reason.
const jidsShown = 5

// causes counts jobs by the reason why their end is not known.
func causes(undecided []history.Undecided) (all []reports.HistoryCause) {
	for _, job := range undecided {
		i := slices.IndexFunc(all, func(c reports.HistoryCause) bool { return c.Why == job.Why })
		if i < 0 {
			i = len(all)
			all = append(all, reports.HistoryCause{Why: job.Why})
		}
		cause := &all[i]
		if cause.Jobs++; len(cause.JIDs) < jidsShown {
			cause.JIDs = append(cause.JIDs, job.JID)
		}
	}
	return all
}

// numbered is an event with its index in the history.
type numbered struct {
	Index int `json:"index"`
	history.Event
}
