package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/internal/shortage"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// TargetFlags are the flags that name the target and how to reach it.
type TargetFlags struct {
	url, passwordFile, start string
	showSecrets              bool

	ProtocolName, Profile string            // of --protocol and --profile, empty if they are not given
	Command               string            // to which the flags belong, as in [Refusal]: "fwpcheck record"
	TLS                   target.TLSOptions // how servers that arguments name are reached
	Subject               SubjectFlag
}

// Declare adds the flags to f; verb is what the command does with the target.
func (t *TargetFlags) Declare(f *pflag.FlagSet, verb string) {
	f.StringVar(&t.url, "url", "", verb+" the server at `URL`: tcp://[:PASSWORD@]HOST[:PORT] or tcp+tls://...")
	f.StringVar(&t.start, "start", "", "start servers with the shell `COMMAND`, as many as are needed, and "+verb+
		" them: {port}, {port2}, {webport}, {password} and {dir} in it are filled in; or \"faktory\" or \"faktory=PATH\"")
	t.DeclarePasswordFile(f)
	t.DeclareTLS(f)
	t.DeclareSecrets(f)
	t.Subject.Declare(f)
}

// DeclarePasswordFile adds only --password-file.
func (t *TargetFlags) DeclarePasswordFile(f *pflag.FlagSet) {
	f.StringVar(&t.passwordFile, "password-file", "", "read the server's password from `FILE`")
}

// DeclareTLS adds only the flags for how to reach servers that arguments name.
func (t *TargetFlags) DeclareTLS(f *pflag.FlagSet) {
	f.StringVar(&t.TLS.CAFile, "tls-ca", "", "trust the authorities in `FILE` (PEM), and no others")
	f.StringVar(&t.TLS.ServerName, "tls-server-name", "",
		"the `NAME` that the certificate has to be for, if it is not the host")
	f.BoolVar(&t.TLS.Insecure, "tls-insecure", false, "do not check the certificate")
}

// DeclareSecrets adds only --show-secrets.
func (t *TargetFlags) DeclareSecrets(f *pflag.FlagSet) {
	f.BoolVar(&t.showSecrets, "show-secrets", false,
		"show the salt, the rounds, the hash and the password of --url in what is printed and saved")
}

// Endpoint is the target that the flags and the environment name.
type Endpoint struct {
	Peer     *peer.Peer // its protocol
	Choice   target.Choice
	Faults   []peer.Fault   // of the embedded server
	Server   *target.Server // nil: the embedded one, or one that is to be started
	Password string
	Starter  *target.Starter // nil: the server runs already, or is the embedded one
	Secrets  *target.Secrets // what texts must not have; nil: they may have everything

	subject reports.Subject // what is known of it before it is asked
}

// Endpoint returns the target that flags and environment name. Flags without an effect on the embedded server are an
// error with it: those of TargetFlags, and others that the caller names. operator may be nil.
func (t *TargetFlags) Endpoint(
	given *pflag.FlagSet, lookup func(string) (string, bool), operator *OperatorFlags, others ...string,
) (Endpoint, error) {
	found, err := t.find(given, lookup)
	if err = cmp.Or(err, t.Subject.Check(1), t.Name(&found, 0)); err != nil {
		return Endpoint{}, err
	}
	if operator != nil {
		if err := operator.apply(&found); err != nil {
			return Endpoint{}, err
		}
		others = append(operator.Names(), others...)
	}
	if found.Choice.Embedded {
		return found, unfit(given, "--%s works only with a server of your own (--url or FAKTORY_URL), "+
			"not with the embedded one", append(slices.Clip(reached), others...)...)
	}
	if !t.showSecrets && !found.Ours() {
		found.Secrets = target.NewSecrets(found.Password)
	}
	return found, nil
}

