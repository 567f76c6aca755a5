package text_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/text"
)

func TestEnum(t *testing.T) {
	t.Parallel()
	type size uint8
	sizes := text.NewEnum("size", map[size]string{1: "small", 2: "large"})
	for v, word := range map[size]string{1: "small", 2: "large"} {
		assert.Equal(t, word, sizes.String(v))
		written, err := sizes.MarshalText(v)
		require.NoError(t, err)
		assert.Equal(t, word, string(written))
		var read size
		require.NoError(t, sizes.UnmarshalText(written, &read))
		assert.Equal(t, v, read)
	}
	for v, word := range map[size]string{0: "size 0", 3: "size 3", 255: "size 255"} {
		assert.Equal(t, word, sizes.String(v))
		_, err := sizes.MarshalText(v)
		require.EqualError(t, err, word+" is unknown")
	}
	for _, word := range []string{"", "Small", "size 0"} {
		v := size(2)
		require.ErrorContains(t, sizes.UnmarshalText([]byte(word), &v), "is unknown")
		assert.Equal(t, size(2), v)
	}
}
