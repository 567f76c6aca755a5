package shared

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFewFlagsAreEssential: the first help of a command has about a dozen flags, and the groups have each flag once.
func TestFewFlagsAreEssential(t *testing.T) {
	t.Parallel()
	titles := map[string]string{}
	for _, group := range groups {
		for name := range strings.FieldsSeq(group.flags) {
			assert.Empty(t, titles[name], "--%s is in two groups", name)
			titles[name] = group.title
		}
	}
	for command, flags := range essentialFlags {
		names := strings.Fields(flags)
		assert.LessOrEqual(t, len(names), 18, command)
		for _, name := range names {
			assert.NotEmpty(t, titles[name], "%s: --%s is in no group", command, name)
		}
	}
}
