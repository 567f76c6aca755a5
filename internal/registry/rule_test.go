package registry_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/registry"
)

// TestRulesAreDocumented: the page has the words of all rules, and each example of it is a rule of FWP.
func TestRulesAreDocumented(t *testing.T) {
	t.Parallel()
	const page = "../../docs/rules.md"
	content, err := os.ReadFile(page)
	require.NoError(t, err)
	examples := 0
	for line := range strings.Lines(string(content)) {
		if rule, ok := strings.CutPrefix(line, "    on "); ok && !strings.Contains(rule, "STEP") {
			_, err := registry.Default().Rules.Parse("on " + rule)
			require.NoError(t, err, rule)
			examples++
		}
	}
	assert.Positive(t, examples)
	want, _, _ := strings.Cut(string(content), "## Words of ")
	for _, p := range registry.All() {
		want += "## Words of " + p.Title + "\n\n" + p.Rules.Table() + "\n"
	}
	golden.Document(t, page, strings.TrimSuffix(want, "\n"), "go test ./internal/registry -run Documented -update")
}

func TestRulesOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/"
	for name, content := range map[string]string{
		"good": "on ran: silent\non ran ACK: close\n", "bad": "\non run: silent",
	} {
		require.NoError(t, os.WriteFile(dir+name, []byte(content), 0o600))
	}
	const steps = `"run" is no step; expected one of accepted, acked, checked, delivered, due, enqueued, expired, ` +
		"failed, flushed, greeting, notified, parsed, pushed, ran, reserved, scheduled, writing"
	for name, test := range map[string]struct {
		rules, files []string
		want         string // the error
	}{
		"one":        {[]string{"on ran: silent"}, []string{dir + "good"}, ""},
		"none":       {nil, nil, ""},
		"wrong":      {[]string{"on run: silent"}, nil, `--rule "on run: silent", column 4: ` + steps},
		"wrong file": {nil, []string{dir + "bad"}, "--rules " + dir + "bad:2:4: " + steps},
		"no file":    {nil, []string{dir + "none"}, "--rules: open " + dir + "none: no such file or directory"},
	} {
		all, err := registry.Default().RulesOf(test.rules, test.files)
		if test.want != "" {
			assert.EqualError(t, err, test.want, name)
			continue
		}
		require.NoError(t, err, name)
		assert.Len(t, all, len(test.rules)+2*len(test.files), name)
	}
	_, err := (&registry.Entry{Suite: registry.Default().Suite}).RulesOf([]string{"on ran: silent"}, nil)
	assert.ErrorContains(t, err, "takes no rules")
}

func TestBugOrRule(t *testing.T) {
	t.Parallel()
	p := registry.Default()
	for text, want := range map[string]string{
		"ack-other-answer": "", "on ran FETCH: delay 2s": "",
		"on ran: jump": `"on ran: jump", column 9: "jump" is no act`, "only": "unknown planted bug",
	} {
		f, err := p.BugOrRule(text)
		if want != "" {
			assert.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, text, f.Name)
	}
}
