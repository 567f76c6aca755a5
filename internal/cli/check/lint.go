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
		Args:              someScripts,
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
		shown := *problem
		if shown.Advice {
			shown.Message = "advice: " + shown.Message
		}
		if err := p.Print(p.Show(shown.Error()) + "\n"); err != nil {
			return err
		}
	}
	wrong := mistakes(found)
	p.Logf("%s: %s, %s",
		text.Count(len(files), "script"), text.Count(len(wrong), "mistake"), text.Count(len(found)-len(wrong), "hint"))
	if len(wrong) > 0 {
		return shared.Exit(reports.ExitUsage)
	}
	return nil
}
