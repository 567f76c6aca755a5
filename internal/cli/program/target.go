package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/reports"
)

// TargetFlags are the flags that name the target and how to reach it.
type TargetFlags struct {
	url, passwordFile string
	tls               target.TLSOptions
}

// Declare adds the flags to f; verb is what the command does with the target.
func (t *TargetFlags) Declare(f *pflag.FlagSet, verb string) {
	f.StringVar(&t.url, "url", "", verb+" the server at `URL`: tcp://[:PASSWORD@]HOST[:PORT] or tcp+tls://...")
	f.StringVar(&t.passwordFile, "password-file", "", "read the server's password from `FILE`")
	f.StringVar(&t.tls.CAFile, "tls-ca", "", "trust the authorities in `FILE` (PEM), and no others")
	f.StringVar(&t.tls.ServerName, "tls-server-name", "",
		"the `NAME` that the certificate has to be for, if it is not the host")
	f.BoolVar(&t.tls.Insecure, "tls-insecure", false, "do not check the certificate")
}

// Endpoint is the target that the flags and the environment name.
type Endpoint struct {
	Choice   target.Choice
	Server   *target.Server // nil: the embedded one
	Password string
}

// Endpoint returns the target that flags and environment name. Flags without an effect on the embedded server are an
// error with it: those of TargetFlags, and others that the caller names.
func (t *TargetFlags) Endpoint(
	given *pflag.FlagSet, lookup func(string) (string, bool), others ...string,
) (Endpoint, error) {
	choice, err := target.Choose(t.url, given.Changed("url"), lookup)
	if err != nil {
		return Endpoint{}, err
	}
	if choice.Embedded {
		return Endpoint{Choice: choice}, onlyWithURL(given, others)
	}
	config, err := t.tls.Config(choice.Address)
	if err != nil {
		return Endpoint{}, err
	}
	found := Endpoint{choice, &target.Server{Address: choice.Address, TLS: config}, choice.Address.Password}
	if given.Changed("password-file") {
		if found.Password != "" {
			return Endpoint{}, errors.New("two passwords: one in the URL, and one of --password-file")
		}
		found.Password, err = target.ReadPassword(t.passwordFile)
	}
	return found, err
}

// onlyWithURL returns an error for flags without an effect on the embedded server.
func onlyWithURL(given *pflag.FlagSet, others []string) error {
	for _, flag := range slices.Concat([]string{"password-file", "tls-ca", "tls-server-name", "tls-insecure"}, others) {
		if given.Changed(flag) {
			return fmt.Errorf("--%s works only with a server of your own (--url or FAKTORY_URL), "+
				"not with the embedded one", flag)
		}
	}
	return nil
}

// String names the server: "tcp://localhost:7419 (from --url)".
func (e Endpoint) String() string {
	if e.Choice.Embedded {
		return e.Choice.How
	}
	return e.Choice.Address.String() + " (" + e.Choice.How + ")"
}

// Target returns the target as a report names it.
func (e Endpoint) Target(hi string) reports.Target {
	t := reports.Target{Chosen: e.Choice.How, HI: hi}
	if !e.Choice.Embedded {
		t.URL = e.Choice.Address.String()
	}
	return t
}

// Identify connects to the user's server, which must be there and accept the password.
// The error may be an UnreachableError.
func (e Endpoint) Identify(ctx context.Context, timeout time.Duration) (conformance.Identity, error) {
	id, err := conformance.Identify(ctx, e.Server, timeout)
	if err != nil {
		return id, &UnreachableError{err, e.advice(ctx, err)}
	}
	if id.Protected {
		err = e.authenticate(ctx, timeout)
	}
	return id, err
}

func (e Endpoint) authenticate(ctx context.Context, timeout time.Duration) error {
	if e.Password == "" {
		return &UnreachableError{errors.New("the server requires a password, and none was given"),
			"put it into the URL, " + e.withPassword() + " (the colon belongs to it), or name a file with --password-file"}
	}
	err := conformance.Authenticate(ctx, e.Server, e.Password, timeout)
	switch {
	case errors.Is(err, conformance.ErrDeclined) && e.Choice.Address.Password != "":
		return &UnreachableError{err,
			"the password is " + e.Choice.How + ", where %, /, ? and # are written %25, %2F, %3F and %23"}
	case errors.Is(err, conformance.ErrDeclined):
		return &UnreachableError{err, "the password is from --password-file, where it is the first and only line"}
	}
	return err
}

// withPassword returns the form of a URL with a password.
func (e Endpoint) withPassword() string {
	form := e.Choice.Address
	form.Password = "PASSWORD"
	return form.Masked()
}

// advice returns what to do about a server that is not an FWP server.
func (e Endpoint) advice(ctx context.Context, err error) string {
	if advice := e.Choice.Address.Advice(err); advice != "" {
		return advice
	}
	if advice := e.Server.Probe(ctx); advice != "" {
		return advice
	}
	other := "does it want TLS (tcp+tls://)?"
	if e.Choice.Address.TLS {
		other = "is it a server without TLS (tcp://)?"
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return "an FWP server greets with +HI {...}: is it at its limit of connections, still starting, or " + other
	}
	return fmt.Sprintf("an FWP server greets with +HI {...}: is %s the port on which it takes jobs "+
		"(7419 unless configured otherwise), and %s", e.Choice.Address.Port, other)
}

// UnreachableError reports why a target cannot be tested at all, and what to do.
type UnreachableError struct {
	Cause  error
	Advice string
}

// Error returns the cause and the advice, in two lines.
func (e *UnreachableError) Error() string { return e.Cause.Error() + ";\n" + e.Advice }

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Cause }
