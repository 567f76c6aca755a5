package health

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestResident(t *testing.T) {
	t.Parallel()
	before, err := Resident(os.Getpid())
	require.NoError(t, err)
	held := make([]byte, 64<<20)
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1
	}
	after, err := Resident(os.Getpid())
	require.NoError(t, err)
	assert.Greater(t, after-before, int64(32<<20), "%d bytes are held", len(held))
	_, err = Resident(1 << 30)
	assert.ErrorContains(t, err, "process 1073741824")
}
