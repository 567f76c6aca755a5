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
	f := o.flags(cmd)
	o.targetFlags.Harmless = true
	o.targetFlags.Declare(f, "wait for")
	f.DurationVar(&o.timeout, "timeout", waitTimeout, "the longest wait")
	return cmd
}

// wait waits for a server, from the flags to the exit code.
func (p process) wait(ctx context.Context, o *testOptions) error {
	at, err := o.targetFlags.Endpoint(o.given, p.LookupEnv, nil)
	p.Secrets = at.Secrets
	if err = cmp.Or(err,
		refuse(o.given.Changed("start"), "--start does not work with wait, which is for a server that runs already"),
		refuse(at.Ours(), "name the server to wait for with --url or FAKTORY_URL"),
		refuse(o.timeout <= 0, "--timeout must be longer than 0")); err != nil {
		return err
	}
	if at.Choice.Variable != "" {
		p.Logf("waiting for %s", at)
	}
	ctx, stop := shared.UntilInterrupted(ctx)
	defer stop()
	started := time.Now()
	locked, err := p.untilServing(ctx, at, o.timeout)
	switch {
	case err == nil && locked:
		p.Logf("%s is ready after %s; it wants a password, and none was given", at, reports.Time(time.Since(started)))
		return nil
	case err == nil:
		p.Logf("%s is ready after %s", at, reports.Time(time.Since(started)))
		return nil
	case ctx.Err() != nil:
		return shared.Exit(reports.ExitInterrupted)
	}
	p.Logf("%s was not ready after %v: %v", at, time.Since(started).Round(time.Millisecond), err)
	return shared.Exit(reports.ExitUnreachable)
}

// firstTry is how long the first try may take with a server that accepts and says nothing: what it is shows then.
const firstTry = time.Second

// untilServing tries until the server serves, declines what it was given, or the time is over. It returns the error of
// the last try that the time did not cut short, and whether the server is locked: it greets, and wants a password that
// was not given. What is there in the place of a server is told when it is known.
func (p process) untilServing(
	ctx context.Context, at shared.Endpoint, timeout time.Duration,
) (locked bool, err error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	patience := firstTry
	for began := time.Now(); ; {
		locked, now := serves(limited, at, max(min(patience, timeout-time.Since(began)), time.Millisecond))
		if now == nil || errors.Is(now, conformance.ErrDeclined) || target.Alert(now) != "" { // waiting makes nothing right
			return locked, now
		}
		if err == nil || time.Since(began) < timeout {
			err = now
		}
		if patience == firstTry && !target.Refused(now) && limited.Err() == nil {
			p.Logf("%s is not ready yet: %v", at, now)
			patience = timeout
		}
		select {
		case <-limited.Done():
			return false, err
		case <-time.After(waitPause):
		}
	}
}

// serves tries once. Identify says what else is at the address, and takes a server with any greeting; a client of a
// load insists on the right one.
func serves(ctx context.Context, at shared.Endpoint, timeout time.Duration) (locked bool, err error) {
	id, err := at.Identify(ctx, timeout)
	locked = id.Protected && at.Password == ""
	if err != nil && !locked || at.Peer.Speaker == nil {
		return false, err
	}
	met, err := at.Peer.Speaker(registry.SpeakerConfig{Password: at.Password}).Introduce(ctx, at.Server.Dial)
	if locked && met.Greeting != nil {
		return true, nil
	}
	return false, err
}
