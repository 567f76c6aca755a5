package bench

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
)

// What is found depends on how busy this machine is.
func TestCapacity(t *testing.T) {
	t.Parallel()
	server := fakes.NewServer(fakes.Config{FetchBlock: 10 * time.Millisecond})
	defer server.Close()
	page := filepath.Join(t.TempDir(), "capacity.html")
	code, out := runBench("capacity", "--producers", "2", "--consumers", "1", "--step", "500ms", "--from", "200/s",
		"--most", "200/s", "--url", "tcp://"+server.Addr(), "-o", "html="+page, "--no-progress")
	assert.Contains(t, []int{reports.ExitWell, reports.ExitFindings, reports.ExitInconclusive}, code, out)
	assert.Contains(t, out, "200 /s")
	html, err := os.ReadFile(page) //nolint:gosec // of this test
	require.NoError(t, err)
	assert.Contains(t, string(html), "fwpbench-capacity/1")
	assert.Empty(t, server.Jobs(), "drained")
}
