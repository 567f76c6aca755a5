package registry

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/internal/base/allow"
	"github.com/fwpsuite/fwp/internal/base/text"
)

// Bug is a way in which the embedded server of some protocol breaks its specification, as its catalogue has it.
type Bug struct {
	Name    string
	Clauses []string
	Summary string

	configure func(config any) // gives a server the bug, given a pointer to its configuration
}

// Variation is a way in which the embedded server of some protocol differs from others and conforms, as its catalogue
// has it. The zero Variation is the server as it is.
type Variation struct {
	Name, Summary string
	Allows        []allow.Row

	configure func(config any)
}

// bugsOf returns the bugs of a catalogue. hook returns where the configuration of a server has its hook.
func bugsOf[E, C any](all []catalogue.Bug[E], hook func(*C) *func(*E)) (bugs []Bug) {
	for _, f := range all {
		bugs = append(bugs, Bug{f.Name, f.Clauses, f.Summary, func(config any) {
			at := hook(config.(*C)) //nolint:forcetypeassert // the server of the same protocol calls it
			*at = catalogue.Chain(*at, f.Hook())
		}})
	}
	return bugs
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

// apply gives a server its variation and its bugs, given a pointer to its configuration.
func (c *Config) apply(config any) {
	if c.Variation.configure != nil {
		c.Variation.configure(config)
	}
	for _, f := range c.Bugs {
		f.configure(config)
	}
}

// AllBugs returns the bugs of the embedded server of a protocol, none if it has no catalogue.
func (p *Entry) AllBugs() []Bug {
	if p.Bugs == nil {
		return nil
	}
	return p.Bugs()
}

// BugNames returns the names of the bugs of the embedded server.
func (p *Entry) BugNames() (names []string) {
	for _, f := range p.AllBugs() {
		names = append(names, f.Name)
	}
	return names
}

// BugNamed returns the bug that the flag --bug names. The error names similar ones, or the protocol whose
// embedded server has the bug.
func (p *Entry) BugNamed(name string) (Bug, error) {
	all := p.AllBugs()
	if i := slices.IndexFunc(all, func(f Bug) bool { return f.Name == name }); i >= 0 {
		return all[i], nil
	}
	help := "fwpcheck list --bugs shows the planted bugs"
	if !p.IsDefault() {
		help = "fwpcheck list --protocol " + p.Name + " --bugs shows the planted bugs"
	}
	suggestion := text.DidYouMean(text.Candidates(name, p.BugNames())...)
	return Bug{}, fmt.Errorf("--bug: unknown planted bug %q; %s", name, cmp.Or(p.bugElsewhere(name), suggestion, help))
}

// AllVariations returns the variations of the embedded server of a protocol, none if it has no catalogue.
func (p *Entry) AllVariations() []Variation {
	if p.Variations == nil {
		return nil
	}
	return p.Variations()
}

// VariationNames returns the names of the variations of the embedded server.
func (p *Entry) VariationNames() (names []string) {
	for _, v := range p.AllVariations() {
		names = append(names, v.Name)
	}
	return names
}

// VariationNamed returns the variation that the flag --variation names; none for an empty name. The error names similar
// ones.
func (p *Entry) VariationNamed(name string) (Variation, error) {
	if name == "" {
		return Variation{}, nil
	}
	all := p.AllVariations()
	if i := slices.IndexFunc(all, func(v Variation) bool { return v.Name == name }); i >= 0 {
		return all[i], nil
	}
	suggestion := text.DidYouMean(text.Candidates(name, p.VariationNames())...)
	help := "fwpcheck list --protocol " + p.Name + " --variations shows the variations"
	return Variation{}, fmt.Errorf("--variation: unknown variation %q; %s", name, cmp.Or(suggestion, help))
}

// BugsNamed returns the bugs of these names; empty names stand for none.
func (p *Entry) BugsNamed(names ...string) (bugs []Bug, err error) {
	for _, name := range names {
		if name == "" {
			continue
		}
		f, err := p.BugNamed(name)
		if err != nil {
			return nil, err
		}
		bugs = append(bugs, f)
	}
	return bugs, nil
}

// bugElsewhere says of which other protocol's embedded server a name is a bug; "" if it is none.
func (p *Entry) bugElsewhere(name string) string {
	for _, other := range all() {
		if other != p && slices.Contains(other.BugNames(), name) {
			return "it is one of " + other.Name + ": give --protocol " + other.Name
		}
	}
	return ""
}

// UpgradeBugsNamed returns the UpgradeBugs of a name, one at most; none for an empty name.
func (p *Entry) UpgradeBugsNamed(name string) ([]Bug, error) {
	var names []string
	for _, f := range p.UpgradeBugs() {
		if f.Name == name {
			return []Bug{f}, nil
		}
		names = append(names, f.Name)
	}
	if name == "" {
		return nil, nil
	}
	return nil, fmt.Errorf("--bug: unknown planted bug %q; %s", name,
		cmp.Or(text.DidYouMean(text.Candidates(name, names)...), "docs/upgrades.md has the planted bugs"))
}
