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
	var check bool
	cmd := &cobra.Command{
		Use:               "fmt FILE...|-",
		Short:             "Rewrite scripts in their normal form",
		Args:              someScripts,
		ValidArgsFunction: completeScripts,
		RunE:              func(_ *cobra.Command, args []string) error { return p.format(args, check) },
	}
	cmd.Flags().BoolVar(&check, "check", false, "change nothing; list scripts that are not formatted")
	return cmd
}

// format rewrites scripts, or lists those that are not formatted.
func (p process) format(args []string, check bool) error {
	files, err := p.read(args)
	if err != nil {
		return err
	}
	unreadable, changed := 0, 0
	for _, f := range files {
		script, err := scenarios.Parse(dialectOf(f.source, registry.Default()).Dialect, f.name, f.source)
		if err != nil {
			p.Logf("%v", err)
			unreadable++
			continue
		}
		formatted := scenarios.Format(script)
		if !bytes.Equal(formatted, f.source) {
			changed++
		} else if check || f.name != "-" {
			continue
		}
		if err := p.replace(f.name, formatted, check); err != nil {
			return err
		}
	}
	switch {
	case unreadable > 0:
		p.Logf("%s: %d cannot be formatted", text.Count(len(files), "script"), unreadable)
		return shared.Exit(reports.ExitUsage)
	case check && changed > 0:
		p.Logf("%s: %d not formatted", text.Count(len(files), "script"), changed)
		return shared.Exit(reports.ExitFindings)
	}
	return nil
}

// replace writes a formatted script and prints its name; check only prints the
// name.
func (p process) replace(name string, formatted []byte, check bool) error {
	if name == "-" && !check {
		return p.Print(string(formatted))
	}
	if !check {
		if err := shared.ReplaceFile(name, shared.Bytes(formatted)); err != nil {
			return &shared.InternalError{Cause: fmt.Errorf("write script: %w", err)}
		}
	}
	return p.Print(name + "\n")
}
