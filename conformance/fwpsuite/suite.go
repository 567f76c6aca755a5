package fwpsuite

import (
	"sync"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/fwpsubject"
	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// Protocol returns the Faktory Work Protocol as a protocol of the suite.
func Protocol() *conformance.Protocol { return fwpProtocol() }

var fwpProtocol = sync.OnceValue(func() *conformance.Protocol {
	return &conformance.Protocol{
		Name: "fwp", Title: "FWP", Prefix: "FWP-", Dialect: fwpdialect.Dialect{},
		Documents: documents,
		Clauses:   catalogue, ClauseOf: ClauseOf, Goal: goalOfCheck, Identify: Identify, Scripts: fwpdialect.Suite,
		GrammarClauses: model.GrammarClauses(), Law: fwpsubject.Law(), Retired: retired(),
		Admission: "FWP-AUTH-", Unrefused: unrefusedClause,
	}
})

// unrefusedClause returns the clause that an end breaks that comes instead of a refusal, by the verb of the command.
func unrefusedClause(verb string) string {
	if verb == fwp.HELLO {
		return "FWP-HELLO-04"
	}
	return "FWP-STATE-01"
}
