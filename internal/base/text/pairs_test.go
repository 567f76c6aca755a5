package text_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/base/text"
)

func TestPairs(t *testing.T) {
	t.Parallel()
	assert.Equal(t, map[string]string{"line end": "RESP-01", "late": "STATE-04"},
		text.Pairs("# Of bytes.\n\nline end   RESP-01\nlate STATE-04  # for a while\n"))
}
