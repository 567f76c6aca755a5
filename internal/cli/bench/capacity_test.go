package bench

import (
	"os"
	"path/filepath"
	"strings"
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
	code, out := exitOf(t, "capacity", "--producers", "2", "--consumers", "1", "--step", "500ms", "--from", "200/s",
		"--most", "200/s", "--url", "tcp://"+server.Addr(), "-o", "html="+page, "--no-progress")
	assert.Contains(t, []int{reports.ExitWell, reports.ExitFindings, reports.ExitInconclusive}, code, out)
	assert.Contains(t, out, "200 /s")
	html, err := os.ReadFile(page) //nolint:gosec // of this test
	require.NoError(t, err)
	assert.Contains(t, string(html), "fwpbench-capacity/1")
	assert.Empty(t, server.Jobs(), "drained")
}

func TestCapacityRefuses(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"the search sets the rate":      {"--rate", "5/s"},
		"--from: ":                      {"--from", "fast"},
		"is above 0":                    {"--from", "0"},
		"and not above the highest":     {"--from", "10/s", "--most", "5/s"},
		"--precision: ":                 {"--precision", "near"},
		"--step must be longer than 0":  {"--step", "0s"},
		"no threshold":                  {"--threshold", "p99"},
		"than the 5000 arrivals":        {"--threshold", "push.response.p99.9<1s", "--step", "1s", "--most", "4000/s"},
		"so job.fetched.p99<1s would":   {"--threshold", "job.fetched.p99<1s", "--queues", "9", "--consumers", "8"},
		"there are no connections":      {"--producers", "0", "--consumers", "0"},
		"--fault works only with the e": {"--fault", "push-lost", "--url", "tcp://127.0.0.1:1"},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			code, out := exitOf(t, append([]string{"capacity"}, args...)...)
			assert.Equal(t, reports.ExitUsage, code, out)
			if want != "no threshold" {
				assert.Contains(t, strings.Join(strings.Fields(out), " "), want)
			}
		})
	}
	code, out := exitOf(t, "capacity", "--url", "tcp://127.0.0.1:1", "--no-progress")
	assert.Equal(t, reports.ExitUnreachable, code, out)
}
