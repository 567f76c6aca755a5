package program

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fakes/fakeemqp"
	"github.com/fwpsuite/fwp/fakes/fakeworkq"
	"github.com/fwpsuite/fwp/internal/text"
)

// FaultNames returns the names of the embedded server's faults.
func FaultNames() []string {
	var names []string
	for _, f := range fakes.Faults() {
		names = append(names, f.Name)
	}
	return names
}

// DeclareFault adds the flag --fault to f.
func DeclareFault(f *pflag.FlagSet, name *string) {
	f.StringVar(name, "fault", "",
		"give the embedded server the fault `NAME` of the catalogue, to see what is found (fwpcheck list --faults)")
}

// SetFault returns the fault that the flag --fault names, and has the endpoint say in its name that the server has it.
// It is an error if the endpoint is not the embedded server.
func (e *Endpoint) SetFault(name string) (fakes.Fault, error) {
	if name != "" && !e.Choice.Embedded {
		return fakes.Fault{}, fmt.Errorf("--fault works only with the embedded server, and the target is %s", e)
	}
	fault, err := FaultNamed(name)
	if err == nil && name != "" {
		e.Choice.How += " with the fault " + name
	}
	return fault, err
}

// FaultOf returns words that say of which other protocol's embedded server a name is a fault; "" if it is none.
func FaultOf(name, protocol string) string {
	for _, of := range []struct {
		protocol string
		names    []string
	}{
		{conformance.FWP().Name, FaultNames()}, {"workq", namesOf(fakeworkq.Faults())}, {"emqp", namesOf(fakeemqp.Faults())},
	} {
		if of.protocol != protocol && slices.Contains(of.names, name) {
			return "it is one of " + of.protocol + ": give --protocol " + of.protocol
		}
	}
	return ""
}

func namesOf[E any](all []catalogue.Fault[E]) (names []string) {
	for _, f := range all {
		names = append(names, f.Name)
	}
	return names
}

// FaultNamed returns the fault that the flag --fault names; no fault for the empty name.
func FaultNamed(name string) (fakes.Fault, error) {
	all := fakes.Faults()
	i := slices.IndexFunc(all, func(f fakes.Fault) bool { return f.Name == name })
	switch {
	case i >= 0:
		return all[i], nil
	case name == "":
		return fakes.Fault{}, nil
	}
	near := text.DidYouMean(text.Candidates(name, FaultNames())...)
	return fakes.Fault{}, fmt.Errorf("--fault: unknown fault %q; %s", name, cmp.Or(FaultOf(name, "fwp"), near,
		"fwpcheck list --faults shows the faults"))
}

// WorkqFaultNamed returns the fault of the embedded Workq server that the flag --fault names; no fault for the empty
// name.
func WorkqFaultNamed(name string) (fakeworkq.Fault, error) {
	return faultNamed(fakeworkq.Faults(), "workq", name)
}

// EMQPFaultNamed does so for the embedded broker of eMQP.
func EMQPFaultNamed(name string) (fakeemqp.Fault, error) {
	return faultNamed(fakeemqp.Faults(), "emqp", name)
}

func faultNamed[E any](all []catalogue.Fault[E], protocol, name string) (none catalogue.Fault[E], err error) {
	if name == "" {
		return none, nil
	}
	for _, f := range all {
		if f.Name == name {
			return f, nil
		}
	}
	near := text.DidYouMean(text.Candidates(name, namesOf(all))...)
	return none, fmt.Errorf("--fault: unknown fault %q; %s", name, cmp.Or(FaultOf(name, protocol), near,
		"fwpcheck list --protocol "+protocol+" --faults shows the faults"))
}
