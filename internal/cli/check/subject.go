package check

import (
	"context"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/scenarios"
)

// subject is the server under test.
type subject struct {
	endpoint program.Endpoint
	offers   []scenarios.Need // beside open or password
}

// subject returns the server that flags and environment name. A flag without an effect on it is an error.
func (o *runOptions) subject(lookup func(string) (string, bool)) (subject, error) {
	e, err := o.targetFlags.Endpoint(o.given, lookup, "restart-cmd", "kill-cmd", "signal-cmd", "allow-shared",
		"allow-flush")
	if err != nil || e.Choice.Embedded {
		return subject{endpoint: e}, err
	}
	e.Server.Hooks = o.hooks
	return subject{endpoint: e, offers: o.offers()}, nil
}

// offers returns what the flags make possible on the user's server.
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

// provide returns, for each need, how the user can meet it.
func provide(s subject) map[scenarios.Need]string {
	if s.endpoint.Choice.Embedded {
		return nil // the embedded server meets all
	}
	return map[scenarios.Need]string{
		scenarios.NeedOpen: "give the --url of a server that asks for no password",
		scenarios.NeedPassword: "start the server with a password, and put it into the URL (tcp://:PASSWORD@HOST:PORT) " +
			"or name a file with --password-file",
		scenarios.NeedSignals: "give --signal-cmd COMMAND, which finds quiet or terminate in $FWP_SIGNAL and the " +
			"worker's id in $FWP_WID",
		scenarios.NeedRestart:  "give --restart-cmd COMMAND, for example --restart-cmd 'systemctl restart faktory'",
		scenarios.NeedKill:     "give --kill-cmd COMMAND, which stops the server without warning and starts it again",
		scenarios.NeedAlone:    "give --allow-shared, if no other client uses the server",
		scenarios.NeedFlush:    "give --allow-flush, if everything on the server may be deleted",
		scenarios.NeedEmbedded: "leave out --url (and FAKTORY_URL): this check tests the embedded server",
	}
}

// testbed is the servers on which checks are run.
type testbed struct {
	servers []conformance.Server
	prepare func(map[string]string) (conformance.Server, func(), error)
	hi      string
	end     func()
}

// open starts the embedded servers, or connects to the user's server.
func (s subject) open(ctx context.Context, timeout time.Duration) (testbed, error) {
	if !s.endpoint.Choice.Embedded {
		return s.connect(ctx, timeout)
	}
	servers, end, err := embedAll()
	if err != nil {
		return testbed{}, err
	}
	id, err := conformance.Identify(ctx, servers[0].Target, timeout)
	if err != nil {
		end()
		return testbed{}, fmt.Errorf("the embedded server: %w", err)
	}
	return testbed{servers: servers, prepare: prepare, hi: id.Greeting, end: end}, nil
}

// connect identifies the user's server and authenticates.
func (s subject) connect(ctx context.Context, timeout time.Duration) (testbed, error) {
	id, err := s.endpoint.Identify(ctx, timeout)
	if err != nil {
		return testbed{}, err
	}
	offers := append([]scenarios.Need{scenarios.NeedOpen}, s.offers...)
	if id.Protected {
		offers[0] = scenarios.NeedPassword
	}
	server := conformance.Server{Target: s.endpoint.Server, Password: s.endpoint.Password, Offers: offers}
	return testbed{servers: []conformance.Server{server}, hi: id.Greeting, end: func() {}}, nil
}
