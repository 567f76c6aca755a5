package check

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/fwp/double"
	"github.com/fwpsuite/fwp/reports"
)

// serveOptions are the flags of `fwpcheck serve`.
type serveOptions struct {
	port, webPort          uint16
	workerPort             uint16
	listen                 string
	password, passwordFile string
	tlsCA, dir             string
	protocol, extension    string
	bugs, rules, ruleFiles []string
	variation              string
	flags                  *pflag.FlagSet
}

// newServe builds `fwpcheck serve`.
func newServe(p process) *cobra.Command {
	o := &serveOptions{}
	cmd := &cobra.Command{
		Use:               "serve [flags] [FILE]",
		Short:             "Run a test double of a server for workers and producers, controlled over HTTP",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeScripts,
		RunE:              func(cmd *cobra.Command, args []string) error { return p.serve(cmd.Context(), o, args) },
	}
	f := cmd.Flags()
	o.flags, f.SortFlags = f, false
	shared.DeclareProtocol(f, &o.protocol, "")
	f.StringVar(&o.listen, "listen", "127.0.0.1",
		"listen on `ADDRESS` of this machine, with the control too; 0.0.0.0 is all of IPv4, :: all addresses")
	f.Uint16Var(&o.port, "port", 0, "listen on `PORT`; 0 means a free port")
	f.Uint16Var(&o.webPort, "web-port", 0, "the `PORT` of the control; 0 means a free port")
	f.Uint16Var(&o.workerPort, "worker-port", 0, "the `PORT` for the workers of eMQP; 0 means a free port")
	f.StringVar(&o.password, "password", "", "ask clients for `PASSWORD`")
	f.StringVar(&o.passwordFile, "password-file", "", "ask clients for the password in `FILE`")
	f.StringVar(&o.dir, "dir", "", "load the jobs from `FOLDER` at the start, and save them there at an orderly end")
	f.StringVar(&o.tlsCA, "tls-ca-out", "",
		"serve TLS, for localhost and the ADDRESS, and write the certificate to trust to `FILE` (PEM)")
	f.StringVar(&o.extension, "extension", "", "accept what the servers of an `EXTENSION` add to the protocol: "+
		strings.Join(registry.Default().ExtensionNames(), ", "))
	f.StringArrayVar(&o.bugs, "bug", nil, "give the server the planted bug `NAME` (see fwpcheck list --bugs); may be "+
		"repeated")
	f.StringArrayVar(&o.rules, "rule", nil, "have the server misbehave by `RULE`, such as 'on ran ACK; each 10: reply "+
		"\"-ERR busy\"' (docs/rules.md); may be repeated")
	f.StringArrayVar(&o.ruleFiles, "rules", nil, "have it misbehave by the rules in `FILE`, one on each line; may be "+
		"repeated")
	shared.DeclareVariation(cmd, &o.variation, "the server")
	return cmd
}

// otherDoubles says what is served with --protocol.
func otherDoubles() string {
	var all []string
	for _, p := range registry.All() {
		if !p.IsDefault() && p.Double != nil {
			all = append(all, "with --protocol "+p.Name+" "+p.ServeHelp)
		}
	}
	first, _ := strings.CutPrefix(all[0], "with --protocol ")
	name, description, _ := strings.Cut(first, " ")
	all[0] = "With --protocol " + name + " it serves " + description
	return strings.Join(all, "; ") + "."
}

// serve runs a test double of the protocol that the flags name until it is interrupted.
func (p process) serve(ctx context.Context, o *serveOptions, args []string) error {
	entry, err := shared.EntryNamed(o.protocol)
	switch err = cmp.Or(err, o.checkListen()); {
	case err != nil:
		return err
	case entry.Refusal("fwpcheck serve") != nil:
		return entry.Refusal("fwpcheck serve")
	case len(args) > 0 && entry.HasClientRules:
		return p.serveScript(ctx, o, args[0])
	}
	if err := o.checkFlags(entry, args); err != nil {
		return err
	}
	config, err := o.config(entry)
	if err != nil {
		return err
	}
	ctx, release := machine.Watch(ctx)
	defer release()
	config.Network = noticeNetwork(ctx)
	d, err := entry.Double(config)
	if err != nil {
		return fmt.Errorf("--%s: %w", o.flag("port", o.port), err)
	}
	defer d.Close()
	ready, errs := "ready "+d.URL, make(chan error, 1)
	if d.Control != nil {
		l, err := listen(o.flag("web-port", o.webPort), o.address(o.webPort))
		if err != nil {
			return err
		}
		web := shared.WebServer(d.Control)
		defer web.Close() //nolint:errcheck // nothing can be done about it
		go func() { errs <- web.Serve(shared.LimitListener(l)) }()
		ready += " http://" + l.Addr().String()
	}
	if err := p.waitForEnd(ctx, ready, errs); err != nil {
		return err
	}
	return p.printSummary(d.Summary())
}

