package conformance_test

import (
	"context"
	"fmt"
	"net"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
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
	script, err := scenarios.Parse(fwpdialect.Dialect{}, "beat/ok", []byte(text))
	if err != nil {
		fmt.Println(err)
		return
	}
	runner := &conformance.Runner{
		Servers: []conformance.Server{{Target: tcp(server.Addr()), Offers: []scenarios.Need{scenarios.NeedOpen}}},
		Checks:  conformance.Scripts(script),
	}
	report := runner.Run(context.Background())
	for _, check := range report.Checks {
		fmt.Println(check.ID, check.Verdict, check.Clauses[0].ID)
	}
	// Output:
	// beat/ok pass FWP-BEAT-01
}

// A property is a check that no script can be. This one only connects.
func ExampleProperty() {
	server := fakes.NewServer(fakes.Config{})
	defer server.Close()
	greets := conformance.Property{
		Name: "mine/greets", Title: "The server greets", Connections: 1,
		Run: func(ctx context.Context, on conformance.Setup) conformance.Evidence {
			nc, err := on.Target.Dial(ctx)
			if err != nil {
				return conformance.Evidence{Open: err.Error()}
			}
			defer nc.Close()
			greeting := make([]byte, len("+HI "))
			if _, err := nc.Read(greeting); err != nil || string(greeting) != "+HI " {
				return conformance.Evidence{Served: true, Findings: []conformance.Finding{
					{Clause: "FWP-HI-02", Expected: "+HI {...}", Got: string(greeting)},
				}}
			}
			return conformance.Evidence{Served: true}
		},
	}
	runner := &conformance.Runner{
		Servers: []conformance.Server{{Target: tcp(server.Addr())}},
		Checks:  []conformance.Check{greets},
	}
	for _, check := range runner.Run(context.Background()).Checks {
		fmt.Println(check.ID, check.Verdict)
	}
	// Output:
	// mine/greets pass
}

func ExampleSelection() {
	scripts, err := fwpdialect.Suite()
	if err != nil {
		fmt.Println(err)
		return
	}
	selection := conformance.Selection{Checks: []string{"end/*"}, Quick: true}
	in, skipped, err := selection.Apply(conformance.Scripts(scripts...))
	fmt.Println(len(in) > 0, len(in)+len(skipped) == len(scripts), err)
	fmt.Println(conformance.Selection{Clauses: []string{"FWP-PUHS-01"}}.Apply(nil))
	// Output:
	// true true <nil>
	// [] [] clause FWP-PUHS-01 matches no check; did you mean FWP-PUSH-01?
}

// ClauseOf returns the clause of a breach by its name.
func ExampleClauseOf() {
	id := conformance.ClauseOf("lost")
	clause, _ := conformance.ClauseByID(id)
	fmt.Println(id, clause.Level)
	fmt.Println(conformance.ClauseOf("foreign-reply:FETCH"))
	// Output:
	// FWP-PUSH-04 derived
	// FWP-FETCH-01
}
