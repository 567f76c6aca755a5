package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/emqpsuite"
	"github.com/fwpsuite/fwp/conformance/workqsuite"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/text"
)

// Protocols returns the protocols that the programs test, FWP first. They are the same in each call.
func Protocols() []*conformance.Protocol {
	return []*conformance.Protocol{conformance.FWP(), workqsuite.Protocol(), emqpsuite.Protocol()}
}

// ProtocolNamed returns the protocol of a name; FWP for the empty one.
func ProtocolNamed(name string) (*conformance.Protocol, error) {
	if name == "" {
		return conformance.FWP(), nil
	}
	all := Protocols()
	if i := slices.IndexFunc(all, func(p *conformance.Protocol) bool { return p.Name == name }); i >= 0 {
		return all[i], nil
	}
	names := ProtocolNames()
	near := text.DidYouMean(text.Candidates(name, names)...)
	if near == "" {
		near = "the protocols are " + strings.Join(names, " and ")
	}
	return nil, fmt.Errorf("unknown protocol %q; %s", name, near)
}

// ProtocolNames returns the names of the protocols.
func ProtocolNames() []string {
	var names []string
	for _, p := range Protocols() {
		names = append(names, p.Name)
	}
	return names
}

// DeclareProtocol adds --protocol to f.
func DeclareProtocol(f *pflag.FlagSet, name *string) {
	f.StringVar(name, "protocol", "",
		"the `PROTOCOL`: "+strings.Join(ProtocolNames(), " or ")+" (default: that of the URL, else fwp)")
}

// Of says to which command the flags belong, "fwpcheck record" for example: a target of a protocol with which it does
// not work is an error then.
func (t *TargetFlags) Of(command string) { t.command = command }

// DeclareProtocol adds --protocol, for a command that has an embedded server of more than one protocol.
func (t *TargetFlags) DeclareProtocol(f *pflag.FlagSet) { DeclareProtocol(f, &t.protocol) }

// Protocol returns the name of the protocol that --protocol or the scheme of --url gives; empty if none does.
func (t *TargetFlags) Protocol() string {
	if t.protocol == "" {
		if a, err := target.ParseURL(t.url); err == nil {
			return a.Protocol
		}
	}
	return t.protocol
}

// SetProtocol has the target be one of a protocol, where the flags leave that open: that of the user's scripts.
func (t *TargetFlags) SetProtocol(p *conformance.Protocol) {
	if t.protocol == "" {
		t.protocol = p.Name
	}
}

// carried returns the protocol of an address. It is an error if the command does not work with it, or if --protocol
// names another one.
func (t *TargetFlags) carried(a target.Address) (*conformance.Protocol, error) {
	p, err := ProtocolNamed(a.Protocol)
	switch {
	case err != nil:
		return nil, err
	case Refusal(t.command, p.Name) != nil:
		return nil, Refusal(t.command, p.Name)
	case t.protocol != "" && t.protocol != p.Name:
		return nil, fmt.Errorf("the URL is one of %s, and the protocol is %s: the scheme of its URLs is %s://",
			p.Name, t.protocol, schemeOf(t.protocol))
	}
	return p, nil
}

func schemeOf(protocol string) string {
	if protocol == conformance.FWP().Name {
		return "tcp"
	}
	return protocol
}
