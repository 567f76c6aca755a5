package check

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/peer"
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
		Args:  program.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.wait(cmd.Context(), o) },
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
	locked, err := untilServing(ctx, at, o.timeout)
	switch {
	case err == nil && locked:
		p.Logf("%s greets after %s; it wants a password, and none was given to try", at, reports.Time(time.Since(started)))
		return nil
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
// the last try that the time did not cut short, and whether the server is locked: it greets, and wants a password that
// was not given.
func untilServing(ctx context.Context, at program.Endpoint, timeout time.Duration) (locked bool, err error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for began := time.Now(); ; {
		locked, now := serves(limited, at, max(timeout-time.Since(began), time.Millisecond))
		if now == nil || errors.Is(now, conformance.ErrDeclined) { // waiting makes no password right
			return locked, now
		}
		if err == nil || time.Since(began) < timeout {
			err = now
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
func serves(ctx context.Context, at program.Endpoint, timeout time.Duration) (locked bool, err error) {
	id, err := at.Identify(ctx, timeout)
	locked = id.Protected && at.Password == ""
	if err != nil && !locked || at.Peer.Speaker == nil {
		return false, err
	}
	met, err := at.Peer.Speaker(peer.SpeakerConfig{Password: at.Password}).Introduce(ctx, at.Server.Dial)
	if locked && met.Greeting != nil {
		return true, nil
	}
	return false, err
}
