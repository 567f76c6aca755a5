package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The names of an exploration follow from Names, and from nothing else; without it no two are the same.
func TestPrefixes(t *testing.T) {
	t.Parallel()
	prefix := func(names string) string { return (&Explorer{Names: names, Subject: &Subject{}}).config().ownPrefix() }
	assert.Equal(t, prefix("fwp00000000070000-3"), prefix("fwp00000000070000-3"))
	assert.NotEqual(t, prefix("fwp00000000070000-3"), prefix("fwp00000000070000-4"))
	assert.NotEqual(t, prefix(""), prefix(""))
	assert.Regexp(t, "^fwp[0-9a-f]{16}$", prefix("x"))
}
