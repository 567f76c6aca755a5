package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/double"
	"github.com/fwpsuite/fwp/internal/shortage"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios/emqpdialect"
)

// serveOptions are the flags of `fwpcheck serve`.
type serveOptions struct {
	port, webPort          uint16
	password, passwordFile string
	tlsCA                  string
	protocol               string
	faults                 []string
	given                  *pflag.FlagSet
}

// newServe builds `fwpcheck serve`.
func newServe(p process) *cobra.Command {
	o := &serveOptions{}
	cmd := &cobra.Command{
		Use:   "serve [flags] [FILE]",
		Short: "Serve as a test double for workers and producers, with control over HTTP",
		Long: "serve runs the embedded server on 127.0.0.1 until it is interrupted. When it serves it prints one line,\n" +
			"`ready tcp://127.0.0.1:PORT http://127.0.0.1:PORT`: the server, and its control, which shows and verifies\n" +
			"what clients did, resets the server, quiets workers and sets the clock forward; see docs/test-double.md.\n" +
			"At the end it prints what clients did that the specification forbids.\n\n" +
			"With FILE, a script that was recorded for example, it plays the server's side of that in place of the embedded\n" +
			"server: clients get the script's replies and are judged as by fwpcheck record. It ends when the script was played\n" +
			"to its end; see docs/recording.md.\n\n" +
			"With --protocol workq it serves Workq, without a control, and prints `ready workq://127.0.0.1:PORT`; with\n" +
			"--protocol emqp a broker of eMQP with a port for clients, that of --port, and a free one for workers:\n" +
			"`ready emqp://127.0.0.1:PORT?backend=PORT`.\n\n" +
			"If standard input is a pipe, serve also ends when that is closed, so that it does not outlive a test\n" +
			"program that starts it and keeps the other end.\n\n" +
			"Exit codes: 0 no client broke a rule, 1 one did, or did otherwise than the script, 2 usage, 3 the script was not\n" +
			"played to its end, 5 internal error.",
		Example: "  fwpcheck serve --port 7419 &\n" +
			"  FAKTORY_URL=tcp://localhost:7419 npm test\n" +
			"  fwpcheck serve bug.fwp --port 7419",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeScripts,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.given = cmd.Flags()
			return p.serveProtocol(cmd.Context(), o, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	program.DeclareProtocol(f, &o.protocol)
	f.Uint16Var(&o.port, "port", 0, "serve on `PORT` (a free one if 0)")
	f.Uint16Var(&o.webPort, "web-port", 0, "serve the control on `PORT` (a free one if 0)")
	f.StringVar(&o.password, "password", "", "ask clients for `PASSWORD`")
	f.StringVar(&o.passwordFile, "password-file", "", "ask clients for the password in `FILE`")
	f.StringVar(&o.tlsCA, "tls-ca-out", "", "serve TLS for localhost, and write the certificate to trust to `FILE` (PEM)")
	f.StringArrayVar(&o.faults, "fault", nil, "give the server the fault `NAME` of the catalogue; may be repeated")
	program.CompleteFlags(cmd, map[string]func() []string{"fault": program.FaultNames})
	return cmd
}

// serveProtocol serves the protocol that the flags name.
func (p process) serveProtocol(ctx context.Context, o *serveOptions, args []string) error {
	protocol, err := program.ProtocolNamed(o.protocol)
	switch {
	case err != nil:
		return fmt.Errorf("--protocol: %w", err)
	case protocol.Name == emqpdialect.Name:
		return p.serveBroker(ctx, o, args)
	case protocol.Name != conformance.FWP().Name:
		return p.serveWorkq(ctx, o, args)
	case len(args) > 0:
		return p.serveScript(ctx, o, args[0])
	}
	return p.serve(ctx, o)
}

// serve runs the double until it is interrupted.
func (p process) serve(ctx context.Context, o *serveOptions) error {
	config, faults, err := o.config()
	if err != nil {
		return err
	}
	ctx, release := shortage.Watch(ctx)
	defer release()
	config.Listen = noticing(ctx, config.Listen)
	d, err := double.New(config, faults...)
	if err != nil {
		return fmt.Errorf("--port %d: %w", o.port, err)
	}
	defer d.Close()
	control, err := new(net.ListenConfig).Listen(ctx, "tcp", loopbackAt(o.webPort))
	if err != nil {
		return fmt.Errorf("--web-port %d: %w", o.webPort, err)
	}
	web := program.WebServer(d.Handler(program.FaultNamed))
	defer web.Close() //nolint:errcheck // nothing can be done about it
	ctx, stop := program.UntilInterrupted(ctx)
	defer stop()
	ctx = untilClosed(ctx, p.In)
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(program.Few(control)) }()
	if err := p.Print(fmt.Sprintf("ready %s http://%s\n", readyURL(d.Server()), control.Addr())); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		if short := shortage.Cause(ctx); short != "" { // clients would wait for a greeting for ever
			return &program.InternalError{Cause: errors.New(short)}
		}
	case err := <-failed:
		return &program.InternalError{Cause: fmt.Errorf("the control: %w", err)}
	}
	return p.sum(d.Summary())
}

