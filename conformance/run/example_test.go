package run_test

import (
	"context"
	"fmt"
	"net"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/scenarios"
)

// tcp is a server at an address.
type tcp string

func (addr tcp) Dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", string(addr))
}

// A script that names a clause is played on a server, and the report has its verdict.
func ExampleRunner() {
	server := fakes.NewServer(fakes.Config{})
	defer server.Close()
	const text = "connect as consumer\nclause FWP-BEAT-01\nC: BEAT {\"wid\":\"$wid\"}\nS: +OK\n"
	script, err := scenarios.Parse(fwpscript.Dialect{}, "beat/ok", []byte(text))
	if err != nil {
		fmt.Println(err)
		return
	}
	runner := &run.Runner{
		Suite:   fwpsuite.Protocol(),
		Servers: []run.Server{{Target: tcp(server.Addr()), Offers: []scenarios.Need{scenarios.NeedOpen}}},
		Checks:  conformance.Scripts(script),
	}
	report := runner.Run(context.Background())
	for _, check := range report.Checks {
		fmt.Println(check.ID, check.Verdict, check.Clauses[0].ID)
	}
	// Output:
	// beat/ok pass FWP-BEAT-01
}
