package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/reports"
)

// execute runs the command that the arguments name and returns the exit code.
// The commands are built anew for every call.
func (p Process) execute(commands func(Process) *cobra.Command) (code int) {
	defer func() {
		if r := recover(); r != nil {
			p.say("%v\nThis is a fault of %s itself. Please report it with the command line (without passwords) at\n%s", r, p.program, bugs)
			code = reports.ExitInternal
		}
	}()
	root := commands(p)
	p.attach(root)
	cmd, err := root.ExecuteContextC(context.Background())
	return p.conclude(cmd, err)
}

const bugs = "https://github.com/fwpsuite/fwp/issues"

// attach gives the root of a program what every program has. Without a command it
// prints help and ends as a usage error: nothing was done.
func (p Process) attach(root *cobra.Command) {
	root.Version = version()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		cmd.SetOut(p.Err)
		return errors.Join(cmd.Help(), exit(reports.ExitUsage))
	}
	root.SetArgs(slices.Concat([]string{}, p.Args)) // cobra takes nil for the process's own
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
}

// exit is the end of a command that has said all there is to say.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// internalError is a fault of ours, not of the user's.
type internalError struct{ cause error }

func (e *internalError) Error() string { return e.cause.Error() }
func (e *internalError) Unwrap() error { return e.cause }

// conclude turns the end of a command into the exit code. Errors are about usage
// unless they say otherwise: those of cobra are.
func (p Process) conclude(cmd *cobra.Command, err error) int {
	var (
		done     exit
		internal *internalError
	)
	switch {
	case err == nil:
		return reports.ExitWell
	case errors.As(err, &done):
		return int(done)
	case errors.As(err, &internal):
		p.say("%s", target.Redact(err.Error()))
		return reports.ExitInternal
	}
	p.say("%s\nFor help: %s --help", target.Redact(err.Error()), cmd.CommandPath())
	return reports.ExitUsage
}

// newVersion builds the command `version`.
func newVersion(p Process) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		RunE:  func(*cobra.Command, []string) error { return p.print(p.program + " " + version() + "\n") },
	}
}
