package shared

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
)

// DeclareProtocol adds --protocol to f. Its help gives as the default prefix, and behind it the Default.
func DeclareProtocol(f *pflag.FlagSet, name *string, prefix string) {
	f.StringVar(name, "protocol", "",
		"the `PROTOCOL`: "+strings.Join(registry.Names(), " or ")+" (default: "+prefix+registry.Default().Name+")")
}

// DeclareProtocol adds --protocol to f.
func (t *TargetFlags) DeclareProtocol(f *pflag.FlagSet) {
	DeclareProtocol(f, &t.ProtocolName, "that of the URL, else ")
}

// DeclareExtension adds --extension to f.
func DeclareExtension(f *pflag.FlagSet, name *string) {
	f.StringVar(name, "extension", "", "expect what an `EXTENSION` adds to the protocol: "+
		strings.Join(registry.Default().ExtensionNames(), ", "))
}

// EntryWith returns the protocol that --protocol names, with what --extension adds to it.
func EntryWith(name, extension string) (*registry.Entry, error) {
	p, err := EntryNamed(name)
	if err != nil {
		return nil, err
	}
	if p, err = p.WithExtension(extension); err != nil {
		return nil, fmt.Errorf("--extension: %w", err)
	}
	return p, nil
}

// EntryNamed returns the protocol that --protocol names.
func EntryNamed(name string) (*registry.Entry, error) {
	p, err := registry.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("--protocol: %w", err)
	}
	return p, nil
}

// Protocol returns the name of the protocol that --protocol or the scheme of --url gives; empty if none does.
func (t *TargetFlags) Protocol() string {
	if t.ProtocolName == "" {
		if a, err := target.ParseURL(t.url, registry.Schemes()...); err == nil {
			return a.Protocol
		}
	}
	return t.ProtocolName
}

// SetProtocol has the target be one of a protocol, where the flags leave that open: that of the user's scripts.
func (t *TargetFlags) SetProtocol(p *registry.Entry) {
	t.ProtocolName = cmp.Or(t.ProtocolName, p.Name)
}

// entry returns the protocol of a name, as --extension has it. It is an error if the command does not work with it.
func (t *TargetFlags) entry(protocol string) (*registry.Entry, error) {
	p, err := EntryWith(protocol, t.Extension)
	if err != nil {
		return nil, err
	}
	return p, p.Refusal(t.Command)
}

// entryOfAddress returns the protocol of an address. It is an error if the command does not work with it, or if
// --protocol names another one.
func (t *TargetFlags) entryOfAddress(a target.Address) (*registry.Entry, error) {
	p, err := t.entry(a.Protocol)
	if err != nil {
		return nil, err
	}
	if other, err := registry.Lookup(t.ProtocolName); err == nil && t.ProtocolName != "" && other.Name != p.Name {
		return nil, fmt.Errorf("the URL is for %s, but --protocol is %s: its URLs begin with %s://",
			p.Name, t.ProtocolName, other.Scheme.Name)
	}
	return p, nil
}

// DeclareBug adds the flag --bug to a command; usage is "" for the usual one.
func DeclareBug(cmd *cobra.Command, name *string, usage string) {
	usage = cmp.Or(usage,
		"give the embedded server the planted bug `NAME`, to see what is found (see fwpcheck list --bugs)")
	cmd.Flags().StringVar(name, "bug", "", usage)
}

// DeclareVariation adds the flag --variation to a command; server is which one it is about, "" for the only one.
func DeclareVariation(cmd *cobra.Command, name *string, server string) {
	cmd.Flags().StringVar(name, "variation", "", "have "+cmp.Or(server, "the embedded server")+
		" differ by the variation `NAME`, which is right too (see fwpcheck list --variations)")
}

// completeNames completes the value of a flag with what names returns of the protocol that --protocol names.
func completeNames(names func(*registry.Entry) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		name, _ := cmd.Flags().GetString("protocol") // that of commands without the flag is the Default
		p, err := registry.Lookup(name)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(p), cobra.ShellCompDirectiveNoFileComp
	}
}

// SetBug has the embedded server have the bug that the flag --bug names, and say so in its name; it does nothing
// for the empty name. It is an error if the endpoint is not the embedded server, or that has no such bug.
func (e *Endpoint) SetBug(name string) error {
	if name == "" {
		return nil
	}
	if !e.Choice.IsEmbedded {
		return fmt.Errorf("--bug works only with the embedded server; the target is %s", e)
	}
	bug, err := e.Entry.BugNamed(name)
	if err == nil {
		e.Bugs = append(e.Bugs, bug)
		e.Choice.Source += " with the planted bug " + bug.Name
	}
	return err
}

// SetVariation does the same with the variation that the flag --variation names.
func (e *Endpoint) SetVariation(name string) (err error) {
	if name == "" {
		return nil
	}
	if !e.Choice.IsEmbedded {
		return fmt.Errorf("--variation works only with the embedded server; the target is %s", e)
	}
	if e.Variation, err = e.Entry.VariationNamed(name); err == nil {
		e.Choice.Source += " with the variation " + name
	}
	return err
}

// embeddedName returns what messages call the embedded server of a protocol.
func embeddedName(p *registry.Entry) string {
	if p.IsDefault() {
		return "the embedded server"
	}
	return "the embedded " + p.Title + " server"
}
