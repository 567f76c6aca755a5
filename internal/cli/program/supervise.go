package program

import (
	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/target"
)

// NewSupervise builds the hidden command `supervise`, the process between this program and a server
// that --start started; see target.Supervise.
func NewSupervise(p Process) *cobra.Command {
	return &cobra.Command{
		Use:    "supervise COMMAND",
		Short:  "Run a command until standard input ends, and end all that it started",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return Exit(target.Supervise(args[0], p.In, p.Err))
		},
	}
}
