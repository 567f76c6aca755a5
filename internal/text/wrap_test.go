package text_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/text"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	assert.Empty(t, text.Wrap(" \n", 10))
	assert.Equal(t, []string{"ä b", "cccccccc", "d"}, text.Wrap("ä  b\ncccccccc d", 3))
}
