package program

import (
	"errors"
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

// DeclareProtocol adds --protocol, for a command that works with every protocol.
func (t *TargetFlags) DeclareProtocol(f *pflag.FlagSet) {
	t.anyProtocol = true
	DeclareProtocol(f, &t.protocol)
}

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

const onlyFWP = "this command works with FWP servers only (tcp:// or tcp+tls://); " +
	"for other protocols there are run, lint, fmt, list, explain, explore, selftest and serve of fwpcheck, " +
	"and fwpbench run"

// carried returns an error for an address of a protocol that a command does not work with, or of another one than
// --protocol names.
func (t *TargetFlags) carried(a target.Address) (*conformance.Protocol, error) {
	p, err := ProtocolNamed(a.Protocol)
	switch {
	case err != nil:
		return nil, err
	case a.Protocol != "" && !t.anyProtocol:
		return nil, errors.New(onlyFWP)
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
