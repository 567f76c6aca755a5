package fwpsuite

import (
	"slices"

	"github.com/fwpsuite/fwp/conformance/model"
)

// ClauseOf returns the id of the clause that a breach breaks, and "" if it breaks none. The names of breaches are
// those of scenarios.Breach, of a finding of a load, and of internal/history.
func ClauseOf(breach string) string { return model.ClauseOf(breach) }

// ClientBreaches returns the names of the breaches of a clause that conformance/workers can find in what clients send,
// in order.
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
