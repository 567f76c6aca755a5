package shared

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/target/forward"
)

// TargetFlags are the flags that name the target and how to reach it.
type TargetFlags struct {
	url, passwordFile, start    string
	showSecrets                 bool
	isEmbedded, usesEnvironment bool
	startTimeout                time.Duration
	serverLog                   string
	log                         *target.Log // in the file of that name, once a server is to be started

	// IsHarmless is set before Declare if the command does nothing to a server that others notice: the environment may
	// name its target without more ado.
	IsHarmless              bool
	ProtocolName, Extension string            // of --protocol and --extension, empty if they are not given
	Command                 string            // of the flags, as in [registry.Entry.Refusal]: "fwpcheck record"
	TLS                     target.TLSOptions // how servers that arguments name are reached
	Subject                 SubjectFlag
}

// Declare adds the flags to f; verb is what the command does with the target.
func (t *TargetFlags) Declare(f *pflag.FlagSet, verb string) {
	schemes := []string{"tcp://[:PASSWORD@]HOST[:PORT]", "tcp+tls://..."}
	for _, scheme := range registry.Schemes() {
		schemes = append(schemes, scheme.Name+"://...")
	}
	f.StringVar(&t.url, "url", "", verb+" the server at `URL`: "+strings.Join(schemes, ", "))
	f.StringVar(&t.start, "start", "", "start servers with the shell `COMMAND`, as many as needed, and "+verb+
		" them: {port}, {port2}, {webport}, {password} and {dir} in it are replaced; or \"faktory\" or \"faktory=PATH\"")
	if !t.IsHarmless {
		f.BoolVar(&t.usesEnvironment, "from-environment", false, verb+
			" the server that FAKTORY_URL or FAKTORY_PROVIDER names")
		f.BoolVar(&t.isEmbedded, "embedded", false, verb+" the embedded server, even if the environment names another one")
	}
	t.DeclareStarts(f)
	t.DeclarePasswordFile(f)
	t.DeclareTLS(f)
	t.DeclareSecrets(f)
	t.Subject.Declare(f)
	if t.IsHarmless { // it reports nothing about a server, and starts none
		for _, name := range []string{"start", "start-timeout", "server-log", "subject"} {
			f.Lookup(name).Hidden = true
		}
	}
}

// DeclareStarts adds only the flags for how servers are started.
func (t *TargetFlags) DeclareStarts(f *pflag.FlagSet) {
	f.StringVar(&t.serverLog, "server-log", "",
		"write the output of the servers of --start to `FILE`, each line with its time and port")
	f.DurationVar(&t.startTimeout, "start-timeout", 30*time.Second,
		"the longest wait for a server of --start to be ready")
}

// DeclarePasswordFile adds only --password-file.
func (t *TargetFlags) DeclarePasswordFile(f *pflag.FlagSet) {
	f.StringVar(&t.passwordFile, "password-file", "", "read the server's password from `FILE`")
}

// DeclareTLS adds only the flags for how to reach servers that arguments name.
func (t *TargetFlags) DeclareTLS(f *pflag.FlagSet) {
	f.StringVar(&t.TLS.CAFile, "tls-ca", "", "trust only the certificate authorities in `FILE` (PEM)")
	f.StringVar(&t.TLS.ServerName, "tls-server-name", "",
		"the `NAME` that the certificate must have, if it is not the host's")
	f.BoolVar(&t.TLS.Insecure, "tls-insecure", false, "do not check the certificate")
	f.StringVar(&t.TLS.CertFile, "tls-cert", "", "use the client certificate in `FILE` (PEM)")
	f.StringVar(&t.TLS.KeyFile, "tls-key", "", "the key of --tls-cert, in `FILE` (PEM, without a passphrase)")
}

// DeclareSecrets adds only --show-secrets.
func (t *TargetFlags) DeclareSecrets(f *pflag.FlagSet) {
	f.BoolVar(&t.showSecrets, "show-secrets", false,
		"do not hide salt, rounds, hash and password in what is printed and saved")
}

