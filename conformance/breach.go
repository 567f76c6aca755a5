package conformance

import "github.com/fwpsuite/fwp/conformance/model"

// ClauseOf returns the id of the clause that a breach breaks, and "" if it breaks none. The names of breaches are
// those of scenarios.Breach, of a finding of a load, and of internal/history.
func ClauseOf(breach string) string { return model.ClauseOf(breach) }
