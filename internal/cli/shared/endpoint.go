package shared

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/reports"
)

// Endpoint is the target that the flags and the environment name.
type Endpoint struct {
	Entry  *registry.Entry // its protocol
	Choice target.Choice
	Bugs   []registry.Bug // of the embedded server

	Variation registry.Variation // of the embedded server
	Server    *target.Server     // nil: the embedded one, or one that is to be started
	Password  string
	Starter   *target.Starter // nil: the server runs already, or is the embedded one
	Secrets   *target.Secrets // what texts must not have; nil: they may have everything

	subject   reports.Subject          // what is known of it before it is asked
	addresses *target.ReachedAddresses // of Server; nil for one that a command starts
	// IsExtensionDetected is set if the server's INFO gave the extension of Entry, and not --extension.
	IsExtensionDetected bool

	overridesEnvironment bool // on the embedded server, by --embedded, where the environment names another one
}

// IsPrivate reports whether the server exists for this process only, so that everything may be done to it.
func (e Endpoint) IsPrivate() bool { return e.Choice.IsEmbedded || e.Starter != nil }

// Start starts a server of the Starter, with a password or without, and waits until Identify accepts it. The error
// may be an UnreachableError.
func (e Endpoint) Start(ctx context.Context, password string, timeout time.Duration) (*target.StartedServer, error) {
	started, err := e.starter(password, timeout).Start(ctx, password)
	return started, wrapStartError(err)
}

// starter returns the Starter, for which a server is ready that greets.
func (e Endpoint) starter(password string, timeout time.Duration) *target.Starter {
	starter := *e.Starter
	starter.Ready = func(ctx context.Context, s *target.Server) error {
		_, err := e.Entry.Identify(ctx, s, timeout)
		return err
	}
	starter.Foreign = func(ctx context.Context, s *target.Server) string {
		if other := e.otherProtocol(ctx, s, timeout); other != nil {
			return "this looks like a server of " + other.Title + ": give --protocol " + other.Name
		}
		return ""
	}
	starter.Probe = e.Probe(password)
	return &starter
}

// Probe returns how it is seen whether something that was done to a server of the protocol took effect.
func (e Endpoint) Probe(password string) target.Probe { return e.Entry.Probe(password) }

// StartReplacement starts a server of the Starter at the place of one that was stopped, on its folder, as Start does.
func (e Endpoint) StartReplacement(ctx context.Context, old *target.StartedServer, timeout time.Duration) error {
	old.Replace(e.starter(old.Server.Address.Password, timeout))
	return wrapStartError(old.Server.Start(ctx))
}

func wrapStartError(err error) error {
	if _, ok := errors.AsType[*target.StartError](err); ok {
		return &UnreachableError{err, "run the command of --start by hand to see the cause"}
	}
	return err
}

// String names the server: "tcp://localhost:7419 (from --url)".
func (e Endpoint) String() string {
	switch {
	case e.Choice.IsEmbedded:
		return e.Choice.Source
	case e.Starter != nil:
		return "a server " + e.Choice.Source
	}
	return e.Choice.Address.String() + " (" + e.Choice.Source + ")"
}

// Flags returns the flags that name the target in a command that the user can run, none for the embedded server. A
// password is left out.
func (e Endpoint) Flags() []string {
	switch {
	case e.overridesEnvironment:
		return append([]string{"--embedded"}, e.protocolFlags()...)
	case e.Choice.IsEmbedded:
		return e.protocolFlags()
	case e.Starter != nil:
		return append(e.protocolFlags(), "--start", text.ShellQuote(target.RedactCommand(e.Starter.Value)))
	}
	return append(e.protocolFlags(), "--url", e.Choice.Address.MaskedURL())
}

func (e Endpoint) protocolFlags() []string {
	var flags []string
	if !e.Entry.IsDefault() {
		flags = []string{"--protocol", e.Entry.Name}
	}
	if e.Entry.Extension != "" && !e.IsExtensionDetected {
		flags = append(flags, "--extension", e.Entry.Extension)
	}
	return flags
}

