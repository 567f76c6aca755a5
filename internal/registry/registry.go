package registry

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/target"
)

// all has one line for each protocol; the first one is the Default.
var all = sync.OnceValue(func() []*Peer {
	return []*Peer{
		fwpPeer(),
		workqPeer(),
		emqpPeer(),
	}
})

// All returns the protocols that the programs test, the Default first. The values are the same in each call.
func All() []*Peer { return slices.Clone(all()) }

// Default returns the protocol of commands that name none: messages need not name it, and the variables of the
// environment name its servers.
func Default() *Peer { return all()[0] }

// IsDefault reports whether p is the Default.
func (p *Peer) IsDefault() bool { return p.Name == Default().Name }

// Names returns the names of the protocols.
func Names() (names []string) {
	for _, p := range all() {
		names = append(names, p.Name)
	}
	return names
}

// Schemes returns the schemes of the URLs of all protocols but the Default.
func Schemes() (schemes []target.Scheme) {
	for _, p := range all()[1:] {
		schemes = append(schemes, p.Scheme)
	}
	return schemes
}

// Lookup returns the protocol of a name; the Default for the empty one.
func Lookup(name string) (*Peer, error) {
	if name == "" {
		return Default(), nil
	}
	for _, p := range all() {
		if p.Name == name {
			return p, nil
		}
	}
	suggestion := cmp.Or(text.DidYouMean(text.Candidates(name, Names())...), "the protocols are "+strings.Join(Names(), " and "))
	return nil, fmt.Errorf("unknown protocol %q; %s", name, suggestion)
}

// WithProfile returns the protocol with what a profile adds, p itself for the empty name.
func (p *Peer) WithProfile(profile string) (*Peer, error) {
	if profile == "" {
		return p, nil
	}
	if build := p.Profiles[profile]; build != nil {
		return build(), nil
	}
	if len(p.Profiles) == 0 {
		return nil, fmt.Errorf("%s has no profiles", p.Title)
	}
	return nil, fmt.Errorf("unknown profile %q; the profiles of %s are %s", profile, p.Title,
		strings.Join(p.ProfileNames(), ", "))
}

// ProfileNames returns the names of the profiles, sorted.
func (p *Peer) ProfileNames() []string { return slices.Sorted(maps.Keys(p.Profiles)) }

// OfClause returns the protocol whose ids of clauses begin as an id does, nil if there is none.
func OfClause(id string) *Peer {
	for _, p := range all() {
		if strings.HasPrefix(id, p.Prefix) {
			return p
		}
		for _, profile := range p.Profiles {
			if _, ok := profile().ClauseByID(id); ok {
				return profile()
			}
		}
	}
	return nil
}

// Clause returns the clause of an id, of whatever protocol, and reports whether there is one.
func Clause(id string) (conformance.Clause, bool) {
	if p := OfClause(id); p != nil {
		return p.ClauseByID(id)
	}
	return conformance.Clause{}, false
}

// Clauses returns the clauses of all protocols and profiles.
func Clauses() (clauses []conformance.Clause) {
	for _, p := range all() {
		clauses = append(clauses, p.Clauses()...)
		for _, name := range p.ProfileNames() {
			clauses = append(clauses, p.Profiles[name]().Clauses()[len(p.Clauses()):]...)
		}
	}
	return clauses
}
