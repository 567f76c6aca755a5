package cli

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

// aim are the flags that say which server is meant and how to reach it.
type aim struct {
	url, passwordFile string
	tls               target.TLSOptions
}

func (a *aim) declare(f *pflag.FlagSet, verb string) {
	f.StringVar(&a.url, "url", "", verb+" the server at `URL`: tcp://[:PASSWORD@]HOST[:PORT] or tcp+tls://...")
	f.StringVar(&a.passwordFile, "password-file", "", "read the server's password from `FILE`")
	f.StringVar(&a.tls.CAFile, "tls-ca", "", "trust the authorities in `FILE` (PEM), and no others")
	f.StringVar(&a.tls.ServerName, "tls-server-name", "", "the `NAME` that the certificate has to be for, if it is not the host")
	f.BoolVar(&a.tls.Insecure, "tls-insecure", false, "do not check the certificate")
}

// aimed is the server that is meant.
type aimed struct {
	target.Choice
	server   *target.Server // nil: the embedded one
	password string
}

// at works out from flags and environment which server is meant. Flags that would
// mean nothing to the embedded server are an error there: those of aim, and others
// that the caller names.
func (a *aim) at(given *pflag.FlagSet, lookup func(string) (string, bool), others ...string) (aimed, error) {
	choice, err := target.Choose(a.url, given.Changed("url"), lookup)
	if err != nil {
		return aimed{}, err
	}
	if choice.Embedded {
		return aimed{Choice: choice}, onlyWithURL(given, others)
	}
	config, err := a.tls.Config(choice.Address)
	if err != nil {
		return aimed{}, err
	}
	found := aimed{choice, &target.Server{Address: choice.Address, TLS: config}, choice.Address.Password}
	if given.Changed("password-file") {
		if found.password != "" {
			return aimed{}, errors.New("two passwords: the URL has one, and --password-file gives another")
		}
		found.password, err = target.ReadPassword(a.passwordFile)
	}
	return found, err
}

// onlyWithURL refuses what means nothing to the embedded server.
func onlyWithURL(given *pflag.FlagSet, others []string) error {
	for _, flag := range slices.Concat([]string{"password-file", "tls-ca", "tls-server-name", "tls-insecure"}, others) {
		if given.Changed(flag) {
			return fmt.Errorf("--%s goes with a server of yours (--url or FAKTORY_URL): the embedded one needs none of it", flag)
		}
	}
	return nil
}

// String names the server: "tcp://localhost:7419 (from --url)".
func (a aimed) String() string {
	if a.Embedded {
		return a.How
	}
	return a.Address.String() + " (" + a.How + ")"
}

// target is the server as a report names it.
func (a aimed) target(hi string) reports.Target {
	t := reports.Target{Chosen: a.How, HI: hi}
	if !a.Embedded {
		t.URL = a.Address.String()
	}
	return t
}

// identify looks whether the user's server is there and lets us in.
func (a aimed) identify(ctx context.Context, timeout time.Duration) (conformance.Identity, error) {
	id, err := conformance.Identify(ctx, a.server, timeout)
	if err != nil {
		return id, &unreachableError{err, a.advice(ctx, err)}
	}
	if id.Protected {
		err = a.authenticate(ctx, timeout)
	}
	return id, err
}

func (a aimed) authenticate(ctx context.Context, timeout time.Duration) error {
	if a.password == "" {
		return &unreachableError{errors.New("the server asks for a password, and none was given"),
			"put it into the URL, " + a.withPassword() + " (the colon belongs to it), or name a file with --password-file"}
	}
	err := conformance.Authenticate(ctx, a.server, a.password, timeout)
	switch {
	case errors.Is(err, conformance.ErrDeclined) && a.Address.Password != "":
		return &unreachableError{err, "the password came " + a.How + ", where %, /, ? and # are written %25, %2F, %3F and %23"}
	case errors.Is(err, conformance.ErrDeclined):
		return &unreachableError{err, "the password came from --password-file, where it is the first and only line"}
	}
	return err
}

// withPassword is the form of a URL with a password.
func (a aimed) withPassword() string {
	form := a.Address
	form.Password = "PASSWORD"
	return form.Masked()
}

// advice is what to do about a server that is none.
func (a aimed) advice(ctx context.Context, err error) string {
	if advice := a.Address.Advice(err); advice != "" {
		return advice
	}
	if advice := a.server.Probe(ctx); advice != "" {
		return advice
	}
	other := "does it want TLS (tcp+tls://)?"
	if a.Address.TLS {
		other = "is it a server without TLS (tcp://)?"
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return "an FWP server greets with +HI {...}: is it at its limit of connections, still starting, or " + other
	}
	return fmt.Sprintf("an FWP server greets with +HI {...}: is %s the port on which it takes jobs "+
		"(7419 unless it was told otherwise), and %s", a.Address.Port, other)
}

// unreachableError says why a server cannot be judged at all, and what to do.
type unreachableError struct {
	cause  error
	advice string
}

func (e *unreachableError) Error() string { return e.cause.Error() + ";\n" + e.advice }
func (e *unreachableError) Unwrap() error { return e.cause }
