package check

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/protocols/fwp/record"
	"github.com/fwpsuite/fwp/reports"
)

// serveScript plays the server's side of a script until that was played to its end, or until it is interrupted.
func (p process) serveScript(ctx context.Context, o *serveOptions, file string) error { //nolint:funlen // its steps
	for _, name := range []string{"web-port", "tls-ca-out", "bug", "rule", "rules", "variation", "extension"} {
		if o.flags.Changed(name) {
			return fmt.Errorf("--%s works only without a script; here %s defines the server's replies", name, file)
		}
	}
	password, err := o.readPassword()
	if err != nil {
		return err
	}
	script, protocol, err := p.loadScript(file, "")
	if err != nil {
		return err
	}
	if !protocol.HasClientRules {
		return fmt.Errorf("%s is a script of %s: %s", file, protocol.Title, scriptMessage)
	}
	server, err := record.NewScriptServer(script)
	if err != nil {
		return err
	}
	clients, err := listen(o.flag("port", o.port), o.address(o.port))
	if err != nil {
		return err
	}
	defer clients.Close()
	inner, err := listen("listen", "127.0.0.1:0")
	if err != nil {
		return &shared.InternalError{Cause: err}
	}
	ctx, stop := p.interruptContext(ctx)
	defer stop()
	findings := &findingPrinter{p: p, counts: map[string]int{}}
	// What the server does is the script's: only the rules for clients count.
	clientBreaches := texts(clientrules.Rules(), func(r clientrules.Rule) string { return r.Breach })
	r := findings.recorder(record.Config{
		Dial: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", inner.Addr().String())
		},
		Watch: clientrules.Config{Password: password, Breaches: clientBreaches},
	})
	defer r.Close()
	if err := p.Print("ready tcp://" + clients.Addr().String() + "\n"); err != nil {
		return err
	}
	var group sync.WaitGroup
	group.Go(func() { _ = r.Serve(ctx, clients) }) // it ends when the listener is closed
	server.Serve(ctx, inner)
	_ = clients.Close()
	group.Wait()
	r.Close()
	return p.printOutcome(r, server)
}

// printOutcome prints what the clients did.
func (p process) printOutcome(r *record.Recorder, server *record.ScriptServer) error {
	s := r.Summary()
	differences, rest := server.Differences(), server.UnplayedConns()
	code := recordExit(s)
	switch {
	case code != reports.ExitWell:
	case len(differences) > 0:
		code = reports.ExitFindings
	case len(rest) > 0:
		code = reports.ExitInconclusive
	}
	if err := p.PrintPage(recordPage(s, code)); err != nil {
		return err
	}
	var b strings.Builder
	for _, line := range differences {
		fmt.Fprintf(&b, "not as in the script: %s\n", text.OneLine(line))
	}
	for _, line := range rest {
		fmt.Fprintf(&b, "not played: %s\n", line)
	}
	if len(differences)+len(rest) == 0 {
		b.WriteString("the script was played to the end\n")
	}
	return cmp.Or(p.Print(p.Show(b.String())), shared.ExitError(code))
}
