package suite

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/reports"
)

// deciders are the checks of the suite that decide each clause.
func deciders(t *testing.T) map[string][]string {
	t.Helper()
	scripts, err := fwpscript.Suite()
	require.NoError(t, err)
	by := map[string][]string{}
	for _, s := range scripts {
		for _, m := range (conformance.ScriptCheck{Script: s}).Describe().Clauses() {
			by[m.Clause] = append(by[m.Clause], s.Name)
		}
	}
	return by
}

// What binds servers is decided or excluded with a reason, so that nothing is left out in silence.
func TestEveryServerClauseIsDecidedOrExcluded(t *testing.T) {
	t.Parallel()
	by := deciders(t)
	var ids []string
	for _, c := range Clauses() {
		if c.ExclusionReason != "" {
			assert.True(t, c.BindsServer(), "%s: only a clause that binds servers needs a reason", c.ID)
			assert.Empty(t, by[c.ID], "%s is excluded, and yet there are checks that decide it", c.ID)
		}
		if c.BindsServer() && c.ExclusionReason == "" && len(by[c.ID]) == 0 {
			ids = append(ids, c.ID)
		}
	}
	assert.Empty(t, ids, "clauses that no check decides, and that say no reason why")
}

// What binds clients has a rule in protocols/fwp/clientrules, or a reason why it has none.
func TestEveryClientClauseIsWatchedOrNot(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for breach, id := range model.ClientBreaches() {
		ids[id] = true
		c, ok := ClauseByID(id)
		assert.True(t, ok && c.BindsClient(), "%s: %s binds no client", breach, id)
	}
	for _, c := range Clauses() {
		if c.UnwatchedReason != "" {
			assert.True(t, c.BindsClient(), "%s: only a clause that binds clients needs a reason", c.ID)
		}
		if c.BindsClient() {
			assert.NotEqual(t, ids[c.ID], c.UnwatchedReason != "", "%s has a rule, or says why it has none", c.ID)
		}
	}
}

func TestScriptsNameClausesOfTheCatalogue(t *testing.T) {
	t.Parallel()
	for id, checks := range deciders(t) {
		_, ok := ClauseByID(id)
		assert.True(t, ok, "%s name %s, which the catalogue has not", strings.Join(checks, " and "), id)
	}
}

// A short list keeps the reasons honest: a check is better.
func TestExcludedClauses(t *testing.T) {
	t.Parallel()
	excluded := slices.DeleteFunc(Clauses(), func(c conformance.Clause) bool { return c.ExclusionReason == "" })
	ids := []string{}
	for _, c := range excluded {
		ids = append(ids, c.ID)
	}
	assert.Equal(t, []string{"FWP-LINK-01", "FWP-BEAT-14"}, ids)
}

func TestExcludedClausesInAReport(t *testing.T) {
	t.Parallel()
	for i, rc := range (&run.Runner{Suite: Protocol()}).Run(t.Context()).Clauses {
		c := Clauses()[i]
		switch {
		case c.ExclusionReason != "":
			assert.Equal(t, reports.NotApplicable, rc.Verdict, c.ID)
			assert.Equal(t, strings.TrimSuffix(c.ExclusionReason, "."), rc.Cause)
		case c.BindsServer():
			assert.Equal(t, reports.NotSelected, rc.Verdict, c.ID)
		}
	}
}
