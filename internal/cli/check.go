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

// Check is fwpcheck: it runs the command that the arguments name and returns
// the exit code, one of those in package reports. It blocks until the command is
// over; while `run` is at work, the first SIGINT or SIGTERM has it finish early
// and report what was found, and the second one ends the process.
func Check(p Process) (code int) {
	defer func() {
		if r := recover(); r != nil {
			p.say("%v\nThis is a fault of fwpcheck itself. Please report it with the command line (without passwords) at\n%s", r, bugs)
			code = reports.ExitInternal
		}
	}()
	root := newCheck(p)
	cmd, err := root.ExecuteContextC(context.Background())
	return p.conclude(cmd, err)
}

const bugs = "https://github.com/fwpsuite/fwp/issues"

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

// newCheck builds the commands. Nothing of them is kept between two calls.
func newCheck(p Process) *cobra.Command {
	root := &cobra.Command{
		Use:   "fwpcheck",
		Short: "A conformance suite for servers of the Faktory Work Protocol",
		Long: "fwpcheck holds a server of the Faktory Work Protocol against its specification, and plays\n" +
			"scripts of C: and S: lines on it.",
		Example: "  fwpcheck run                                     the embedded server, with every check\n" +
			"  fwpcheck run --url tcp://:PASSWORD@HOST:7419     a server of yours\n" +
			"  fwpcheck run my-bug.fwp --url tcp://HOST -v      a script of yours, and what was said",
		Version:       version(),
		Args:          unknownCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(p.Err)
			return errors.Join(cmd.Help(), exit(reports.ExitUsage)) // nothing was checked
		},
	}
	root.SetArgs(slices.Concat([]string{}, p.Args)) // cobra takes nil for the process's own
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newRun(p), newLint(p), newList(p), newExplain(p), newSpec(p), newSelftest(p), newVersion(p))
	return root
}

// newVersion builds `fwpcheck version`.
func newVersion(p Process) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		RunE:  func(*cobra.Command, []string) error { return p.print("fwpcheck " + version() + "\n") },
	}
}
