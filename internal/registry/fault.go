package registry

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/internal/base/allow"
	"github.com/fwpsuite/fwp/internal/base/text"
)

// Fault is a way in which the embedded server of some protocol breaks its specification, as its catalogue has it.
type Fault struct {
	Name    string
	Clauses []string
	Summary string

	configure func(config any) // gives a server the fault, given a pointer to its configuration
}

// Variation is a way in which the embedded server of some protocol differs from others and conforms, as its catalogue
// has it. The zero Variation is the server as it is.
type Variation struct {
	Name, Summary string
	Allows        []allow.Row

	configure func(config any)
}

// faultsOf returns the faults of a catalogue. hook returns where the configuration of a server has its hook.
func faultsOf[E, C any](all []catalogue.Fault[E], hook func(*C) *func(*E)) (faults []Fault) {
	for _, f := range all {
		faults = append(faults, Fault{f.Name, f.Clauses, f.Summary, func(config any) {
			at := hook(config.(*C)) //nolint:forcetypeassert // the server of the same protocol calls it
			*at = catalogue.Both(*at, f.Hook())
		}})
	}
	return faults
}

// variationsOf returns the variations of a catalogue.
func variationsOf[C any](all []catalogue.Variation[C]) (variations []Variation) {
	for _, v := range all {
		variations = append(variations, Variation{v.Name, v.Summary, v.Allows, func(config any) {
			v.Configure(config.(*C)) //nolint:forcetypeassert // the server of the same protocol calls it
		}})
	}
	return variations
}

// apply gives a server its variation and its faults, given a pointer to its configuration.
func (c *Config) apply(config any) {
	if c.Variation.configure != nil {
		c.Variation.configure(config)
	}
	for _, f := range c.Faults {
		f.configure(config)
	}
}

// AllFaults returns the faults of the embedded server of a protocol, none if it has no catalogue.
func (p *Peer) AllFaults() []Fault {
	if p.Faults == nil {
		return nil
	}
	return p.Faults()
}

// FaultNames returns the names of the faults of the embedded server.
func (p *Peer) FaultNames() (names []string) {
	for _, f := range p.AllFaults() {
		names = append(names, f.Name)
	}
	return names
}

// FaultNamed returns the fault that the flag --fault names. The error names similar ones, or the protocol whose
// embedded server has the fault.
func (p *Peer) FaultNamed(name string) (Fault, error) {
	all := p.AllFaults()
	if i := slices.IndexFunc(all, func(f Fault) bool { return f.Name == name }); i >= 0 {
		return all[i], nil
	}
	help := "fwpcheck list --faults shows the faults"
	if !p.IsDefault() {
		help = "fwpcheck list --protocol " + p.Name + " --faults shows the faults"
	}
	near := text.DidYouMean(text.Candidates(name, p.FaultNames())...)
	return Fault{}, fmt.Errorf("--fault: unknown fault %q; %s", name, cmp.Or(p.faultElsewhere(name), near, help))
}

// AllVariations returns the variations of the embedded server of a protocol, none if it has no catalogue.
func (p *Peer) AllVariations() []Variation {
	if p.Variations == nil {
		return nil
	}
	return p.Variations()
}

// VariationNames returns the names of the variations of the embedded server.
func (p *Peer) VariationNames() (names []string) {
	for _, v := range p.AllVariations() {
		names = append(names, v.Name)
	}
	return names
}

// VariationNamed returns the variation that the flag --variation names; none for an empty name. The error names similar
// ones.
func (p *Peer) VariationNamed(name string) (Variation, error) {
	if name == "" {
		return Variation{}, nil
	}
	all := p.AllVariations()
	if i := slices.IndexFunc(all, func(v Variation) bool { return v.Name == name }); i >= 0 {
		return all[i], nil
	}
	near := text.DidYouMean(text.Candidates(name, p.VariationNames())...)
	help := "fwpcheck list --protocol " + p.Name + " --variations shows the variations"
	return Variation{}, fmt.Errorf("--variation: unknown variation %q; %s", name, cmp.Or(near, help))
}

// FaultsNamed returns the faults of these names; empty names stand for none.
func (p *Peer) FaultsNamed(names ...string) (faults []Fault, err error) {
	for _, name := range names {
		if name == "" {
			continue
		}
		f, err := p.FaultNamed(name)
		if err != nil {
			return nil, err
		}
		faults = append(faults, f)
	}
	return faults, nil
}

// faultElsewhere says of which other protocol's embedded server a name is a fault; "" if it is none.
func (p *Peer) faultElsewhere(name string) string {
	for _, other := range all() {
		if other != p && slices.Contains(other.FaultNames(), name) {
			return "it is one of " + other.Name + ": give --protocol " + other.Name
		}
	}
	return ""
}

// UpgradeFaultsNamed returns the fault of that name among those of what the embedded server keeps; none for an empty
// name.
func (p *Peer) UpgradeFaultsNamed(name string) ([]Fault, error) {
	var names []string
	for _, f := range p.UpgradeFaults() {
		if f.Name == name {
			return []Fault{f}, nil
		}
		names = append(names, f.Name)
	}
	if name == "" {
		return nil, nil
	}
	return nil, fmt.Errorf("--fault: unknown fault %q; %s", name, cmp.Or(text.DidYouMean(text.Candidates(name, names)...),
		"docs/upgrades.md has the faults"))
}
