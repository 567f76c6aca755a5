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

	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
)

// mergeOptions are the flags of `fwpbench merge`.
type mergeOptions struct {
	hlog         string
	thresholds   []string
	limits       []validity.Threshold
	showsInvalid bool
	reportFlags  shared.ReportFlags
}

// newMerge builds `fwpbench merge`.
func newMerge(p process) *cobra.Command {
	o := &mergeOptions{}
	cmd := &cobra.Command{
		Use:   "merge FILE...",
		Short: "Add up the reports of parts of a load, or the histograms of several runs",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("which files? Name one or more, as in fwpbench merge a.json b.json")
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions([]string{"hlog", "json", "html"},
			cobra.ShellCompDirectiveFilterFileExt),
		RunE: func(_ *cobra.Command, args []string) error {
			err := cmp.Or(o.validate(args), o.reportFlags.Validate())
			if err == nil {
				o.limits, err = parseThresholds(o.thresholds)
			}
			if err != nil {
				return err
			}
			return p.merge(o, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.hlog, "hlog", "", "write the sum to `FILE`, as an HdrHistogram log")
	f.StringArrayVar(&o.thresholds, "threshold", nil, "exit with code 1 unless `'METRIC OP VALUE'` holds for the whole "+
		"load, as the thresholds of the segments have to; may be repeated")
	f.BoolVar(&o.showsInvalid, "show-invalid", false, "show the times of INVALID runs too, marked as such")
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
			continue // a part of a load may be missing; of others it is an error when they are read
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
	total, err := p.joinSegments(names, o.limits)
	if err != nil {
		return err
	}
	if total != nil {
		if err := o.write(total.Histograms); err != nil {
			return err
		}
		return p.deliver(&o.reportFlags, loadResult{total, o.showsInvalid})
	}
	if len(o.limits) > 0 {
		return errors.New("--threshold: the files are no reports of segments of one load, so there is no whole to judge")
	}
	m := &results.Merged{Head: reports.Head{Version: p.Name + " " + shared.Version()}}
	var logs []*measure.Log
	for _, name := range names {
		file := results.MergedFile{Name: name}
		log, err := p.histograms(&file)
		if err != nil {
			return err
		}
		logs = append(logs, log)
		m.Files = append(m.Files, file)
	}
	sum, err := measure.Merge(logs...)
	if err != nil {
		return err
	}
	m.StartTime, m.Took, m.Histograms = sum.Start, sum.Total.Until, load.Log(sum.Total, sum.Start, sum.Runs...)
	m.Ops, m.Flows = load.Figures(sum.Total)
	if err := o.write(m.Histograms); err != nil {
		return err
	}
	return p.deliver(&o.reportFlags, loadResult{m, o.showsInvalid})
}

// write writes the sum as a log if that is asked for.
func (o *mergeOptions) write(log string) error {
	if o.hlog == "" {
		return nil
	}
	return shared.ReplaceResult("--hlog", o.hlog, func(w io.Writer) error {
		if _, err := io.WriteString(w, log); err != nil {
			return fmt.Errorf("write histogram log: %w", err)
		}
		return nil
	})
}

// histograms reads the log of a file: that in a report, or the file itself.
func (p process) histograms(file *results.MergedFile) (*measure.Log, error) {
	data, isReport, err := p.ReadReport(file.Name, "fwpbench/", "fwpmerged/", "fwpcheck/")
	var from io.Reader
	if err == nil && isReport {
		var found results.Histograms
		found, err = results.ReadHistograms(data)
		file.Invalid, from = found.Invalid, strings.NewReader(found.Log)
		file.Exit, file.Words = found.Exit, found.Words
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name, err)
	}
	if from == nil {
		log, err := input.Open(file.Name)
		if err != nil {
			return nil, err
		}
		defer log.Close() //nolint:errcheck // it was only read
		from = log
	}
	log, err := measure.ReadLog(file.Name, from)
	if err == nil {
		file.Runs, file.IsCutOff = log.Runs, !log.IsComplete
	}
	return log, err
}
