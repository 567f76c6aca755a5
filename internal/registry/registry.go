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
var all = sync.OnceValue(func() []*Entry {
	return []*Entry{
		fwpEntry(),
		workqEntry(),
		emqpEntry(),
	}
})

// All returns the protocols that the programs test, the Default first. The values are the same in each call.
func All() []*Entry { return slices.Clone(all()) }

// Default returns the protocol of commands that name none: messages need not name it, and the variables of the
// environment name its servers.
func Default() *Entry { return all()[0] }

// IsDefault reports whether p is the Default.
func (p *Entry) IsDefault() bool { return p.Name == Default().Name }

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
func Lookup(name string) (*Entry, error) {
	if name == "" {
		return Default(), nil
	}
	for _, p := range all() {
		if p.Name == name {
			return p, nil
		}
	}
	suggestion := cmp.Or(text.DidYouMean(text.Candidates(name, Names())...),
		"the protocols are "+strings.Join(Names(), " and "))
	return nil, fmt.Errorf("unknown protocol %q; %s", name, suggestion)
}

// WithExtension returns the protocol with what an extension adds, p itself for the empty name.
func (p *Entry) WithExtension(extension string) (*Entry, error) {
	if extension == "" {
		return p, nil
	}
	if build := p.Extensions[extension]; build != nil {
		return build(), nil
	}
	if len(p.Extensions) == 0 {
		return nil, fmt.Errorf("%s has no extensions", p.Title)
	}
	return nil, fmt.Errorf("unknown extension %q; the extensions of %s are %s", extension, p.Title,
		strings.Join(p.ExtensionNames(), ", "))
}

// ExtensionNames returns the names of the extensions, sorted.
func (p *Entry) ExtensionNames() []string { return slices.Sorted(maps.Keys(p.Extensions)) }

// OfClause returns the protocol whose ids of clauses begin as an id does, nil if there is none.
func OfClause(id string) *Entry {
	for _, p := range all() {
		if strings.HasPrefix(id, p.Prefix) {
			return p
		}
		for _, extension := range p.Extensions {
			if _, ok := extension().ClauseByID(id); ok {
				return extension()
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

// Clauses returns the clauses of all protocols and extensions.
func Clauses() (clauses []conformance.Clause) {
	for _, p := range all() {
		clauses = append(clauses, p.Clauses()...)
		for _, name := range p.ExtensionNames() {
			clauses = append(clauses, p.Extensions[name]().Clauses()[len(p.Clauses()):]...)
		}
	}
	return clauses
}
