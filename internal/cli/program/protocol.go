package program

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/internal/target"
)

// DeclareProtocol adds --protocol to f.
func DeclareProtocol(f *pflag.FlagSet, name *string) {
	f.StringVar(name, "protocol", "",
		"the `PROTOCOL`: "+strings.Join(peer.Names(), " or ")+" (default: that of the URL, else "+peer.Default().Name+")")
}

// DeclareProfile adds --profile to f.
func DeclareProfile(f *pflag.FlagSet, name *string) {
	f.StringVar(name, "profile", "", "with what the servers of a `FAMILY` have beyond the specification: "+
		strings.Join(peer.Default().ProfileNames(), ", "))
}

// PeerWith returns the protocol that --protocol names, with what --profile adds to it.
func PeerWith(name, profile string) (*peer.Peer, error) {
	p, err := PeerNamed(name)
	if err != nil {
		return nil, err
	}
	if p, err = p.With(profile); err != nil {
		return nil, fmt.Errorf("--profile: %w", err)
	}
	return p, nil
}

// PeerNamed returns the protocol that --protocol names.
func PeerNamed(name string) (*peer.Peer, error) {
	p, err := peer.Named(name)
	if err != nil {
		return nil, fmt.Errorf("--protocol: %w", err)
	}
	return p, nil
}

// Protocol returns the name of the protocol that --protocol or the scheme of --url gives; empty if none does.
func (t *TargetFlags) Protocol() string {
	if t.ProtocolName == "" {
		if a, err := target.ParseURL(t.url, peer.Schemes()...); err == nil {
			return a.Protocol
		}
	}
	return t.ProtocolName
}

// SetProtocol has the target be one of a protocol, where the flags leave that open: that of the user's scripts.
func (t *TargetFlags) SetProtocol(p *peer.Peer) {
	t.ProtocolName = cmp.Or(t.ProtocolName, p.Name)
}

// named returns the protocol of a name, as --profile has it. It is an error if the command does not work with it.
func (t *TargetFlags) named(protocol string) (*peer.Peer, error) {
	p, err := PeerWith(protocol, t.Profile)
	if err != nil {
		return nil, err
	}
	return p, p.Refusal(t.Command)
}

// carried returns the protocol of an address. It is an error if the command does not work with it, or if --protocol
// names another one.
func (t *TargetFlags) carried(a target.Address) (*peer.Peer, error) {
	p, err := t.named(a.Protocol)
	if err != nil {
		return nil, err
	}
	if other, err := peer.Named(t.ProtocolName); err == nil && t.ProtocolName != "" && other.Name != p.Name {
		return nil, fmt.Errorf("the URL is one of %s, and the protocol is %s: the scheme of its URLs is %s://",
			p.Name, t.ProtocolName, other.Scheme.Name)
	}
	return p, nil
}

// DeclareFault adds the flag --fault to a command; usage is "" for the usual one.
func DeclareFault(cmd *cobra.Command, name *string, usage string) {
	usage = cmp.Or(usage,
		"give the embedded server the fault `NAME` of the catalogue, to see what is found (fwpcheck list --faults)")
	cmd.Flags().StringVar(name, "fault", "", usage)
}

// completeFault completes the value of --fault with the faults of the protocol that --protocol names.
func completeFault(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	name, _ := cmd.Flags().GetString("protocol") // that of commands without the flag is the Default
	if p, err := peer.Named(name); err == nil {
		names = p.FaultNames()
		if cmd.Name() == "selftest" { // which plays those of clients too
			for _, f := range p.TestedFaults()[len(p.AllFaults()):] {
				names = append(names, f.Name)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// SetFault has the embedded server have the fault that the flag --fault names, and say so in its name; it does nothing
// for the empty name. It is an error if the endpoint is not the embedded server, or that has no such fault.
func (e *Endpoint) SetFault(name string) error {
	if name == "" {
		return nil
	}
	if !e.Choice.Embedded {
		return fmt.Errorf("--fault works only with the embedded server, and the target is %s", e)
	}
	fault, err := e.Peer.FaultNamed(name)
	if err == nil {
		e.Faults = append(e.Faults, fault)
		e.Choice.How += " with the fault " + fault.Name
	}
	return err
}

// embeddedName returns what messages call the embedded server of a protocol.
func embeddedName(p *peer.Peer) string {
	if p.IsDefault() {
		return "the embedded server"
	}
	return "the embedded " + p.Title + " server"
}
