package health

import (
	"os"
	"path/filepath"
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

func TestAQuotaIsAllThatAProcessMayUse(t *testing.T) {
	t.Parallel()
	for quota, want := range map[string]float64{"50000 100000": 0.5, "400000 100000": 2, "max 100000": 2} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "cpu.max"), []byte(quota), 0o600))
		s := snapshot{processors: 2}
		system{cgroups: []cgroupDir{{path: dir}}}.read(&s)
		assert.InDelta(t, want, s.processors, 0.001, quota)
	}
}
