package scenarios_test

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// TestTheExamplesOfTheManualAreScripts keeps docs/scripts.md true, and its examples
// in the normal form.
func TestTheExamplesOfTheManualAreScripts(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../docs/scripts.md")
	require.NoError(t, err)
	examples := regexp.MustCompile("(?s)```fwp\n(.*?)```").FindAllSubmatch(manual, -1)
	require.NotEmpty(t, examples)
	for i, example := range examples {
		t.Run(strconv.Itoa(i+1), func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Parse(fwpdialect.Dialect{}, "example", example[1])
			require.NoError(t, err)
			assert.Empty(t, scenarios.Lint(s))
			assert.Equal(t, string(example[1]), string(scenarios.Format(s)))
		})
	}
}
