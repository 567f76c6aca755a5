package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/reports"
)

const (
	waitTimeout = 30 * time.Second
	waitPause   = 100 * time.Millisecond // between two tries
)

// newWait builds `fwpcheck wait`.
func newWait(p process) *cobra.Command {
	o := &testOptions{}
	cmd := &cobra.Command{
		Use:   "wait",
		Short: "Wait until a server serves",
		Long: "wait tries to connect until the server greets, and takes the password if it wants one.\n\n" +
			"Exit codes: 0 it serves, 2 usage, 4 not in time, 130 interrupted.",
		Example: "  fwpcheck wait --url tcp://localhost:7419 --timeout 30s && fwpcheck run --url tcp://localhost:7419",
		Args:    program.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return p.wait(cmd.Context(), o) },
	}
	f := o.flags(cmd)
	o.targetFlags.Declare(f, "wait for")
	f.DurationVar(&o.timeout, "timeout", waitTimeout, "the longest wait")
	return cmd
}

// wait waits for a server, from the flags to the exit code.
func (p process) wait(ctx context.Context, o *testOptions) error {
	at, err := o.targetFlags.Endpoint(o.given, p.LookupEnv, nil)
	p.Secrets = at.Secrets
	if err = cmp.Or(err,
		refuse(o.given.Changed("start"), "wait is for a server that runs already, not for --start"),
		refuse(at.Ours(), "name the server to wait for with --url or FAKTORY_URL"),
		refuse(o.timeout <= 0, "--timeout must be longer than 0")); err != nil {
		return err
	}
	ctx, stop := p.Interruptible(ctx)
	defer stop()
	started := time.Now()
	err = untilServing(ctx, at, o.timeout)
	switch {
	case err == nil:
		p.Logf("%s serves after %s", at, reports.Time(time.Since(started)))
		return nil
	case ctx.Err() != nil:
		return program.Exit(reports.ExitInterrupted)
	}
	p.Logf("%s did not serve within %v: %v", at, time.Since(started).Round(time.Millisecond), err)
	return program.Exit(reports.ExitUnreachable)
}

// untilServing tries until the server serves, declines the password, or the time is over. It returns the error of
// the last try.
func untilServing(ctx context.Context, at program.Endpoint, timeout time.Duration) error {
	over := time.NewTimer(timeout)
	defer over.Stop()
	for began := time.Now(); ; {
		_, err := at.Identify(ctx, max(timeout-time.Since(began), time.Millisecond))
		if err == nil || errors.Is(err, conformance.ErrDeclined) { // waiting makes no password right
			return err
		}
		select {
		case <-over.C:
			return err
		case <-ctx.Done():
			return fmt.Errorf("interrupted: %w", err)
		case <-time.After(waitPause):
		}
	}
}
