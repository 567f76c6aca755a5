package fwpsubject

import (
	_ "embed"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

//go:embed rules.txt
var rulesText string

// rulesOf returns the rules of the oracle and those that the law adds, with the clauses of a profile.
func rulesOf(profile fwpdialect.Profile) map[string]law.Rule {
	return law.Rules(rulesText, string(profile))
}
