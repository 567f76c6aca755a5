package health

import (
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestResident(t *testing.T) {
	t.Parallel()
	held := make([]byte, 64<<20)
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1
	}
	resident, err := Resident(os.Getpid())
	require.NoError(t, err)
	assert.Greater(t, resident, int64(len(held)))
	assert.Less(t, resident, int64(len(held)<<10), "bytes, not pages of them")
	runtime.KeepAlive(held)
	_, err = Resident(1 << 30)
	assert.ErrorContains(t, err, "process 1073741824")
}
