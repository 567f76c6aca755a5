package check

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// newSpec builds `fwpcheck spec`.
func newSpec(p process) *cobra.Command {
	protocol := ""
	cmd := &cobra.Command{
		Use:   "spec FOLDER",
		Short: "List the documents that have changed in a copy of the specification",
		Args: func(_ *cobra.Command, args []string) error {
			return refuse(len(args) != 1, "want the folder that the specification is in")
		},
		RunE: func(_ *cobra.Command, args []string) error {
			of, err := program.PeerNamed(protocol)
			if err != nil {
				return err
			}
			return p.spec(of, args[0])
		},
	}
	program.DeclareProtocol(cmd.Flags(), &protocol)
	return cmd
}

func (p process) spec(of *peer.Peer, folder string) error {
	changes, err := of.ChangedDocuments(os.DirFS(folder))
	if err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	for _, c := range changes {
		line := fmt.Sprintf("%s  has changed: SHA-256 %s, expected %s; %s cite it\n",
			c.Document, c.SHA256, c.Expected, text.Count(c.Clauses, "clause"))
		if err := p.Print(line); err != nil {
			return err
		}
	}
	p.Logf("%s changed", text.Count(len(changes), "document"))
	if len(changes) > 0 {
		p.Logf("compare each with the edition that the catalogue was written from, and correct the clauses that cite what " +
			"changed\n(fwpcheck list --clauses --json has the sources); " +
			"then write the new hash where the old one stands")
		return program.Exit(reports.ExitFindings)
	}
	return nil
}
