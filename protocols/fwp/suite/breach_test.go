package suite_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// breachesOfScripts are all that the engine can find.
func breachesOfScripts() []scenarios.Breach {
	var all []scenarios.Breach
	for kind := scenarios.BrokenGrammar; kind <= scenarios.NoGreeting; kind++ {
		all = append(all, scenarios.Breach{Kind: kind})
	}
	for rule := fwp.RuleType; rule <= fwp.RuleDepth; rule++ {
		all = append(all, scenarios.Breach{Kind: scenarios.BrokenGrammar, Rule: rule.String()})
	}
	for _, verb := range []string{
		fwp.HELLO, fwp.PUSH, fwp.FETCH, fwp.ACK, fwp.FAIL, fwp.BEAT, fwp.INFO, fwp.FLUSH, fwp.END,
	} {
		all = append(all, scenarios.Breach{Kind: scenarios.ImpossibleReply, Verb: verb})
	}
	return all
}

func TestEachBreachHasAClause(t *testing.T) {
	t.Parallel()
	for _, b := range breachesOfScripts() {
		if b.Kind == scenarios.BrokenGrammar && slices.Contains(
			[]string{"", fwp.RuleTooLong.String(), fwp.RuleDepth.String()}, b.Rule) {
			continue // the engine names a rule, and a limit of ours is no breach
		}
		_, ok := fwpsuite.ClauseByID(fwpsuite.ClauseOf(b.Name()))
		assert.True(t, ok, b.Name())
	}
}

func TestClauseOf(t *testing.T) {
	t.Parallel()
	for breach, want := range map[string]string{
		"grammar:":                           "FWP-RESP-01",
		"grammar:" + fwp.RuleNull.String():   "FWP-RESP-04",
		"grammar:" + fwp.RuleLength.String(): "FWP-RESP-03",
		"foreign-reply:":                     "FWP-HI-02",
		"foreign-reply:" + fwp.HELLO:         "FWP-HELLO-03",
		"foreign-reply:" + fwp.FETCH:         "FWP-FETCH-01",
		"foreign-reply:NOSUCH":               "",
		"unasked":                            "FWP-RESP-05",
		"extra-reply":                        "FWP-RESP-06",
		"consumer-closed":                    "FWP-STATE-13",
		"lost":                               "FWP-PUSH-04",
		"no such breach":                     "",
	} {
		assert.Equal(t, want, fwpsuite.ClauseOf(breach), breach)
	}
}