// Embedded returns the embedded server of the protocol that --protocol names.
func (t *TargetFlags) Embedded() (Endpoint, error) {
	protocol, err := t.named(t.ProtocolName)
	if err != nil {
		return Endpoint{}, err
	}
	return Endpoint{Choice: target.Choice{Embedded: true, How: embeddedName(protocol)}, Peer: protocol}, nil
}

// find returns the target, without its operator.
func (t *TargetFlags) find(given *pflag.FlagSet, lookup func(string) (string, bool)) (Endpoint, error) {
	protocol, err := t.named(t.ProtocolName)
	if err != nil {
		return Endpoint{}, err
	}
	if given.Changed("start") {
		err := unfit(given, "--start starts a server of its own: --%s has no effect on it",
			append([]string{"url"}, reached...)...)
		if err != nil {
			return Endpoint{}, err
		}
		return t.Starting(t.start)
	}
	if !protocol.IsDefault() { // the variables of the environment are those of Faktory's clients
		lookup = func(string) (string, bool) { return "", false }
	}
	choice, err := target.Choose(t.url, given.Changed("url"), lookup, peer.Schemes()...)
	if err != nil {
		return Endpoint{}, err
	}
	if choice.Embedded {
		if protocol.Embed == nil {
			return Endpoint{}, fmt.Errorf("there is no embedded server of %s: name one with --url", protocol.Title)
		}
		return t.Embedded()
	}
	return t.at(choice)
}

// at returns the target at an address.
func (t *TargetFlags) at(choice target.Choice) (Endpoint, error) {
	protocol, err := t.carried(choice.Address)
	if err != nil {
		return Endpoint{}, err
	}
	config, err := t.TLS.Config(choice.Address)
	if err != nil {
		return Endpoint{}, err
	}
	password := choice.Address.Password
	if t.passwordFile != "" {
		password, err = target.OnlyPassword(password, "in the URL", t.passwordFile)
	}
	return Endpoint{
		Peer: protocol, Choice: choice, Server: &target.Server{Address: choice.Address, TLS: config}, Password: password,
	}, err
}

// At returns the target that an argument names.
func (t *TargetFlags) At(url string) (Endpoint, error) {
	choice, err := target.Argument(url, peer.Schemes()...)
	if err != nil {
		return Endpoint{}, err
	}
	found, err := t.at(choice)
	if err == nil && !t.showSecrets {
		found.Secrets = target.NewSecrets(found.Password)
	}
	return found, err
}

// reached are the flags for how to reach a server that runs already.
var reached = []string{"password-file", "tls-ca", "tls-server-name", "tls-insecure"}

// unfit returns an error for the first of some flags that was given, in words that have its name in the place of %s.
func unfit(given *pflag.FlagSet, words string, flags ...string) error {
	if i := slices.IndexFunc(flags, given.Changed); i >= 0 {
		return fmt.Errorf(words, flags[i])
	}
	return nil
}

// Starting returns the target of the protocol that --protocol names, which the command of a --start starts. It is an
// error if the command has no {port}.
func (t *TargetFlags) Starting(command string) (Endpoint, error) {
	protocol, err := t.named(t.ProtocolName)
	if err != nil {
		return Endpoint{}, err
	}
	starter, err := target.ParseStart(command)
	return Endpoint{
		Choice: target.Choice{How: "started by --start"}, Starter: &starter, Peer: protocol,
		subject: Started(command, strings.Fields(starter.Command)),
	}, err
}

// Name gives the target the name of --subject; number is which of them it is, from 0.
func (t *TargetFlags) Name(e *Endpoint, number int) error { return t.Subject.Name(number, &e.subject) }

// Ours reports whether the server exists for this process only, so that everything may be done to it.
func (e Endpoint) Ours() bool { return e.Choice.Embedded || e.Starter != nil }

// Start starts a server of the Starter, with a password or without, and waits until it greets as an
// FWP server does. The error may be an UnreachableError.
func (e Endpoint) Start(ctx context.Context, password string, timeout time.Duration) (*target.Started, error) {
	started, err := e.starting(timeout).Start(ctx, password)
	return started, startFailed(err)
}

