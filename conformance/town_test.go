package conformance_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// town has every kind of server that checks ask for, in memory or, without a
// network, on real sockets.
type town struct {
	nw     *memnet.Network
	config fakes.Config // of all servers

	mu      sync.Mutex
	servers []*fakes.Server
}

// house is one server of the town, as a target.
type house struct {
	*fakes.Server
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

func (h house) Dial(ctx context.Context) (net.Conn, error) { return h.dial(ctx, "tcp", h.Addr()) }
func (h house) Restart(context.Context) error              { return h.Server.Restart() }
func (h house) Kill(context.Context) error                 { return h.Server.Kill() }
func (h house) Signal(_ context.Context, wid, state string) (err error) {
	return h.Server.Signal(wid, state)
}

// everything is what a server offers that nobody else uses.
var everything = []scenarios.Need{
	scenarios.NeedSignals, scenarios.NeedRestart, scenarios.NeedKill, scenarios.NeedAlone, scenarios.NeedFlush,
}

// build starts a server. Few rounds of hashing are as good as many.
func (w *town) build(config fakes.Config) (conformance.Server, func(), error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	dial := new(net.Dialer).DialContext
	if w.nw != nil {
		dial = w.nw.DialContext
		addr := fmt.Sprintf("house%d:7419", len(w.servers))
		config.Listen = func() (net.Listener, error) { return w.nw.Listen(addr) }
	}
	if config.Iterations == 0 {
		config.Iterations = 5
	}
	config.Hook, config.MaxConnections, config.ScanEvery = w.config.Hook, w.config.MaxConnections, w.config.ScanEvery
	s := fakes.NewServer(config)
	w.servers = append(w.servers, s)
	server := conformance.Server{Target: house{s, dial}, Password: config.Password, Offers: append([]scenarios.Need{scenarios.NeedOpen}, everything...)}
	if config.Password != "" {
		server.Offers[0] = scenarios.NeedPassword
	}
	return server, s.Close, nil
}

// prepare makes the server that a script's header asks for.
func (w *town) prepare(settings map[string]string) (conformance.Server, func(), error) {
	iterations, _ := strconv.Atoi(settings["iterations"]) // zero if there are none
	return w.build(fakes.Config{
		Salt: settings["salt"], Iterations: iterations, AcceptHash: settings["pwdhash"],
		StateAsSimple: settings["state"] == "simple", EndWithoutOK: settings["end"] == "close",
	})
}

// fresh is a server with as many more like it as are wanted.
func (w *town) fresh(config fakes.Config) conformance.Server {
	server, _, err := w.build(config)
	if err != nil {
		panic(err) // it has no error
	}
	server.Fresh = func() (conformance.Server, func(), error) { return w.build(config) }
	return server
}

// runner plays scripts on an open and a protected server, as fwpcheck does
// without a target.
func (w *town) runner(all []conformance.Check) *conformance.Runner {
	return &conformance.Runner{
		Servers: []conformance.Server{w.fresh(fakes.Config{}), w.fresh(fakes.Config{Password: "correct horse"})},
		Prepare: w.prepare, Checks: all,
	}
}

func (w *town) close() {
	for _, s := range w.servers {
		s.Close()
	}
}

// heaviest is a check that takes as long as all others together. It is played with
// FWP_SLOW=1 only.
const heaviest = "push/ten-thousand-jobs"

// suite returns all checks, or the quick ones.
func suite(tb testing.TB, quick bool) []conformance.Check {
	tb.Helper()
	all, err := fwpdialect.Suite()
	require.NoError(tb, err)
	in, _, err := conformance.Selection{Quick: quick}.Apply(conformance.Scripts(all...))
	require.NoError(tb, err)
	return slices.DeleteFunc(in, func(c conformance.Check) bool { return c.Describe().ID == heaviest && !slow.Enabled() })
}
