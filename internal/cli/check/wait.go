package check

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
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
		Short: "Wait until a server is ready",
		Args:  shared.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.wait(cmd.Context(), o) },
	}
	f := o.bindFlags(cmd)
	o.targetFlags.IsHarmless = true
	o.targetFlags.Declare(f, "wait for")
	f.DurationVar(&o.timeout, "timeout", waitTimeout, "the longest wait")
	return cmd
}

// wait waits for a server, from the flags to the exit code.
func (p process) wait(ctx context.Context, o *testOptions) error {
	at, err := o.targetFlags.Endpoint(o.flags, p.LookupEnv, nil)
	p.Secrets = at.Secrets
	if err = cmp.Or(err,
		errorIf(o.flags.Changed("start"), "--start does not work with wait, which is for a server that runs already"),
		errorIf(at.IsPrivate(), "name the server to wait for with --url or FAKTORY_URL"),
		errorIf(o.timeout <= 0, "--timeout must be longer than 0")); err != nil {
		return err
	}
	if at.Choice.Variable != "" {
		p.Logf("waiting for %s", at)
	}
	ctx, stop := shared.InterruptContext(ctx)
	defer stop()
	start := time.Now()
	needsPassword, err := p.waitForServer(ctx, at, o.timeout)
	switch {
	case err == nil && needsPassword:
		p.Logf("%s is ready after %s; it wants a password, and none was given", at, reports.Time(time.Since(start)))
		return nil
	case err == nil:
		p.Logf("%s is ready after %s", at, reports.Time(time.Since(start)))
		return nil
	case ctx.Err() != nil:
		return shared.Exit(reports.ExitInterrupted)
	}
	p.Logf("%s was not ready after %v: %v", at, time.Since(start).Round(time.Millisecond), err)
	return shared.Exit(reports.ExitUnreachable)
}

// firstTry is how long the first try may take with a server that accepts and says nothing: what it is shows then.
const firstTry = time.Second

// waitForServer tries until the server serves, declines what it was given, or the time is over. It returns the error of
// the last try that the time did not cut short. It also returns whether the server greets and wants a password that was
// not given. What is there in the place of a server is told when it is known.
func (p process) waitForServer(
	ctx context.Context, at shared.Endpoint, timeout time.Duration,
) (needsPassword bool, err error) {
	waitCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	patience := firstTry
	for start := time.Now(); ; {
		needsPassword, tryErr := tryServer(waitCtx, at, max(min(patience, timeout-time.Since(start)), time.Millisecond))
		// waiting makes nothing right
		if tryErr == nil || errors.Is(tryErr, conformance.ErrDeclined) || target.Alert(tryErr) != "" {
			return needsPassword, tryErr
		}
		if err == nil || time.Since(start) < timeout {
			err = tryErr
		}
		if patience == firstTry && !target.IsConnRefused(tryErr) && waitCtx.Err() == nil {
			p.Logf("%s is not ready yet: %v", at, tryErr)
			patience = timeout
		}
		select {
		case <-waitCtx.Done():
			return false, err
		case <-time.After(waitPause):
		}
	}
}

// tryServer tries once. Identify says what else is at the address, and takes a server with any greeting; a client of a
// load insists on the right one.
func tryServer(ctx context.Context, at shared.Endpoint, timeout time.Duration) (needsPassword bool, err error) {
	id, err := at.Identify(ctx, timeout)
	needsPassword = id.Protected && at.Password == ""
	if err != nil && !needsPassword || at.Entry.Wire == nil {
		return false, err
	}
	greeting, err := at.Entry.Wire(registry.WireConfig{Password: at.Password}).Introduce(ctx, at.Server.Dial)
	if needsPassword && greeting.Greeting != nil {
		return true, nil
	}
	return false, err
}