// starting returns the Starter, for which a server is ready that greets.
func (e Endpoint) starting(timeout time.Duration) *target.Starter {
	starter := *e.Starter
	starter.Ready = func(ctx context.Context, s *target.Server) error {
		_, err := e.Peer.Identify(ctx, s, timeout)
		return err
	}
	return &starter
}

// StartInstead starts a server of the Starter at the place of one that was stopped, on its folder, as Start does.
func (e Endpoint) StartInstead(ctx context.Context, old *target.Started, timeout time.Duration) error {
	old.Replace(e.starting(timeout))
	return startFailed(old.Again(ctx))
}

func startFailed(err error) error {
	if _, failed := errors.AsType[*target.StartError](err); failed {
		return &UnreachableError{err, "run the command of --start by hand to see why"}
	}
	return err
}

// String names the server: "tcp://localhost:7419 (from --url)".
func (e Endpoint) String() string {
	switch {
	case e.Choice.Embedded:
		return e.Choice.How
	case e.Starter != nil:
		return "a server " + e.Choice.How
	}
	return e.Choice.Address.String() + " (" + e.Choice.How + ")"
}

// Flags returns the flags that name the target in a command that the user can run, none for the embedded server. A
// password is left out.
func (e Endpoint) Flags() []string {
	switch {
	case e.Choice.Embedded:
		return e.protocolFlags()
	case e.Starter != nil:
		return append(e.protocolFlags(), "--start", text.ShellQuote(target.RedactCommand(e.Starter.Value)))
	}
	return append(e.protocolFlags(), "--url", e.Choice.Address.Masked())
}

func (e Endpoint) protocolFlags() []string {
	var flags []string
	if !e.Peer.IsDefault() {
		flags = []string{"--protocol", e.Peer.Name}
	}
	if e.Peer.Profile != "" {
		flags = append(flags, "--profile", e.Peer.Profile)
	}
	return flags
}

// Identify connects to the user's server, which must be there and accept the password.
// The error is an UnreachableError, or an InternalError if this machine could not open the connection.
func (e Endpoint) Identify(ctx context.Context, timeout time.Duration) (conformance.Identity, error) {
	id, err := e.Peer.Identify(ctx, e.Server, timeout)
	if words := shortage.Explain(err); words != "" {
		return id, &InternalError{errors.New(words)}
	}
	if err != nil {
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
			"put it into the URL, " + e.withPassword() + " (the colon belongs to it), or name a file with --password-file"}
	}
	err := e.Peer.Authenticate(ctx, e.Server, e.Password, timeout)
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

// advice returns what to do about a server that is not one of the protocol.
func (e Endpoint) advice(ctx context.Context, timeout time.Duration, err error) string {
	if advice := e.Choice.Address.Advice(err, peer.Schemes()...); advice != "" {
		return advice
	}
	if advice := e.otherProtocol(ctx, timeout); advice != "" {
		return advice
	}
	if e.Peer.Advice == nil {
		return "is " + e.Choice.Address.Port + " the port of a server that speaks " + e.Peer.Title + "?"
	}
	return e.Peer.Advice(ctx, e.Server, err)
}

// probeTimeout is how long a server has at most to greet or to answer as one of another protocol.
const probeTimeout = 2 * time.Second

// otherProtocol returns what to do about a server of another protocol; empty if it is none.
func (e Endpoint) otherProtocol(ctx context.Context, timeout time.Duration) string {
	for _, other := range peer.All() {
		if other == e.Peer || (e.Choice.Address.TLS && !other.Passwords) {
			continue
		}
		if _, err := other.Identify(ctx, e.Server, min(timeout, probeTimeout)); err == nil {
			right := e.Choice.Address
			right.Protocol, right.Backend, right.Password = other.Scheme.Name, "", ""
			return fmt.Sprintf("this looks like %s: use %s", other.Title, right)
		}
	}
	return ""
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
	return cause + end + e.Advice
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Cause }
