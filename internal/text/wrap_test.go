package text_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/text"
)

func TestCount(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "0 checks", text.Count(0, "check"))
	assert.Equal(t, "1 check", text.Count(1, "check"))
	assert.Equal(t, "12 checks", text.Count(12, "check"))
}

func TestWrap(t *testing.T) {
	t.Parallel()
	assert.Empty(t, text.Wrap(" \n", 10))
	assert.Equal(t, []string{"ä b", "cccccccc", "d"}, text.Wrap("ä  b\ncccccccc d", 3))
}
