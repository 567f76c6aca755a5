package bench

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// helpText has the long help and the examples of the commands.
//
//go:embed help.txt
var helpText string

// process is fwpbench, as it runs.
type process struct{ shared.Process }

// Main runs the command of fwpbench that the arguments name and returns the exit code,
// one of those in package reports. It blocks until the command is over; while `run` is
// at work, the first SIGINT or SIGTERM ends the load, empties the queues and reports
// what was measured, and the second one ends the process.
func Main(p shared.Process) int {
	p.Name = "fwpbench"
	return p.Execute(func() *cobra.Command { return newBench(process{p}) })
}

// newBench builds the commands. Nothing of them is kept between two calls.
func newBench(p process) *cobra.Command {
	root := &cobra.Command{
		Use:   "fwpbench",
		Short: "A load generator for job servers: the Faktory Work Protocol, Workq and eMQP",
		Args:  shared.UnknownCommand,
	}
	root.AddCommand(newBenchRun(p), newPresets(p), newMetrics(p), newMerge(p), newCompare(p), newCapacity(p),
		newWorker(p), newEmbedded(p), shared.NewVersion(p.Process), shared.NewSupervise(p.Process))
	shared.Describe(root, helpText)
	return root
}

// loadResult is a result, with the figures of INVALID runs if they are to be shown.
type loadResult struct {
	reports.Result
	showsInvalid bool
}

// Page returns the result for people.
func (s loadResult) Page(o reports.PageOptions) reports.Page {
	o.ShowInvalid = s.showsInvalid
	return s.Result.Page(o)
}

// deliver writes a result.
func (p process) deliver(flags *shared.ReportFlags, r reports.Result) error {
	return p.Deliver(shared.Output{Flags: flags, Report: r})
}

// newMetrics builds `fwpbench metrics`.
func newMetrics(p process) *cobra.Command {
	return &cobra.Command{
		Use:   "metrics",
		Short: "Print the metrics that a threshold can be about",
		Args:  shared.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			list := func(words []string) []reports.Text { return reports.LinesOf(strings.Join(words, ", ")) }
			words := reports.Fields{Fields: []reports.Field{
				{Label: "OP", Lines: list(load.Ops()), Wrap: true},
				{Label: "FLOW", Lines: list(results.LoadFlows()), Wrap: true},
				{Label: "STAT", Lines: list(results.Stats()), Wrap: true},
			}}
			return p.PrintPage(reports.Page{Blocks: []reports.Block{results.MetricTable(), words}})
		},
	}
}

// newPresets builds `fwpbench presets`.
func newPresets(p process) *cobra.Command {
	return &cobra.Command{
		Use:   "presets [NAME]",
		Short: "Print the presets of run, or one as a file",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("presets takes one name, got %q", args)
			}
			return nil
		},
		ValidArgsFunction: shared.Complete(plan.Presets),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				var t reports.Table
				for _, name := range plan.Presets() {
					t.Rows = append(t.Rows, reports.Cells(name, plan.Describe(name)))
				}
				return p.PrintPage(reports.Page{Blocks: []reports.Block{t}})
			}
			w, err := plan.Preset(args[0])
			if err != nil {
				return err
			}
			return p.Print(string(w.YAML()) + settingsComment(w))
		},
	}
}

// settingsComment returns all settings of a workload, as comments of a file.
func settingsComment(w plan.Workload) string {
	var b strings.Builder
	zero := new(plan.Workload).Settings()
	full := w.WithDefaults()
	for i, s := range full.Settings() {
		if text := s.Value.String(); text != zero[i].Value.String() {
			fmt.Fprintf(&b, "# %s: %s\n", s.Key, text)
		}
	}
	return b.String()
}
