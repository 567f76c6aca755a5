package shared

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/reports"
)

// Execute runs the command that the arguments name and returns the exit code.
// The commands are built anew for every call.
func (p Process) Execute(commands func() *cobra.Command) (code int) {
	defer func() {
		if r := recover(); r != nil {
			p.LookupEnv = func(string) (string, bool) { return "", false } // it may be what failed
			p.Logf("%v\nThis is an internal error of %s. Please report it, with the command line (without passwords), at\n%s",
				r, p.Name, issuesURL)
			code = reports.ExitInternal
		}
	}()
	root := commands()
	p.attach(root)
	helpError := refuseUnknownHelp(root, func(cmd *cobra.Command, all bool) {
		_, _ = io.WriteString(cmd.OutOrStdout(), help(cmd, p.textOptions(cmd.OutOrStdout()).Width, all))
	})
	out := &errorWriter{Writer: p.Out}
	root.SetOut(out)
	cmd, err := root.ExecuteContextC(target.WithReporter(context.Background(), p.Logf))
	if out.err != nil {
		err = &InternalError{fmt.Errorf("write to standard output: %w", out.err)}
	}
	return p.conclude(cmd, errors.Join(err, helpError()))
}

// errorWriter keeps the first error of a writer, for what cobra prints: it ignores them.
type errorWriter struct {
	io.Writer

	err error
}

func (c *errorWriter) Write(b []byte) (n int, err error) {
	n, err = c.Writer.Write(b)
	c.err = cmp.Or(c.err, err)
	return n, err
}

const issuesURL = "https://github.com/fwpsuite/fwp/issues"

// attach gives the root of a program what every program has. Without a command it
// prints help and ends as a usage error: nothing was done.
func (p Process) attach(root *cobra.Command) {
	root.Version = Version()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		cmd.SetOut(p.Err)
		return errors.Join(cmd.Help(), Exit(reports.ExitUsage))
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		return cmp.Or(refuseEmpty(cmd), p.configure(cmd, args), refuseOverwrite(cmd, args))
	}
	root.SetArgs(append([]string{}, p.Args...)) // cobra takes nil for the process's own
	root.SetIn(p.In)
	root.SetErr(p.Err)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	completeFlags(root, defaultCompletion)
}

// refuseUnknownHelp makes `rnu --help` an error, which cobra takes for `--help`: it
// prints help before it reads arguments, and has no error for that. The same goes for
// `completion rnu`. The function that it returns reports the error afterwards. The word all behind a command, or behind
// --help, is for its whole help.
func refuseUnknownHelp(root *cobra.Command, help func(cmd *cobra.Command, all bool)) (helpError func() error) {
	var err error
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		rest := cmd.Flags().Args()
		all := slices.Equal(rest, []string{allFlags}) || slices.Equal(args, []string{allFlags})
		if cmd.HasSubCommands() && len(rest) > 0 && !all {
			err = UnknownCommand(cmd, rest)
			return
		}
		help(cmd, all)
	})
	return func() error { return err }
}

// allFlags is the word behind --help for each flag of a command.
const allFlags = "all"

// newHelp builds the command `help`.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND] [all]",
		Short: "Print help for a command, with all of its flags",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if command, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, c := range command.Commands() {
					if c.IsAvailableCommand() {
						names = append(names, c.Name())
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var all []string
			if n := len(args); n > 0 && args[n-1] == allFlags {
				args, all = args[:n-1], args[n-1:]
			}
			command, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return UnknownCommand(command, rest)
			}
			command.InitDefaultHelpFlag() // it stands in the help, too
			command.InitDefaultVersionFlag()
			command.HelpFunc()(command, all)
			return nil
		},
	}
}

// Exit ends a command with this exit code and without another message.
type Exit int

// Error implements error.
func (e Exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// InternalError is a mistake in the program, or a failure of its surroundings, that no
// change of the command line avoids.
type InternalError struct{ Cause error }

// Error implements error.
func (e *InternalError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *InternalError) Unwrap() error { return e.Cause }

// conclude returns the exit code for the error of a command, and prints the error. Errors of other types than Exit,
// InternalError and UnreachableError are about usage, as those of cobra.
func (p Process) conclude(cmd *cobra.Command, err error) int {
	if err == nil {
		return reports.ExitWell
	}
	if exit, ok := errors.AsType[Exit](err); ok {
		return int(exit)
	}
	if _, ok := errors.AsType[*InternalError](err); ok {
		p.Logf("%s", target.Redact(text.OfError(err)))
		return reports.ExitInternal
	}
	if _, ok := errors.AsType[*UnreachableError](err); ok {
		p.Logf("%s", target.Redact(text.OfError(err)))
		return reports.ExitUnreachable
	}
	if cmd.Name() == "help" { // not the help of help
		cmd = cmd.Root()
	}
	p.Logf("%s\nFor help: %s --help", target.Redact(text.OfError(err)), cmd.CommandPath())
	return reports.ExitUsage
}

// NewVersion builds the command `version`.
func NewVersion(p Process) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  NoArguments,
		RunE:  func(*cobra.Command, []string) error { return p.Print(p.Name + " " + Version() + "\n") },
	}
}

// AnnounceInterrupt is [InterruptContext] for commands that write what they have then, and say so.
func (p Process) AnnounceInterrupt(ctx context.Context) (context.Context, func()) {
	ctx, stop := InterruptContext(ctx)
	notify := sync.OnceFunc(func() {
		p.Logf("interrupted: writing the report; interrupt again to stop at once")
	})
	forget := context.AfterFunc(ctx, notify)
	return ctx, func() {
		if !forget() || ctx.Err() != nil {
			notify()
		}
		stop()
	}
}

// InterruptError returns the error with which a command ends: that of an interrupt if there was one, and else err.
func InterruptError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return Exit(reports.ExitInterrupted)
	}
	return err
}

// InterruptContext returns a copy of ctx that ends with the first SIGINT or SIGTERM, and a function that releases it. A
// second signal ends the process, if it comes more than a second later: timeout(1) sends two at once, one to the
// process and one to its group.
func InterruptContext(ctx context.Context) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	return ctx, func() {
		if ctx.Err() == nil { // else the process is about to end, and the second signal may come before
			stop()
		}
	}
}

// NewSupervise builds the hidden command `supervise`, the process between this program and a server
// that --start started; see target.Supervise.
func NewSupervise(p Process) *cobra.Command {
	return &cobra.Command{
		Use:    "supervise COMMAND",
		Short:  "Run a command until standard input ends, then end all of its processes",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return Exit(target.Supervise(args[0], p.In, p.Err))
		},
	}
}
