package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// judged is the server that a run is about.
type judged struct {
	target.Choice
	server   *target.Server // nil: the embedded one
	password string
	offers   []scenarios.Need // beside open or password
}

// judged works out from flags and environment which server is meant. A flag that
// would mean nothing is an error.
func (o *runOptions) judged(lookup func(string) (string, bool)) (judged, error) {
	choice, err := target.Choose(o.url, o.given.Changed("url"), lookup)
	if err != nil {
		return judged{}, err
	}
	j := judged{Choice: choice}
	if choice.Embedded {
		return j, o.onlyWithURL()
	}
	config, err := o.tls.Config(choice.Address)
	if err != nil {
		return judged{}, err
	}
	j.server = &target.Server{Address: choice.Address, TLS: config, Hooks: o.hooks}
	j.offers = o.offers()
	j.password = choice.Address.Password
	if o.given.Changed("password-file") {
		if j.password != "" {
			return judged{}, errors.New("two passwords: the URL has one, and --password-file gives another")
		}
		j.password, err = target.ReadPassword(o.passwordFile)
	}
	return j, err
}

// onlyWithURL refuses what means nothing to the embedded server.
func (o *runOptions) onlyWithURL() error {
	for _, flag := range []string{"password-file", "tls-ca", "tls-server-name", "tls-insecure", "restart-cmd", "kill-cmd", "signal-cmd", "allow-shared", "allow-flush"} {
		if o.given.Changed(flag) {
			return fmt.Errorf("--%s goes with a server of yours (--url or FAKTORY_URL): the embedded one needs none of it", flag)
		}
	}
	return nil
}

// offers is what the user's flags make possible on a server of theirs.
func (o *runOptions) offers() []scenarios.Need {
	var offers []scenarios.Need
	for _, can := range []struct {
		need scenarios.Need
		yes  bool
	}{
		{scenarios.NeedSignals, o.hooks.Signal != ""},
		{scenarios.NeedRestart, o.hooks.Restart != ""},
		{scenarios.NeedKill, o.hooks.Kill != ""},
		{scenarios.NeedAlone, o.allowShared || o.allowFlush},
		{scenarios.NeedFlush, o.allowFlush},
	} {
		if can.yes {
			offers = append(offers, can.need)
		}
	}
	return offers
}

// provide says for each need how it can be met.
func provide(j judged) map[scenarios.Need]string {
	if j.Embedded {
		return nil // it meets all
	}
	return map[scenarios.Need]string{
		scenarios.NeedOpen:     "give the --url of a server that asks for no password",
		scenarios.NeedPassword: "start the server with a password, and put it into the URL (tcp://:PASSWORD@HOST:PORT) or name a file with --password-file",
		scenarios.NeedSignals:  "give --signal-cmd COMMAND, which finds quiet or terminate in $FWP_SIGNAL and the worker's id in $FWP_WID",
		scenarios.NeedRestart:  "give --restart-cmd COMMAND, for example --restart-cmd 'systemctl restart faktory'",
		scenarios.NeedKill:     "give --kill-cmd COMMAND, which stops the server without warning and starts it again",
		scenarios.NeedAlone:    "give --allow-shared, if nobody else uses the server",
		scenarios.NeedFlush:    "give --allow-flush, if everything on the server may be deleted",
		scenarios.NeedEmbedded: "leave out --url (and FAKTORY_URL): this check is about the embedded server",
	}
}

// String names the server: "tcp://localhost:7419 (from --url)".
func (j judged) String() string {
	if j.Embedded {
		return j.How
	}
	return j.Address.String() + " (" + j.How + ")"
}

// target is the server as a report names it.
func (j judged) target(hi string) reports.Target {
	t := reports.Target{Chosen: j.How, HI: hi}
	if !j.Embedded {
		t.URL = j.Address.String()
	}
	return t
}

// bench is what checks are run on.
type bench struct {
	servers []conformance.Server
	prepare func(map[string]string) (conformance.Server, func(), error)
	hi      string
	end     func()
}

// open starts the embedded servers, or looks whether the user's is there.
func (j judged) open(ctx context.Context, timeout time.Duration) (bench, error) {
	if !j.Embedded {
		return j.meet(ctx, timeout)
	}
	servers, end, err := embedAll()
	if err != nil {
		return bench{}, err
	}
	id, err := conformance.Identify(ctx, servers[0].Target, timeout)
	if err != nil {
		end()
		return bench{}, fmt.Errorf("the embedded server: %w", err)
	}
	return bench{servers: servers, prepare: prepare, hi: id.Greeting, end: end}, nil
}

// meet looks whether the user's server is there and lets us in.
func (j judged) meet(ctx context.Context, timeout time.Duration) (bench, error) {
	id, err := conformance.Identify(ctx, j.server, timeout)
	if err != nil {
		return bench{}, &unreachableError{err, j.advice(ctx, err)}
	}
	offers := append([]scenarios.Need{scenarios.NeedOpen}, j.offers...)
	if id.Protected {
		offers[0] = scenarios.NeedPassword
		if err := j.authenticate(ctx, timeout); err != nil {
			return bench{}, err
		}
	}
	server := conformance.Server{Target: j.server, Password: j.password, Offers: offers}
	return bench{servers: []conformance.Server{server}, hi: id.Greeting, end: func() {}}, nil
}

func (j judged) authenticate(ctx context.Context, timeout time.Duration) error {
	if j.password == "" {
		return &unreachableError{errors.New("the server asks for a password, and none was given"),
			"put it into the URL, " + j.withPassword() + " (the colon belongs to it), or name a file with --password-file"}
	}
	err := conformance.Authenticate(ctx, j.server, j.password, timeout)
	switch {
	case errors.Is(err, conformance.ErrDeclined) && j.Address.Password != "":
		return &unreachableError{err, "the password came " + j.How + ", where %, /, ? and # are written %25, %2F, %3F and %23"}
	case errors.Is(err, conformance.ErrDeclined):
		return &unreachableError{err, "the password came from --password-file, where it is the first and only line"}
	}
	return err
}

// withPassword is the form of a URL with a password.
func (j judged) withPassword() string {
	a := j.Address
	a.Password = "PASSWORD"
	return a.Masked()
}

// advice is what to do about a server that is none.
func (j judged) advice(ctx context.Context, err error) string {
	if advice := j.Address.Advice(err); advice != "" {
		return advice
	}
	if advice := j.server.Probe(ctx); advice != "" {
		return advice
	}
	other := "does it want TLS (tcp+tls://)?"
	if j.Address.TLS {
		other = "is it a server without TLS (tcp://)?"
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return "an FWP server greets with +HI {...}: is it at its limit of connections, still starting, or " + other
	}
	return fmt.Sprintf("an FWP server greets with +HI {...}: is %s the port on which it takes jobs (7419 unless it was told otherwise), and %s", j.Address.Port, other)
}

// unreachableError says why a server cannot be judged at all, and what to do.
type unreachableError struct {
	cause  error
	advice string
}

func (e *unreachableError) Error() string { return e.cause.Error() + ";\n" + e.advice }
func (e *unreachableError) Unwrap() error { return e.cause }
