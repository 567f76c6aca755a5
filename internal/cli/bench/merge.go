package bench

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/input"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// mergeOptions are the flags of `fwpbench merge`.
type mergeOptions struct {
	hlog        string
	showInvalid bool
	reportFlags program.ReportFlags
}

// newMerge builds `fwpbench merge`.
func newMerge(p process) *cobra.Command {
	o := &mergeOptions{}
	cmd := &cobra.Command{
		Use:   "merge FILE...",
		Short: "Add up the histograms of several runs, exactly",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("which files? Name one or more, as in fwpbench merge a.json b.json")
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions([]string{"hlog", "json", "html"},
			cobra.ShellCompDirectiveFilterFileExt),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := cmp.Or(o.validate(args), o.reportFlags.Validate()); err != nil {
				return err
			}
			return p.merge(o, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.hlog, "hlog", "", "write the sum to `FILE`, as an HdrHistogram log")
	f.BoolVar(&o.showInvalid, "show-invalid", false, "show the times of INVALID runs as well, under a heading that says "+
		"what they are")
	o.reportFlags.Declare(cmd, "no effect")
	_ = f.MarkHidden("verbose") // it exists
	return cmd
}

// validate refuses a file that is named twice, and a log as a report.
func (o *mergeOptions) validate(names []string) error {
	infos := make([]os.FileInfo, len(names))
	for i, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		for k, other := range infos[:i] {
			if os.SameFile(info, other) {
				return fmt.Errorf("%s and %s are the same file: its run would count twice", names[k], name)
			}
		}
		infos[i] = info
	}
	for _, value := range o.reportFlags.Outputs {
		if !strings.Contains(value, "=") && filepath.Ext(value) == ".hlog" {
			return fmt.Errorf("--output %s: that is for reports; use --hlog %s for a log", value, value)
		}
	}
	return nil
}

// merge adds up files, and reports the sum.
func (p process) merge(o *mergeOptions, names []string) error {
	joined, err := p.joinSegments(names)
	if err != nil {
		return err
	}
	if joined != nil {
		return p.deliverJoined(o, joined)
	}
	m := &results.Merged{Version: p.Name + " " + program.Version()}
	var logs []*measure.LogReader
	for _, name := range names {
		file := results.MergedFile{Name: name}
		source, err := p.histograms(&file)
		if err != nil {
			return err
		}
		defer func() { _ = source.Close() }() // it was only read
		logs = append(logs, measure.NewLogReader(name, source))
		m.Files = append(m.Files, file)
	}
	sum, err := o.sum(logs)
	if err != nil {
		return err
	}
	for i, log := range logs {
		m.Files[i].Runs, m.Files[i].CutOff = log.Runs(), !log.Complete()
		if begun := log.Start(); m.Started.IsZero() || begun.Before(m.Started) {
			m.Started = begun
		}
	}
	var runs []string
	for _, f := range m.Files {
		runs = append(runs, f.Runs...)
	}
	m.Ops, m.Flows = load.Figures(sum)
	m.Took, m.Histograms = sum.Until, load.Log(sum, m.Started, runs...)
	return p.deliver(&o.reportFlags, shown{m, o.showInvalid})
}

// sum adds up logs, and writes the sum as a log if that is asked for.
func (o *mergeOptions) sum(logs []*measure.LogReader) (sum *measure.Set, err error) {
	if o.hlog == "" {
		return measure.Merge(nil, logs...)
	}
	err = program.ReplaceResult("--hlog", o.hlog, func(w io.Writer) (err error) {
		sum, err = measure.Merge(w, logs...)
		return err
	})
	return sum, err
}

// deliverJoined writes the report of the whole load that segments come to.
func (p process) deliverJoined(o *mergeOptions, l *results.Load) error {
	if o.hlog != "" {
		write := func(w io.Writer) error { return reports.WriteOut(w, []byte(l.Histograms)) }
		if err := program.ReplaceResult("--hlog", o.hlog, write); err != nil {
			return err
		}
	}
	return p.deliver(&o.reportFlags, shown{l, o.showInvalid})
}

// histograms opens the log of a file: that in a report, or the file itself.
func (p process) histograms(file *results.MergedFile) (io.ReadCloser, error) {
	data, some, err := p.ReadReport(file.Name, "fwpbench/", "fwpmerged/")
	if err == nil && !some {
		return input.Open(file.Name)
	}
	var found results.Histograms
	if err == nil {
		found, err = results.ReadHistograms(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name, err)
	}
	file.Invalid = found.Invalid
	return io.NopCloser(strings.NewReader(found.Log)), nil
}
