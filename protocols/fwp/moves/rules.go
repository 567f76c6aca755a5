package moves

import (
	_ "embed"

	"github.com/fwpsuite/fwp/conformance/law"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
)

//go:embed rules.txt
var rulesText string

// rulesOf returns the rules of the oracle and those that the law adds, with the clauses of a profile.
func rulesOf(profile fwpscript.Profile) map[string]law.Rule {
	return law.Rules(rulesText, string(profile))
}
