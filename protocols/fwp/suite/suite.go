package suite

import (
	"embed"
	"slices"
	"sync"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
)

//go:embed retired.txt
var retiredClauses string

// Protocol returns the Faktory Work Protocol as a protocol of the suite.
func Protocol() *conformance.Suite { return fwpProtocol() }

var fwpProtocol = sync.OnceValue(func() *conformance.Suite {
	return &conformance.Suite{
		Name: "fwp", Title: "FWP", Prefix: "FWP-", Dialect: fwpscript.Dialect{},
		Documents: documents,
		Clauses:   catalogue, ClauseOf: ClauseOf, Recognize: recognize, Scripts: fwpscript.Suite,
		GrammarClauses: model.GrammarClauses(), LimitedVerbs: []string{fwp.HELLO, fwp.PUSH},
		GeneralClauses: []string{"FWP-FETCH-01"},
		Law:            moves.Law(), Retired: text.Pairs(retiredClauses),
		AdmissionPrefix: "FWP-AUTH-", UnrefusedClause: unrefusedClause,
	}
})

// unrefusedClause returns the clause that an end breaks that comes instead of a refusal, by the verb of the command.
func unrefusedClause(verb string) string {
	if verb == fwp.HELLO {
		return "FWP-HELLO-04"
	}
	return "FWP-STATE-01"
}

// Clauses returns every clause of the inventory in its order, those that bind clients as well. The caller may change
// the slice, but not the sources in it, which all callers share.
func Clauses() []conformance.Clause { return slices.Clone(catalogue()) }

// ClauseByID returns the clause with this id, or false if there is none. Case counts.
func ClauseByID(id string) (conformance.Clause, bool) { return Protocol().ClauseByID(id) }

// documents are the source documents in the edition that the catalogue was written from.
var documents = []conformance.Document{
	{Name: "fwp.md", SHA256: "bdb60cded581ec94079b8c18ed4999de633967614b4b846eeb3ed55717cbf1e0"},
	{
		Name:    "faktory-worker-lifecycle.md",
		SHA256:  "d6442f8c6c83619b71da67ae0252ede169bdf4080aa50ee4cf21f7420c40307a",
		Section: "worker guide: ",
	},
	{
		Name:    "faktory-worker-ex-architecture.md",
		SHA256:  "bfbca4f174d644eba0cd9e10619d25f8733cf6214b6488622f1ba2199736bf74",
		Section: "worker architecture: ",
	},
	{Name: "RESP"},
}

//go:embed clauses_*.txt
var clauseFiles embed.FS

var catalogue = sync.OnceValue(func() []conformance.Clause { return conformance.Catalogue(clauseFiles, documents) })

// ClauseOf returns the id of the clause that a breach breaks, and "" if it breaks none. The names of breaches are
// those of scenarios.Breach, of a finding of a load, and of internal/history.
func ClauseOf(breach string) string { return model.ClauseOf(breach) }

// ClientBreaches returns the names of the breaches of a clause that protocols/fwp/clientrules can find in what clients
// send, in order.
func ClientBreaches(clause string) []string {
	var names []string
	for breach, id := range model.ClientBreaches() {
		if id == clause {
			names = append(names, breach)
		}
	}
	slices.Sort(names)
	return names
}
