package check

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/reports"
)

// newCoverage builds `fwpcheck coverage`.
func newCoverage(p process) *cobra.Command {
	o := &testOptions{}
	cmd := &cobra.Command{
		Use:   "coverage REPORT...",
		Short: "Add up what runs have sent, and list what none of them did",
		Args: func(_ *cobra.Command, args []string) error {
			return refuse(len(args) == 0, "which reports? Name the JSON files of run or explore")
		},
		RunE: func(_ *cobra.Command, names []string) error { return p.coverage(o, names) },
	}
	o.flags(cmd)
	o.reportFlags.Declare(cmd, "list everything that was never sent")
	return cmd
}

// coverage adds up the inputs of reports.
func (p process) coverage(o *testOptions, names []string) error {
	if err := o.reportFlags.Validate(); err != nil {
		return err
	}
	c := &reports.Coverage{Version: version()}
	for _, name := range names {
		if err := p.addInputs(c, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return o.deliver(p, c)
}

// addInputs adds the inputs of one report.
func (p process) addInputs(c *reports.Coverage, name string) error {
	data, err := p.savedJSON(name, "a run or an exploration of fwpcheck", toolsReport, "fwpexplore/", "fwpcoverage/")
	if err != nil {
		return err
	}
	return c.Add(name, data)
}