// listen listens at the address that a flag, with its value, names.
func listen(flag, addr string) (net.Listener, error) {
	l, err := registry.TCP{}.Listen(addr)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return l, nil
}

// interruptContext returns a copy of ctx that ends when the user interrupts the command, or whoever started it closes
// its standard input, and a function that releases it.
func (p process) interruptContext(ctx context.Context) (context.Context, func()) {
	ctx, stop := shared.InterruptContext(ctx)
	return closeContext(ctx, p.In), stop
}

// waitForEnd prints that a double is ready, and waits until it is interrupted, or its control has failed.
func (p process) waitForEnd(ctx context.Context, ready string, errs <-chan error) error {
	ctx, stop := p.interruptContext(ctx)
	defer stop()
	if err := p.Print(ready + "\n"); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		if shortage := machine.Cause(ctx); shortage != "" { // clients would wait for a greeting for ever
			return &shared.InternalError{Cause: errors.New(shortage)}
		}
	case err := <-errs:
		return &shared.InternalError{Cause: fmt.Errorf("the control: %w", err)}
	}
	return nil
}

// closeContext returns a copy of ctx that ends when the other end of in is closed, if in is a pipe: its writer has
// ended then. Terminals, files and /dev/null have no such end. What is written to the pipe is ignored.
func closeContext(ctx context.Context, in io.Reader) context.Context {
	f, ok := in.(*os.File)
	if !ok {
		return ctx
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 { // Node's pipes are sockets
		return ctx
	}
	ctx, end := context.WithCancel(ctx)
	go func() {
		defer end()
		_, _ = io.Copy(io.Discard, f)
	}()
	return ctx
}

// config returns the server that the flags ask for.
func (o *serveOptions) config(entry *registry.Entry) (config registry.DoubleConfig, err error) {
	if config.Password, err = o.readPassword(); err != nil {
		return config, err
	}
	if entry, err = entry.WithExtension(o.extension); err != nil {
		return config, fmt.Errorf("--extension: %w", err)
	}
	config.FindBug, config.Addr = entry.BugOrRule, o.address(o.port)
	config.Dir, config.Extension = o.dir, o.extension
	if o.workerPort != 0 {
		config.Workers = o.address(o.workerPort)
	}
	if config.Variation, err = entry.VariationNamed(o.variation); err != nil {
		return config, err
	}
	if config.Bugs, err = entry.BugsNamed(o.bugs...); err != nil {
		return config, err
	}
	rules, err := entry.RulesOf(o.rules, o.ruleFiles)
	if config.Bugs = append(config.Bugs, rules...); err == nil && o.tlsCA != "" {
		config.TLS, err = makeCertificate(o.tlsCA, o.listen)
	}
	return config, err
}

// readPassword returns the password that clients are asked for, empty for none.
func (o *serveOptions) readPassword() (string, error) {
	if o.passwordFile != "" {
		return target.SinglePassword(o.password, "of --password", o.passwordFile)
	}
	return o.password, nil
}

// checkListen returns an error for a --listen that is not an IP address.
func (o *serveOptions) checkListen() error {
	o.listen = strings.Trim(o.listen, "[]")
	if _, err := netip.ParseAddr(o.listen); err != nil {
		return fmt.Errorf("--listen %.60q: give an IP address of this machine without a port (for that use --port): "+
			"127.0.0.1 or ::1 for local clients, 0.0.0.0 or :: for all", o.listen)
	}
	return nil
}

// address returns the address of a port.
func (o *serveOptions) address(port uint16) string {
	return net.JoinHostPort(o.listen, strconv.Itoa(int(port)))
}

// flag returns the flags that an address is from.
func (o *serveOptions) flag(name string, port uint16) string {
	if o.flags.Changed("listen") {
		name = "listen " + o.listen + " --" + name
	}
	return fmt.Sprint(name, " ", port)
}

// maxMistakes is how many mistakes are printed.
const maxMistakes = 20

// printSummary prints what the clients did.
func (p process) printSummary(s double.Summary) error {
	var b strings.Builder
	fmt.Fprintf(&b, "clients sent %s", text.Count(s.Commands, "command"))
	if s.Refusals > 0 {
		fmt.Fprintf(&b, ", of which %d %s refused", s.Refusals, wasOrWere(s.Refusals))
	}
	b.WriteString("\n")
	if s.DroppedEntries > 0 {
		fmt.Fprintf(&b, "the first %d are no longer in the journal\n", s.DroppedEntries)
	}
	if len(s.RemainingJobs) > 0 {
		fmt.Fprintf(&b, "jobs left: %s\n", strings.Join(s.RemainingJobs, ", "))
	}
	for i, e := range s.Mistakes {
		if i == maxMistakes {
			fmt.Fprintf(&b, "and %d more\n", len(s.Mistakes)-i)
			break
		}
		fmt.Fprintf(&b, "mistake: %s\n  connection %d, %s: %s\n", e.Mistake, e.Connection,
			text.Brief(cmp.Or(e.Worker, "no worker id"), 100), text.OneLine(e.Command))
	}
	code := reports.ExitFindings
	if len(s.Mistakes) == 0 {
		code = reports.ExitWell
		b.WriteString("no violations of the specification\n")
	}
	return cmp.Or(p.Print(p.Show(b.String())), shared.ExitError(code))
}

func wasOrWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// checkFlags returns an error for files and flags that have no effect on the double of a protocol.
func (o *serveOptions) checkFlags(entry *registry.Entry, files []string) error {
	if len(files) > 0 {
		return fmt.Errorf("%s: %s", files[0], scriptMessage)
	}
	if o.workerPort != 0 && entry.Scheme.Backend == "" {
		return fmt.Errorf("--worker-port: %s has one port for clients and workers", entry.Title)
	}
	if entry.HasPasswords {
		return nil
	}
	for _, row := range []struct{ flag, format string }{
		{"extension", "%s has no extensions"},
		{"web-port", "the HTTP control works only with FWP, not with the embedded %s server"},
		{"password", "%s has no passwords"},
		{"password-file", "%s has no passwords"},
		{"tls-ca-out", "%s has no TLS"}, {"dir", "the embedded %s server keeps its jobs only in memory"},
	} {
		if o.flags.Changed(row.flag) {
			return fmt.Errorf("--%s: "+row.format, row.flag, entry.Title)
		}
	}
	return nil
}

// scriptMessage says what serve does with scripts.
const scriptMessage = "serve plays only scripts of FWP"

// certificateLife is how long the certificate of one run is valid.
const certificateLife = 30 * 24 * time.Hour

// makeCertificate makes a certificate for an address that servers listen at, and localhost, which signs itself, and
// writes it to a file. Its key is in memory only.
func makeCertificate(file, addr string) (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "fwpcheck serve"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	names, addresses := hostNames(net.ParseIP(addr))
	template.DNSNames = append(template.DNSNames, names...)
	template.IPAddresses = append(template.IPAddresses, addresses...)
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := shared.ReplaceResult("--tls-ca-out", file, shared.WriteBytes(text)); err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
	}, nil
}

// hostNames returns what clients of other machines call a server that listens at an address: for all addresses, those
// of this machine and its name.
func hostNames(addr net.IP) (names []string, addresses []net.IP) {
	if !addr.IsUnspecified() {
		return nil, []net.IP{addr}
	}
	if name, err := os.Hostname(); err == nil {
		names = []string{name}
	}
	all, _ := net.InterfaceAddrs() // without them it is for localhost
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok {
			addresses = append(addresses, n.IP)
		}
	}
	return names, addresses
}
