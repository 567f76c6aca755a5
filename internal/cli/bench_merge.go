package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/load/measure"
)

// newMerge builds `fwpbench merge`.
func newMerge(p Process) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "merge FILE.hlog...",
		Short: "Add up the histograms of several runs, exactly",
		Long: "merge adds up HdrHistogram logs of fwpbench, bucket by bucket: what comes out is what one run would\n" +
			"have recorded that saw all of it. It prints the percentiles, and with --output writes the log of both.",
		Example: "  fwpbench merge agent1.hlog agent2.hlog -o both.hlog",
		Args:    cobra.MinimumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"hlog"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(_ *cobra.Command, args []string) error { return p.merge(args, output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write the sum to `FILE`, as a log")
	return cmd
}

// merge reads logs, writes their sum and prints its percentiles.
func (p Process) merge(names []string, output string) error {
	var logs []*measure.LogReader
	for _, name := range names {
		file, err := os.Open(name)
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
			p.say("%s has no end: the run that wrote it was cut off, and what it had written counts", names[i])
		}
	}
	return p.printPercentiles(sum)
}

// mergeInto writes the sum to a file, unless that has no name.
func mergeInto(output string, logs []*measure.LogReader) (*measure.Set, error) {
	if output == "" {
		return measure.Merge(nil, logs...)
	}
	if _, err := os.Stat(output); err == nil {
		return nil, fmt.Errorf("--output %s: the file is there already, and may be one of those to be read", output)
	}
	var sum *measure.Set
	err := create(output, func(w io.Writer) (err error) {
		sum, err = measure.Merge(w, logs...)
		return err
	})
	if err != nil {
		err = errors.Join(err, os.Remove(output))
	}
	return sum, err
}

// printPercentiles prints a line for every series that has values.
func (p Process) printPercentiles(sum *measure.Set) error {
	return p.printTable(func(row func(cells ...string)) {
		row("series", "count", "p50", "p90", "p99", "p99.9", "max")
		for series, h := range sum.Histograms() {
			cells := []string{series.String(), strconv.FormatInt(sum.Count(series), 10)}
			for _, q := range []float64{50, 90, 99, 99.9} {
				cells = append(cells, sum.Percentile(series, q).Round(time.Microsecond).String())
			}
			row(append(cells, time.Duration(h.Max()).Round(time.Microsecond).String())...)
		}
	})
}
