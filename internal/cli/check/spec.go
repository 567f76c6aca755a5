package check

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// newSpec builds `fwpcheck spec`.
func newSpec(p process) *cobra.Command {
	return &cobra.Command{
		Use:   "spec FOLDER",
		Short: "List the clauses whose source has changed in a copy of the specification",
		Long: "spec compares the documents in FOLDER (fwp.md, faktory-worker-lifecycle.md and\n" +
			"faktory-worker-ex-architecture.md) with the hashes of the catalogue, and prints each place that does\n" +
			"not say any more what it said when its clause was written.\n\n" +
			"Exit codes: 0 nothing has changed, 1 something has, 2 usage.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("want the folder that the specification is in")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return p.spec(args[0]) },
	}
}

func (p process) spec(folder string) error {
	changes, err := conformance.ChangedSources(os.DirFS(folder))
	if err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	for _, c := range changes {
		if err := p.Print(c.String() + "\n"); err != nil {
			return err
		}
	}
	p.Say("%s changed", text.Count(len(changes), "source"))
	if len(changes) > 0 {
		return program.Exit(reports.ExitFindings)
	}
	return nil
}