// Identify connects to the user's server, which must be there and accept the password.
// The error is an UnreachableError, or an InternalError if this machine could not open the connection.
func (e Endpoint) Identify(ctx context.Context, timeout time.Duration) (conformance.Identity, error) {
	id, err := e.Entry.Identify(ctx, e.Server, timeout)
	if words := machine.Explain(err); words != "" {
		return id, &InternalError{errors.New(words)}
	}
	switch {
	case err != nil && target.IsConnRefused(err) && e.Server.Deeds.HasOpened():
		return id, &UnreachableError{err, "it accepted connections before; then the server ended, or a forwarder " +
			"(kubectl port-forward, ssh -L) did, after clients had closed their connections"}
	case err != nil:
		return id, &UnreachableError{err, e.advice(ctx, timeout, err)}
	}
	if id.Protected {
		err = e.authenticate(ctx, timeout)
	}
	return id, err
}

func (e Endpoint) authenticate(ctx context.Context, timeout time.Duration) error {
	if e.Password == "" {
		return &UnreachableError{errors.New("the server requires a password, and none was given"),
			"put it into the URL, " + e.passwordURL() + " (with the colon), or give a file with --password-file"}
	}
	err := e.Entry.Authenticate(ctx, e.Server, e.Password, timeout)
	switch {
	case errors.Is(err, conformance.ErrDeclined) && e.Choice.Address.Password != "":
		return &UnreachableError{err,
			"the password is " + e.Choice.Source + ", where %, /, ? and # are written %25, %2F, %3F and %23"}
	case errors.Is(err, conformance.ErrDeclined):
		return &UnreachableError{err, "the password is from --password-file, where it is the first and only line"}
	}
	return err
}

// passwordURL returns the form of a URL with a password.
func (e Endpoint) passwordURL() string {
	form := e.Choice.Address
	form.Password = "PASSWORD"
	return form.MaskedURL()
}

// advice returns what to do about a server that is not one of the protocol.
func (e Endpoint) advice(ctx context.Context, timeout time.Duration, err error) string {
	if advice := e.Choice.Address.Advice(err, registry.Schemes()...); advice != "" {
		return advice
	}
	if other := e.otherProtocol(ctx, e.Server, timeout); other != nil {
		address := e.Choice.Address
		address.Protocol, address.Backend, address.Password = other.Scheme.Name, "", ""
		return fmt.Sprintf("this looks like a server of %s: use %s", other.Title, address)
	}
	if e.Entry.Advice == nil {
		return "is " + e.Choice.Address.Port + " the port of a server that speaks " + e.Entry.Title + "?"
	}
	return e.Entry.Advice(ctx, e.Server, err)
}

// probeTimeout is how long a server has at most to greet or to answer as one of another protocol.
const probeTimeout = 2 * time.Second

// otherProtocol returns another protocol than Entry that a server speaks; nil if none is known.
func (e Endpoint) otherProtocol(ctx context.Context, s *target.Server, timeout time.Duration) *registry.Entry {
	for _, other := range registry.All() {
		if other == e.Entry || (s.Address.TLS && !other.HasPasswords) {
			continue
		}
		if _, err := other.Identify(ctx, s, min(timeout, probeTimeout)); err == nil {
			return other
		}
	}
	return nil
}

// UnreachableError reports why a target cannot be tested at all, and what to do.
type UnreachableError struct {
	Cause  error
	Advice string
}

// Error returns the cause and the advice, in two lines or more.
func (e *UnreachableError) Error() string {
	cause, end := text.OfError(e.Cause), ";\n"
	if strings.Count(cause, "\n") > 1 { // it has what a program printed
		end = "\n"
	}
	if e.Advice == "" {
		end = ""
	}
	return cause + end + e.Advice
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Cause }
