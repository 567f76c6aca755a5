package conformance_test

import (
	"context"
	"fmt"
	"net"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
)

// tcp is a server at an address.
type tcp string

func (addr tcp) Dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", string(addr))
}

// A property is a check that no script can be. This one only connects.
func ExampleProperty() {
	server := fakes.NewServer(fakes.Config{})
	defer server.Close()
	greets := conformance.Property{
		Name: "mine/greets", Title: "The server greets", Connections: 1,
		Run: func(ctx context.Context, setup conformance.Setup) conformance.Evidence {
			nc, err := setup.Target.Dial(ctx)
			if err != nil {
				return conformance.Evidence{OpenCause: err.Error()}
			}
			defer nc.Close()
			greeting := make([]byte, len("+HI "))
			if _, err := nc.Read(greeting); err != nil || string(greeting) != "+HI " {
				return conformance.Evidence{HasServed: true, Findings: []conformance.Finding{
					{Clause: "FWP-HI-02", Expected: "+HI {...}", Got: string(greeting)},
				}}
			}
			return conformance.Evidence{HasServed: true}
		},
	}
	runner := &run.Runner{
		Suite:   fwpsuite.Protocol(),
		Servers: []run.Server{{Target: tcp(server.Addr())}},
		Checks:  []conformance.Check{greets},
	}
	for _, check := range runner.Run(context.Background()).Checks {
		fmt.Println(check.ID, check.Verdict)
	}
	// Output:
	// mine/greets pass
}

func ExampleSelection() {
	scripts, err := fwpscript.Suite()
	if err != nil {
		fmt.Println(err)
		return
	}
	selection := conformance.Selection{Suite: fwpsuite.Protocol(), Checks: []string{"end/*"}, Quick: true}
	in, omissions, err := selection.Apply(conformance.Scripts(scripts...))
	fmt.Println(len(in) > 0, len(in)+len(omissions) == len(scripts), err)
	fmt.Println(conformance.Selection{Suite: fwpsuite.Protocol(), Clauses: []string{"FWP-PUHS-01"}}.Apply(nil))
	// Output:
	// true true <nil>
	// [] [] clause FWP-PUHS-01 matches no check; did you mean FWP-PUSH-01?
}
