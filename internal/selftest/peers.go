package selftest

import (
	"context"
	"net"
	"strconv"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/memnet"
)

// Fault is a way in which a server of some protocol breaks its specification, as its catalogue describes it: see
// FWPFaults, WorkqFaults and EMQPFaults.
type Fault struct {
	Name    string
	Clauses []string
	Summary string
	pool    func(Fixture) pool
}

// Variation is a way in which a server of some protocol differs from others and conforms, as its catalogue describes
// it: see FWPVariations, WorkqVariations and EMQPVariations.
type Variation struct {
	Name          string
	Warns, Leaves []string
	conforming    bool // it is no variation, but the embedded server itself
	pool          func(Fixture) pool
}

// pool starts the servers of one run of the suite.
type pool interface {
	// runner returns a runner that plays the checks on servers that run.
	runner(checks ...conformance.Check) (*conformance.Runner, error)
	// close ends all servers.
	close()
}

// Fixture is where servers listen: in memory if it has a network, as virtual time needs
// it, and on the loopback interface otherwise.
type Fixture struct {
	Network *memnet.Network
}

// listen returns a function that listens as the nth server of a pool does; nil on the loopback interface.
func (f Fixture) listen(n int) func() (net.Listener, error) {
	if f.Network == nil {
		return nil
	}
	addr := "fwp" + strconv.Itoa(n) + ":7419"
	return func() (net.Listener, error) { return f.Network.Listen(addr) }
}

func (f Fixture) dialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	if f.Network == nil {
		return nil
	}
	return f.Network.DialContext
}
