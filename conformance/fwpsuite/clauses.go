package fwpsuite

import (
	"embed"
	"slices"
	"sync"

	"github.com/fwpsuite/fwp/conformance"
)

// Clauses returns every clause of the inventory in its order, those that bind clients as well. The caller may change
// the slice, but not the sources in it, which all callers share.
func Clauses() []conformance.Clause { return slices.Clone(catalogue()) }

// ClauseByID returns the clause with this id, or false if there is none. Case counts; see Suggest.
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
