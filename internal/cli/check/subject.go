package check

import (
	"context"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/scenarios"
)

// subject is the server that a run tests.
type subject struct {
	endpoint program.Endpoint
	offers   []scenarios.Need // beside open or password
}

// subject works out the server from flags and environment. A flag that has no effect on
// it is an error.
func (o *runOptions) subject(lookup func(string) (string, bool)) (subject, error) {
	e, err := o.targetFlags.Endpoint(o.given, lookup, "restart-cmd", "kill-cmd", "signal-cmd", "allow-shared",
		"allow-flush")
	if err != nil || e.Choice.Embedded {
		return subject{endpoint: e}, err
	}
	e.Server.Hooks = o.hooks
	return subject{endpoint: e, offers: o.offers()}, nil
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
func provide(s subject) map[scenarios.Need]string {
	if s.endpoint.Choice.Embedded {
		return nil // it meets all
	}
	return map[scenarios.Need]string{
		scenarios.NeedOpen: "give the --url of a server that asks for no password",
		scenarios.NeedPassword: "start the server with a password, and put it into the URL (tcp://:PASSWORD@HOST:PORT) " +
			"or name a file with --password-file",
		scenarios.NeedSignals: "give --signal-cmd COMMAND, which finds quiet or terminate in $FWP_SIGNAL and the " +
			"worker's id in $FWP_WID",
		scenarios.NeedRestart:  "give --restart-cmd COMMAND, for example --restart-cmd 'systemctl restart faktory'",
		scenarios.NeedKill:     "give --kill-cmd COMMAND, which stops the server without warning and starts it again",
		scenarios.NeedAlone:    "give --allow-shared, if nobody else uses the server",
		scenarios.NeedFlush:    "give --allow-flush, if everything on the server may be deleted",
		scenarios.NeedEmbedded: "leave out --url (and FAKTORY_URL): this check tests the embedded server",
	}
}

// stand is what checks are run on.
type stand struct {
	servers []conformance.Server
	prepare func(map[string]string) (conformance.Server, func(), error)
	hi      string
	end     func()
}

// open starts the embedded servers, or looks whether the user's is there.
func (s subject) open(ctx context.Context, timeout time.Duration) (stand, error) {
	if !s.endpoint.Choice.Embedded {
		return s.meet(ctx, timeout)
	}
	servers, end, err := embedAll()
	if err != nil {
		return stand{}, err
	}
	id, err := conformance.Identify(ctx, servers[0].Target, timeout)
	if err != nil {
		end()
		return stand{}, fmt.Errorf("the embedded server: %w", err)
	}
	return stand{servers: servers, prepare: prepare, hi: id.Greeting, end: end}, nil
}

// meet looks whether the user's server is there and lets us in.
func (s subject) meet(ctx context.Context, timeout time.Duration) (stand, error) {
	id, err := s.endpoint.Identify(ctx, timeout)
	if err != nil {
		return stand{}, err
	}
	offers := append([]scenarios.Need{scenarios.NeedOpen}, s.offers...)
	if id.Protected {
		offers[0] = scenarios.NeedPassword
	}
	server := conformance.Server{Target: s.endpoint.Server, Password: s.endpoint.Password, Offers: offers}
	return stand{servers: []conformance.Server{server}, hi: id.Greeting, end: func() {}}, nil
}