// Endpoint returns the target that flags and environment name. Flags without an effect on the embedded server are an
// error with it: those of TargetFlags, and others that the caller names. operator may be nil.
func (t *TargetFlags) Endpoint(
	flags *pflag.FlagSet, lookup func(string) (string, bool), operator *OperatorFlags, others ...string,
) (Endpoint, error) {
	found, err := t.find(flags, lookup)
	others = append(slices.Clip(others), "start-timeout")
	if err = cmp.Or(err, t.CheckLog(found.Starter != nil), t.Subject.Check(1), t.ApplySubject(&found, 0)); err != nil {
		return Endpoint{}, err
	}
	if operator != nil {
		if err := operator.Apply(&found); err != nil {
			return Endpoint{}, err
		}
		others = append(operator.Names(), others...)
	}
	if found.Choice.IsEmbedded {
		return found, refuseFlags(flags, "--%s works only with --url or --from-environment, not with the embedded server",
			append(slices.Clip(connectionFlags), others...)...)
	}
	if !t.showSecrets && !found.IsPrivate() {
		found.Secrets = target.NewSecrets(found.Password)
	}
	return found, nil
}

// EmbeddedEndpoint returns the embedded server of the protocol that --protocol names.
func (t *TargetFlags) EmbeddedEndpoint() (Endpoint, error) {
	protocol, err := t.entry(t.ProtocolName)
	if err != nil {
		return Endpoint{}, err
	}
	return Endpoint{Choice: target.Choice{IsEmbedded: true, Source: embeddedName(protocol)}, Entry: protocol}, nil
}

// find returns the target, without its operator.
func (t *TargetFlags) find(flags *pflag.FlagSet, lookup func(string) (string, bool)) (Endpoint, error) {
	protocol, err := t.entry(t.ProtocolName)
	if err != nil {
		return Endpoint{}, err
	}
	isAbsent := func(flag string) bool { return !flags.Changed(flag) }
	if names := slices.DeleteFunc(slices.Clone(targetFlagNames), isAbsent); len(names) > 1 {
		return Endpoint{}, fmt.Errorf("--%s and --%s each name a server: give one of them", names[0], names[1])
	}
	if flags.Changed("start") {
		err := refuseFlags(flags, "--%s does not work with --start", connectionFlags...)
		if err != nil {
			return Endpoint{}, err
		}
		return t.StartEndpoint(t.start)
	}
	// The variables of the environment are those of Faktory's clients. A bug and a variation are of the embedded server.
	environment := lookup
	if !protocol.IsDefault() || t.isEmbedded || flags.Changed("bug") || flags.Changed("variation") {
		lookup = func(string) (string, bool) { return "", false }
	}
	choice, err := target.Choose(t.url, flags.Changed("url"), lookup, registry.Schemes()...)
	if err == nil {
		err = t.checkChoice(choice, protocol, cmp.Or(t.Command, "fwpcheck "+flags.Name()))
	}
	switch {
	case err != nil:
		return Endpoint{}, err
	case choice.IsEmbedded:
		found, err := t.EmbeddedEndpoint()
		found.overridesEnvironment = t.isEmbedded && protocol.IsDefault() && namesServer(environment)
		return found, err
	}
	return t.endpointFor(choice)
}

// checkChoice returns why a choice is no target of a command.
func (t *TargetFlags) checkChoice(choice target.Choice, protocol *registry.Entry, command string) error {
	switch {
	case choice.Variable != "" && !t.IsHarmless && !t.usesEnvironment:
		return environmentError(choice, command)
	case choice.IsEmbedded && t.usesEnvironment:
		return errors.New("--from-environment: neither FAKTORY_PROVIDER nor FAKTORY_URL is set")
	case choice.IsEmbedded && protocol.Embed == nil:
		return fmt.Errorf("there is no embedded server for %s: give --url", protocol.Title)
	}
	return nil
}

// namesServer reports whether the environment names a server, or tries to.
func namesServer(environment func(string) (string, bool)) bool {
	choice, err := target.Choose("", false, environment, registry.Schemes()...)
	return err != nil || !choice.IsEmbedded
}

// targetFlagNames are the flags that name a target.
var targetFlagNames = []string{"url", "start", "embedded", "from-environment"}

// environmentError returns the error for a server that only the environment names. It may be one in production, or a
// tunnel to one, and the command would send it hostile commands or load.
func environmentError(choice target.Choice, command string) error {
	return fmt.Errorf("%s names %s, and nothing was sent to it: %s sends hostile commands or load, so the command "+
		"line must name the server:\n  %[3]s --url \"$%[1]s\"    that server; or --from-environment\n  %[3]s --embedded "+
		"   the embedded server", choice.Variable, choice.Address, command)
}

