package jobtype

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTemplates(t *testing.T) {
	t.Parallel()
	for text, wrong := range map[string]string{
		`["run", {"callable": "{name}", "args": {args}}]`: "",
		`{name} {args} {}`:    "",
		``:                    "write {name} for the name",
		`{name}`:              "and {args} for its arguments",
		`{args}`:              "write {name} for the name of a job type",
		`{name} {args} {jid}`: "unknown placeholder {jid}",
		`{Name} {args}`:       "unknown placeholder {Name}",
		`{name} {args}` + strings.Repeat("x", maxTemplate): "65549 bytes; the limit is 65536",
	} {
		var template Template
		err := template.Set(text)
		if wrong == "" {
			require.NoError(t, err)
			assert.Equal(t, text, template.String())
			continue
		}
		require.ErrorContains(t, err, wrong, text)
		assert.Empty(t, template, text)
	}
	template := Template(`["{name}", {args}, "{name}"]`)
	assert.Equal(t, `["fwp.echo", ["{name}"], "fwp.echo"]`, template.Fill("fwp.echo", `["{name}"]`))
}