// untilClosed returns a copy of ctx that ends when the other end of in is closed, if in is a pipe: its writer has ended
// then. Terminals, files and /dev/null have no such end. What is written to the pipe is ignored.
func untilClosed(ctx context.Context, in io.Reader) context.Context {
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
func (o *serveOptions) config() (config fakes.Config, faults []fakes.Fault, err error) {
	if o.password != "" && o.passwordFile != "" {
		return config, nil, errors.New("two passwords: one of --password, and one of --password-file")
	}
	for _, name := range o.faults {
		fault, err := program.FaultNamed(name)
		if err != nil {
			return config, nil, err
		}
		faults = append(faults, fault)
	}
	config.Password, config.MaxUnfinished, config.MaxStored = o.password, 128<<20, 512<<20
	if o.passwordFile != "" {
		if config.Password, err = target.ReadPassword(o.passwordFile); err != nil {
			return config, nil, err
		}
	}
	if o.port != 0 {
		config.Listen = func() (net.Listener, error) {
			return new(net.ListenConfig).Listen(context.Background(), "tcp", loopbackAt(o.port))
		}
	}
	if o.tlsCA != "" {
		config.TLS, err = localhostTLS(o.tlsCA)
	}
	return config, faults, err
}

// noticing returns a function that listens as listen does, on a free port if that is nil. A shortage is noticed in ctx.
func noticing(ctx context.Context, listen func() (net.Listener, error)) func() (net.Listener, error) {
	if listen == nil {
		return loopback(ctx)
	}
	return func() (net.Listener, error) {
		ln, err := listen()
		if err != nil {
			return nil, shortage.Notice(ctx, err)
		}
		return noticingListener{ln, ctx}, nil
	}
}

func loopbackAt(port uint16) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))) }

// readyURL returns the URL of a server without its password.
func readyURL(server *fakes.Server) string {
	a, err := target.ParseURL(server.URL())
	if err != nil {
		return server.URL() // it has no password then
	}
	return a.String()
}

// mostMistakes is how many mistakes are printed.
const mostMistakes = 20

// sum prints what the clients did.
func (p process) sum(s double.Summary) error {
	var b strings.Builder
	fmt.Fprintf(&b, "clients sent %s", text.Count(s.Commands, "command"))
	if s.Refused > 0 {
		fmt.Fprintf(&b, ", of which %d %s refused", s.Refused, wasWere(s.Refused))
	}
	b.WriteString("\n")
	if s.Dropped > 0 {
		fmt.Fprintf(&b, "the first %d are not in the journal any more\n", s.Dropped)
	}
	if len(s.Left) > 0 {
		fmt.Fprintf(&b, "jobs that are left: %s\n", strings.Join(s.Left, ", "))
	}
	for i, e := range s.Mistakes {
		if i == mostMistakes {
			fmt.Fprintf(&b, "and %d more\n", len(s.Mistakes)-i)
			break
		}
		fmt.Fprintf(&b, "mistake: %s\n  connection %d, %s: %s\n", e.Mistake, e.Connection,
			text.Brief(cmp.Or(e.Worker, "no worker id"), 100), text.OneLine(e.Command))
	}
	if len(s.Mistakes) == 0 {
		b.WriteString("no command breaks a rule of the specification\n")
	}
	if err := p.Print(p.Show(b.String())); err != nil {
		return err
	}
	if len(s.Mistakes) > 0 {
		return program.Exit(reports.ExitFindings)
	}
	return nil
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// onlyFWPServes returns an error for files and flags of serve that have no effect on another server than that of FWP.
func (o *serveOptions) onlyFWPServes(title string, files []string) error {
	if len(files) > 0 {
		return fmt.Errorf("%s: %s", files[0], servesOnlyFWP)
	}
	for _, no := range []struct{ flag, why string }{
		{"web-port", "the control over HTTP shows jobs, workers and a journal of FWP: the embedded %s server has none"},
		{"password", "%s has no passwords"},
		{"password-file", "%s has no passwords"},
		{"tls-ca-out", "%s has no TLS"},
	} {
		if o.given.Changed(no.flag) {
			return fmt.Errorf("--%s: "+no.why, no.flag, title)
		}
	}
	return nil
}

// servesOnlyFWP says what serve does with scripts.
const servesOnlyFWP = "serve plays the server's side of scripts of FWP only, whose clients it can judge"

// serving prints the URL of a server that serves, waits for its end, and prints what the clients did.
func (p process) serving(ctx context.Context, url string, summary func() double.Summary) error {
	ctx, stop := program.UntilInterrupted(ctx)
	defer stop()
	ctx = untilClosed(ctx, p.In)
	if err := p.Print("ready " + url + "\n"); err != nil {
		return err
	}
	<-ctx.Done()
	if short := shortage.Cause(ctx); short != "" { // clients would wait for ever
		return &program.InternalError{Cause: errors.New(short)}
	}
	return p.sum(summary())
}
