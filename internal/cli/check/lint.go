package check

import (
	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
)

// newLint builds `fwpcheck lint`.
func newLint(p process) *cobra.Command {
	return &cobra.Command{
		Use:               "lint FILE...|-",
		Short:             "Look for mistakes in scripts without playing them",
		Args:              requireScripts,
		ValidArgsFunction: completeScripts,
		RunE:              func(_ *cobra.Command, args []string) error { return p.lint(args) },
	}
}

func (p process) lint(args []string) error {
	files, err := p.read(args)
	if err != nil {
		return err
	}
	_, found := examine(files, registry.Default())
	for _, problem := range found {
		entry := *problem
		if entry.Advice {
			entry.Message = "advice: " + entry.Message
		}
		if err := p.Print(p.Show(entry.Error()) + "\n"); err != nil {
			return err
		}
	}
	errs := mistakes(found)
	p.Logf("%s: %s, %s",
		text.Count(len(files), "script"), text.Count(len(errs), "mistake"), text.Count(len(found)-len(errs), "hint"))
	if len(errs) > 0 {
		return shared.Exit(reports.ExitUsage)
	}
	return nil
}
