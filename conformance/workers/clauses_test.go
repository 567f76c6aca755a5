package workers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/fwpsuite"
	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/conformance/workers"
	"github.com/fwpsuite/fwp/internal/golden"
)

// The table of docs/monitors.md is written from the rules: go test ./conformance/workers -run Document -update
func TestRulesDocument(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "monitors.md")
	old, err := os.ReadFile(path)
	require.NoError(t, err)
	const head = "| breach | goal |"
	before, _, _ := strings.Cut(strings.ReplaceAll(string(old), "\r\n", "\n"), head)
	text := before + head + " needs | clause | level |\n|---|---|---|---|---|\n"
	for _, rule := range workers.Rules() {
		c, _ := fwpsuite.ClauseByID(fwpsuite.ClauseOf(rule.Breach))
		level := string(c.Level)
		if c.Recorded {
			level = "observed"
		}
		text += fmt.Sprintf("| `%s` | %s | %s | %s | %s |\n", rule.Breach, rule.Goal, rule.Needs, c.ID, level)
	}
	golden.Document(t, path, text, "go test ./conformance/workers -run Document -update")
}

func TestEachBreachHasAClauseThatBindsClients(t *testing.T) {
	t.Parallel()
	rules := map[string]bool{}
	for _, rule := range workers.Rules() {
		rules[rule.Breach] = true
		c, known := fwpsuite.ClauseByID(fwpsuite.ClauseOf(rule.Breach))
		if assert.True(t, known, rule.Breach) {
			assert.True(t, c.Binds("C") || c.Binds("K") || c.Binds("P"), "%s: %s binds servers only", rule.Breach, c.ID)
		}
	}
	for breach := range model.ClientBreaches() {
		assert.True(t, rules[breach], "%s has a clause and no rule", breach)
	}
}
