package suite

import (
	"embed"
	"io/fs"
	"slices"
	"sync"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// extensionDocuments are those that the clauses of extensions are written from. They are external.
var extensionDocuments = []conformance.Document{
	{Name: "Faktory wiki, Mutate API (2024-10-28, read 2026-11-24)"},
	{Name: "Faktory changelog, 1.5.0 (read 2026-11-24)"},
	{Name: "Faktory changelog, 1.6.0 (read 2026-11-24)"},
	{Name: "Faktory changelog, 1.6.1 (read 2026-11-24)"},
	{Name: "Faktory changelog, 1.9.2 (read 2026-11-24)"},
	{Name: "Faktory 1.10.0, observed"},
}

//go:embed faktory/clauses.txt
var extensionClauses embed.FS

// Extended returns FWP with what an extension adds to it: clauses, scripts, and commands that are legal.
func Extended(extension fwpscript.Extension) *conformance.Suite {
	p := *Protocol()
	p.Dialect, p.Law = fwpscript.Dialect{Extension: extension}, moves.LawOf(extension)
	p.Documents = slices.Concat(documents, extensionDocuments)
	p.Clauses = sync.OnceValue(func() []conformance.Clause { return append(Clauses(), ExtensionClauses(extension)...) })
	p.Scripts = func() ([]*scenarios.Script, error) {
		all, err := fwpscript.Suite()
		if err != nil {
			return nil, err
		}
		added, err := extension.Scripts()
		return append(all, added...), err
	}
	return &p
}

// ExtensionClauses returns the clauses that an extension adds.
func ExtensionClauses(extension fwpscript.Extension) []conformance.Clause {
	files, err := fs.Sub(extensionClauses, string(extension))
	if err != nil {
		panic(err)
	}
	return conformance.Catalogue(files, extensionDocuments)
}
