package check

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// newFmt builds `fwpcheck fmt`.
func newFmt(p process) *cobra.Command {
	var isDryRun bool
	cmd := &cobra.Command{
		Use:               "fmt FILE...|-",
		Short:             "Rewrite scripts in their normal form",
		Args:              requireScripts,
		ValidArgsFunction: completeScripts,
		RunE:              func(_ *cobra.Command, args []string) error { return p.format(args, isDryRun) },
	}
	cmd.Flags().BoolVar(&isDryRun, "check", false, "change nothing; list scripts that are not formatted")
	return cmd
}

// format rewrites scripts, or lists those that are not formatted.
func (p process) format(args []string, isDryRun bool) error {
	files, err := p.read(args)
	if err != nil {
		return err
	}
	failures, changes := 0, 0
	for _, f := range files {
		script, err := scenarios.Parse(scriptProtocol(f.source, registry.Default()).Dialect, f.name, f.source)
		if err != nil {
			p.Logf("%v", err)
			failures++
			continue
		}
		output := scenarios.Format(script)
		if !bytes.Equal(output, f.source) {
			changes++
		} else if isDryRun || f.name != "-" {
			continue
		}
		if err := p.replace(f.name, output, isDryRun); err != nil {
			return err
		}
	}
	switch {
	case failures > 0:
		p.Logf("%s: %d cannot be formatted", text.Count(len(files), "script"), failures)
		return shared.Exit(reports.ExitUsage)
	case isDryRun && changes > 0:
		p.Logf("%s: %d not formatted", text.Count(len(files), "script"), changes)
		return shared.Exit(reports.ExitFindings)
	}
	return nil
}

// replace writes a formatted script and prints its name; with isDryRun it only prints the name.
func (p process) replace(name string, output []byte, isDryRun bool) error {
	if name == "-" && !isDryRun {
		return p.Print(string(output))
	}
	if !isDryRun {
		if err := shared.ReplaceFile(name, shared.WriteBytes(output)); err != nil {
			return &shared.InternalError{Cause: fmt.Errorf("write script: %w", err)}
		}
	}
	return p.Print(name + "\n")
}