// endpointFor returns the target at an address.
func (t *TargetFlags) endpointFor(choice target.Choice) (Endpoint, error) {
	protocol, err := t.entryOfAddress(choice.Address)
	if err != nil {
		return Endpoint{}, err
	}
	config, err := t.TLS.Config(choice.Address)
	if err != nil {
		return Endpoint{}, err
	}
	password := choice.Address.Password
	if t.passwordFile != "" {
		password, err = target.SinglePassword(password, "in the URL", t.passwordFile)
	}
	server := &target.Server{
		Address: choice.Address, TLS: config, Patience: t.startTimeout, ReachedAddresses: new(target.ReachedAddresses),
		Deeds: &forward.Record{Greets: config != nil || protocol.Scheme.Backend != ""}, // two ports: ZMTP
	}
	e := Endpoint{Entry: protocol, Choice: choice, Server: server, Password: password, addresses: server.ReachedAddresses}
	server.Probe = e.Probe(password)
	return e, err
}

// EndpointOf returns the target that an argument names: a URL, start:COMMAND or embedded, and whether it does.
func (t *TargetFlags) EndpointOf(arg string) (e Endpoint, ok bool, err error) {
	switch kind, value := target.NameOf(arg); kind {
	case target.NamesURL:
		e, err = t.EndpointAt(arg)
	case target.NamesStart:
		e, err = t.StartEndpoint(value)
	case target.NamesEmbedded:
		e, err = t.EmbeddedEndpoint()
	case target.NamesWorker:
		err = errors.New("worker:COMMAND is a worker: use fwpbench compare --run to compare two workers, or fwpcheck " +
			"worker -- COMMAND to test one")
	default:
		return e, false, nil
	}
	return e, true, err
}

// EndpointAt returns the target at a URL.
func (t *TargetFlags) EndpointAt(url string) (Endpoint, error) {
	choice, err := target.Argument(url, registry.Schemes()...)
	if err != nil {
		return Endpoint{}, err
	}
	found, err := t.endpointFor(choice)
	if err == nil && !t.showSecrets {
		found.Secrets = target.NewSecrets(found.Password)
	}
	return found, err
}

// connectionFlags are the flags for how to reach a server that runs already.
var connectionFlags = []string{"password-file", "tls-ca", "tls-server-name", "tls-insecure", "tls-cert", "tls-key"}

// refuseFlags returns an error for the first of some flags that was given, in words that have its name in the place of
// %s.
func refuseFlags(set *pflag.FlagSet, words string, flags ...string) error {
	if i := slices.IndexFunc(flags, set.Changed); i >= 0 {
		return fmt.Errorf(words, flags[i])
	}
	return nil
}

// StartEndpoint returns the target of the protocol that --protocol names, which the command of a --start starts. It is
// an error if the command has no {port}.
func (t *TargetFlags) StartEndpoint(command string) (Endpoint, error) {
	protocol, err := t.entry(t.ProtocolName)
	if err != nil {
		return Endpoint{}, err
	}
	starter, err := target.ParseStart(command)
	starter.Patience = t.startTimeout
	if err == nil {
		starter.Log, err = t.openLog()
	}
	if err == nil && t.startTimeout < 0 {
		err = errors.New("--start-timeout must not be negative")
	}
	return Endpoint{
		Choice: target.Choice{Source: "started by --start"}, Starter: &starter, Entry: protocol,
		subject: CommandSubject(starter.Value, nil), // its files are those of what serves
	}, err
}

// CheckLog returns an error if --server-log was given, and no server is started.
func (t *TargetFlags) CheckLog(hasStarter bool) error {
	if t.serverLog != "" && !hasStarter {
		return errors.New("--server-log works only with --start")
	}
	return nil
}

// openLog returns the log of --server-log, nil without the flag. All servers have one.
func (t *TargetFlags) openLog() (*target.Log, error) {
	if t.serverLog == "" || t.log != nil {
		return t.log, nil
	}
	file, err := os.Create(t.serverLog) // each line is written at once, and the end of the process closes it
	if err != nil {
		return nil, fmt.Errorf("--server-log: %w", err)
	}
	t.log = target.NewLog(file)
	return t.log, nil
}

// ApplySubject gives the target the name of --subject; number is which of them it is, from 0.
func (t *TargetFlags) ApplySubject(e *Endpoint, number int) error {
	return t.Subject.Apply(number, &e.subject)
}
