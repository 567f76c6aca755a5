package validity

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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

// TestTreeByShares: what this process is alone in counts in full, and what it shares with others in part.
func TestTreeByShares(t *testing.T) {
	t.Parallel()
	resident, ok := Tree(os.Getpid())
	require.True(t, ok)
	if parseShare(file("/proc/self/smaps_rollup")) < 0 {
		t.Skip("this kernel does not say what a process shares")
	}
	shares, ok := TreeByShares(os.Getpid())
	require.True(t, ok)
	assert.Positive(t, shares.Memory)
	assert.Less(t, shares.Memory, 2*resident.Memory)
	_, ok = TreeByShares(-1)
	assert.False(t, ok)
}
