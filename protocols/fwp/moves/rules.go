package moves

import (
	_ "embed"

	"github.com/fwpsuite/fwp/conformance/law"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
)

//go:embed rules.txt
var rulesText string

// rulesOf returns the rules of the oracle and those that the law adds, with the clauses of an extension.
func rulesOf(extension fwpscript.Extension) map[string]law.Rule {
	return law.Rules(rulesText, string(extension))
}
