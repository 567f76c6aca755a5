package selftest

import (
	"net"
	"strconv"
	"sync"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// village is what a run of the suite needs: an open server, a protected one, and
// those that are made for single scripts, on a network of their own. The hooks of
// all of them are made by the same function.
type village struct {
	network *memnet.Network
	hook    func() func(*fakes.Event)

	mu      sync.Mutex
	servers []*fakes.Server
}

func newVillage(hook func() func(*fakes.Event)) *village {
	return &village{network: memnet.New(), hook: hook}
}

// build starts a server. Few rounds of hashing are as good as many, and sooner done.
func (v *village) build(config fakes.Config) conformance.Server {
	v.mu.Lock()
	defer v.mu.Unlock()
	addr := "fwp" + strconv.Itoa(len(v.servers)) + ":7419"
	config.Listen = func() (net.Listener, error) { return v.network.Listen(addr) }
	if config.Iterations == 0 {
		config.Iterations = 5
	}
	if v.hook != nil {
		config.Hook = v.hook()
	}
	s := fakes.NewServer(config)
	v.servers = append(v.servers, s)
	return Offer(s, v.network.DialContext)
}

// close ends all servers.
func (v *village) close() {
	for _, s := range v.servers {
		s.Close()
	}
}

// prepare makes the server that a script's header asks for.
func (v *village) prepare(settings map[string]string) (conformance.Server, func(), error) {
	iterations, _ := strconv.Atoi(settings["iterations"]) // zero if there are none
	server := v.build(fakes.Config{
		Salt:          settings["salt"],
		Iterations:    iterations,
		AcceptHash:    settings["pwdhash"],
		StateAsSimple: settings["state"] == "simple",
		EndWithoutOK:  settings["end"] == "close",
	})
	return server, func() {}, nil
}

// runner is a suite that plays the scripts on the village.
func (v *village) runner(scripts ...*scenarios.Script) *conformance.Runner {
	return &conformance.Runner{
		Servers: []conformance.Server{v.build(fakes.Config{}), v.build(fakes.Config{Password: "correct horse"})},
		Scripts: scripts,
		Prepare: v.prepare,
	}
}

// red lists the clauses that a report finds broken.
func red(check reports.Check) []string {
	var ids []string
	for _, c := range check.Clauses {
		if c.Verdict.Breach() {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
