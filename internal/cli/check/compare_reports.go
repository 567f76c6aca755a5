package check

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/reports"
)

// areFiles reports whether the arguments of compare are files: no URLs, and one of them exists.
func areFiles(args []string) bool {
	url := func(arg string) bool { return strings.Contains(arg, "://") }
	exists := func(arg string) bool {
		_, err := os.Stat(arg)
		return err == nil
	}
	return !slices.ContainsFunc(args, url) && slices.ContainsFunc(args, exists)
}

// ofReports holds the flags of compare that concern reports.
var ofReports = []string{"strict", "format", "output", "verbose", "color", "no-progress"}

// compareReports compares saved reports.
func (p process) compareReports(o *compareOptions, names []string) error {
	wrong := ""
	o.given.Visit(func(f *pflag.Flag) {
		if !slices.Contains(ofReports, f.Name) {
			wrong = f.Name
		}
	})
	if wrong != "" {
		return fmt.Errorf("--%s is for comparing servers: it has no effect on reports", wrong)
	}
	if err := o.reportFlags.Validate(o.given); err != nil {
		return err
	}
	var all []*reports.Report
	for _, name := range names {
		r, err := p.savedReport(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, r)
	}
	c := reports.Compare(names, all)
	c.Version = version()
	shown := &changes{Changes: c}
	return o.deliver(p, shown, "", &shown.internal)
}

// changes is what has changed between reports; internal says why that cannot be written.
type changes struct {
	*reports.Changes
	internal string
}

// Outcome implements [result].
func (c *changes) Outcome(exit reports.ExitOptions) (code int, words string) {
	if c.internal != "" {
		return reports.ExitInternal, c.internal
	}
	return c.Changes.Outcome(exit)
}

// savedReport reads the report of a run.
func (p process) savedReport(name string) (*reports.Report, error) {
	if _, err := os.Stat(name); err != nil {
		return nil, err
	}
	data, some, err := p.ReadReport(name, toolsReport)
	if err == nil && !some {
		err = fmt.Errorf("not the report of a run of fwpcheck in JSON or HTML")
	}
	if err != nil {
		return nil, err
	}
	return reports.ReadJSON(data)
}
