package prose_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/prose"
)

func TestCount(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "0 checks", prose.Count(0, "check"))
	assert.Equal(t, "1 check", prose.Count(1, "check"))
	assert.Equal(t, "12 checks", prose.Count(12, "check"))
}

func TestWrap(t *testing.T) {
	t.Parallel()
	assert.Empty(t, prose.Wrap(" \n", 10))
	assert.Equal(t, []string{"ä b", "cccccccc", "d"}, prose.Wrap("ä  b\ncccccccc d", 3))
}
