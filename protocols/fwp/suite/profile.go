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

// profileDocuments are those that the clauses of profiles are written from. They are external.
var profileDocuments = []conformance.Document{
	{Name: "Faktory wiki, Mutate API (2024-10-28, read 2026-11-24)"},
	{Name: "Faktory changelog, 1.5.0 (read 2026-11-24)"},
	{Name: "Faktory changelog, 1.6.0 (read 2026-11-24)"},
	{Name: "Faktory changelog, 1.6.1 (read 2026-11-24)"},
	{Name: "Faktory changelog, 1.9.2 (read 2026-11-24)"},
	{Name: "Faktory 1.10.0, observed"},
}

//go:embed faktory/clauses.txt
var profileClauses embed.FS

// Profile returns FWP with what a family of servers adds to it: clauses, scripts, and commands that are legal.
func Profile(profile fwpscript.Profile) *conformance.Protocol {
	p := *Protocol()
	p.Dialect, p.Law = fwpscript.Dialect{Profile: profile}, moves.LawOf(profile)
	p.Documents = slices.Concat(documents, profileDocuments)
	p.Clauses = sync.OnceValue(func() []conformance.Clause { return append(Clauses(), ProfileClauses(profile)...) })
	p.Scripts = func() ([]*scenarios.Script, error) {
		all, err := fwpscript.Suite()
		if err != nil {
			return nil, err
		}
		added, err := profile.Scripts()
		return append(all, added...), err
	}
	return &p
}

// ProfileClauses returns the clauses that a profile adds.
func ProfileClauses(profile fwpscript.Profile) []conformance.Clause {
	files, err := fs.Sub(profileClauses, string(profile))
	if err != nil {
		panic(err)
	}
	return conformance.Catalogue(files, profileDocuments)
}
