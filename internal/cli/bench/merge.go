package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/input"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/reports"
)

// newMerge builds `fwpbench merge`.
func newMerge(p process) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "merge FILE.hlog...",
		Short: "Add up the histograms of several runs, exactly",
		Long: "merge adds up HdrHistogram logs of fwpbench, bucket by bucket: what comes out is what a single run\n" +
			"that saw all of it would have recorded. It prints the percentiles, and with --output writes the sum as\n" +
			"a log. A run that is in two of the logs is refused: it would count twice.",
		Example: "  fwpbench merge agent1.hlog agent2.hlog -o both.hlog",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("which logs? Name one or more, as in fwpbench merge a.hlog b.hlog -o both.hlog")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"hlog"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(_ *cobra.Command, args []string) error { return p.merge(args, output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write the sum to `FILE`, as a log")
	return cmd
}

// merge reads logs, writes their sum and prints its percentiles.
func (p process) merge(names []string, output string) error {
	if err := allDifferent(names); err != nil {
		return err
	}
	var logs []*measure.LogReader
	for _, name := range names {
		file, err := input.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // it was only read
		logs = append(logs, measure.NewLogReader(name, file))
	}
	sum, err := mergeInto(output, logs)
	if err != nil {
		return err
	}
	for i, log := range logs {
		if !log.Complete() {
			p.Logf("%s has no end: the run that wrote it was cut off; what it had written by then counts", names[i])
		}
	}
	return p.printPercentiles(sum)
}

// allDifferent refuses a file that is named twice. A log that names its run is known
// under another name too, when it is merged.
func allDifferent(names []string) error {
	var known []os.FileInfo
	for i, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		for k, other := range known {
			if os.SameFile(info, other) {
				return fmt.Errorf("%s and %s are the same file: its run would count twice", names[k], names[i])
			}
		}
		known = append(known, info)
	}
	return nil
}

// mergeInto writes the sum to a file, unless that has no name.
func mergeInto(output string, logs []*measure.LogReader) (*measure.Set, error) {
	if output == "" {
		return measure.Merge(nil, logs...)
	}
	if _, err := os.Stat(output); err == nil {
		return nil, fmt.Errorf("--output %s: the file exists and may be one of the logs; name another, or remove it", output)
	}
	var sum *measure.Set
	err := program.ReplaceFile(output, func(w io.Writer) (err error) {
		sum, err = measure.Merge(w, logs...)
		return err
	})
	return sum, err
}

// bound returns a time that is exact or a lower bound.
func bound(d time.Duration, exact bool) string {
	if exact {
		return reports.Time(d)
	}
	return ">= " + reports.Time(d)
}

// printPercentiles prints a line for every series that has values.
func (p process) printPercentiles(sum *measure.Set) error {
	var t reports.Table
	for _, title := range []string{"series", "count", "p50", "p90", "p99", "p99.9", "max"} {
		t.Columns = append(t.Columns, reports.Column{Title: title})
	}
	unserved := int64(0)
	for series := range sum.Histograms() {
		times := sum.Times(series)
		unserved = max(unserved, times.Unserved())
		cells := []string{series.String(), text.Grouped(times.Count())}
		for _, q := range []float64{50, 90, 99, 99.9} {
			cells = append(cells, bound(times.Percentile(q)))
		}
		t.Rows = append(t.Rows, reports.Cells(append(cells, bound(times.Max(), times.Unserved() == 0))...))
	}
	if unserved > 0 {
		t.Note = reports.Words(fmt.Sprintf(">=: at least; unserved arrivals (%s) count with the time that they had waited.",
			text.Grouped(unserved)))
	}
	return p.PrintPage(reports.Page{Blocks: []reports.Block{t}})
}
