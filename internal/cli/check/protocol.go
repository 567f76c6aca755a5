package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/fakeworkq"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/emqpdialect"
)

// clauseByID returns the clause of a protocol with this id.
func clauseByID(id string) (conformance.Clause, bool) {
	for _, p := range program.Protocols() {
		if strings.HasPrefix(id, p.Prefix) {
			return p.ClauseByID(id)
		}
	}
	return conformance.Clause{}, false
}

// allClauses returns the clauses of all protocols.
func allClauses() (all []conformance.Clause) {
	for _, p := range program.Protocols() {
		all = append(all, p.Clauses()...)
	}
	return all
}

// checksOf returns the checks of a protocol: its scripts, and then its properties.
func checksOf(p *conformance.Protocol) ([]conformance.Check, error) {
	if p.Name == conformance.FWP().Name {
		return checks()
	}
	return scriptsOf(p)
}

// scriptsOf returns the checks of a protocol that are scripts.
func scriptsOf(p *conformance.Protocol) ([]conformance.Check, error) {
	scripts, err := p.Scripts()
	if err != nil {
		return nil, &program.InternalError{Cause: fmt.Errorf("the scripts of %s: %w", p.Title, err)}
	}
	return conformance.Scripts(scripts...), nil
}

// protocolsNamed returns the protocol of a name; all of them if it is empty.
func protocolsNamed(name string) ([]*conformance.Protocol, error) {
	if name == "" {
		return program.Protocols(), nil
	}
	p, err := program.ProtocolNamed(name)
	if err != nil {
		return nil, fmt.Errorf("--protocol: %w", err)
	}
	return []*conformance.Protocol{p}, nil
}

// ofProtocol reports whether a clause is one of these protocols.
func ofProtocol(c conformance.Clause, all []*conformance.Protocol) bool {
	return slices.ContainsFunc(all, func(p *conformance.Protocol) bool { return strings.HasPrefix(c.ID, p.Prefix) })
}

// protocolOfClause returns the protocol that a clause is one of.
func protocolOfClause(c conformance.Clause) *conformance.Protocol {
	all := program.Protocols()
	return all[slices.IndexFunc(all, func(p *conformance.Protocol) bool { return strings.HasPrefix(c.ID, p.Prefix) })]
}

// allFaultNames returns the names of the faults of all embedded servers.
func allFaultNames() (names []string) {
	for _, p := range program.Protocols() {
		for _, f := range faultsOfProtocol(p) {
			names = append(names, f.Name)
		}
	}
	return names
}

// dialectOf returns the dialect that a script is written in: that of its header, else the given one. What the header
// names and is unknown is reported by the parser.
func dialectOf(source []byte, otherwise *conformance.Protocol) *conformance.Protocol {
	if name := scenarios.Protocol(source); name != "" {
		if p, err := program.ProtocolNamed(name); err == nil {
			return p
		}
	}
	return otherwise
}

// protocolOf returns the protocol of the scripts of a command; otherwise is that of those whose header names none. It
// is an error if they have several, or another one than the flags name.
func protocolOf(files []scriptFile, named string) (*conformance.Protocol, error) {
	otherwise, err := program.ProtocolNamed(named)
	if err != nil {
		return nil, fmt.Errorf("--protocol: %w", err)
	}
	one := otherwise
	for i, f := range files {
		switch p := dialectOf(f.source, otherwise); {
		case named != "" && p.Name != otherwise.Name:
			return nil, fmt.Errorf("%s is a script of %s, and the target is one of %s", f.name, p.Name, named)
		case i > 0 && p.Name != one.Name:
			return nil, fmt.Errorf("%s is a script of %s, and %s one of %s: play them apart", files[0].name, one.Name, f.name,
				p.Name)
		default:
			one = p
		}
	}
	return one, nil
}

// workqFault returns the fault of the embedded Workq server that --fault names, and has the endpoint say that the
// server has it.
func workqFault(e *program.Endpoint, name string) (fakeworkq.Fault, error) {
	if !e.Choice.Embedded {
		return fakeworkq.Fault{}, fmt.Errorf("--fault works only with the embedded server, and the target is %s", e)
	}
	f, err := program.WorkqFaultNamed(name)
	if err == nil {
		e.Choice.How += " with the fault " + name
	}
	return f, err
}

// embeddedFault returns an error if the embedded server of an endpoint has no fault of that name; otherwise it has the
// endpoint say that the server has it.
func embeddedFault(e *program.Endpoint, name string) error {
	if name == "" {
		return nil
	}
	if !e.Choice.Embedded {
		return fmt.Errorf("--fault works only with the embedded server, and the target is %s", e)
	}
	var names []string
	for _, f := range faultsOfProtocol(e.Protocol) {
		if f.Name == name {
			e.Choice.How += " with the fault " + name
			return nil
		}
		names = append(names, f.Name)
	}
	near := text.DidYouMean(text.Candidates(name, names)...)
	return fmt.Errorf("--fault: unknown fault %q; %s", name, cmp.Or(program.FaultOf(name, e.Protocol.Name), near,
		"fwpcheck list --protocol "+e.Protocol.Name+" --faults shows the faults"))
}

// faultsOfProtocol returns the faults of the embedded server of a protocol, as list shows them.
func faultsOfProtocol(p *conformance.Protocol) (all []fakes.Fault) {
	if p.Name == conformance.FWP().Name {
		return fakes.Faults()
	}
	if p.Name == emqpdialect.Name {
		return emqpFaults()
	}
	for _, f := range fakeworkq.Faults() {
		all = append(all, fakes.Fault{Name: f.Name, Clauses: f.Clauses, Summary: f.Summary})
	}
	return all
}

// embedOf starts a server of a protocol with the fault of that name, none if it is empty. It meets every need that a
// server without a password can.
func embedOf(ctx context.Context, p *conformance.Protocol, fault string) (conformance.Server, func(), error) {
	switch p.Name {
	case conformance.FWP().Name:
		f, err := program.FaultNamed(fault)
		if err != nil {
			return conformance.Server{}, nil, err
		}
		return embed(ctx, f, fakes.Config{})
	case emqpdialect.Name:
		return embedEMQP(ctx, fault)
	}
	f, err := program.WorkqFaultNamed(fault)
	if err != nil {
		return conformance.Server{}, nil, err
	}
	return embedWorkq(ctx, f)
}

// embedWorkq starts a Workq server with a fault on a free port of this machine; the zero Fault is none.
func embedWorkq(ctx context.Context, fault fakeworkq.Fault) (conformance.Server, func(), error) {
	l, err := loopback(ctx)()
	if err != nil {
		return conformance.Server{}, nil, fmt.Errorf("start the embedded server: %w", err)
	}
	address, err := target.ParseURL("workq://" + l.Addr().String())
	if err != nil {
		return conformance.Server{}, nil, fmt.Errorf("start the embedded server: %w", err)
	}
	var config fakeworkq.Config
	if fault.Hook != nil {
		config.Hook = fault.Hook()
	}
	fake := fakeworkq.NewServer(config)
	go fake.Serve(l)
	return conformance.Server{
		Target: &target.Server{Address: address},
		Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone, scenarios.NeedFlush},
		Fresh:  func() (conformance.Server, func(), error) { return embedWorkq(ctx, fault) },
	}, fake.Close, nil
}
