package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/search"
	"github.com/fwpsuite/fwp/reports"
)

// runBench runs fwpbench and returns its exit code and all that it prints.
func runBench(args ...string) (code int, out string) {
	var b strings.Builder
	code = Main(shared.Process{Args: args, In: strings.NewReader(""), Out: &b, Err: &b,
		LookupEnv: func(string) (string, bool) { return "", false }})
	return code, b.String()
}

// A pause between two pushes bounds the rate of each side, so that B has a fifth of that of A on every machine: where
// it is too busy for that, pairs are void.
func TestCompareMeasuresInPairs(t *testing.T) {
	t.Parallel()
	server := fakes.NewServer(fakes.Config{FetchBlock: 10 * time.Millisecond})
	defer server.Close()
	dir := t.TempDir()
	side := func(name, think string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte("producers: 2\nconsumers: 1\nthink: "+think+"\n"), 0o600))
		return file
	}
	report := filepath.Join(dir, "report.json")
	code, out := runBench("compare", "--run", side("a.yaml", "1ms"), side("b.yaml", "5ms"), "--pairs", "6", "--block",
		"50ms",
		"--url", "tcp://"+server.Addr(), "--seed", "7", "-o", "json="+report, "--benchfmt", filepath.Join(dir, "bench"),
		"--primary", "rate", "--no-progress")
	// How the rates compare is up to the machine: a busy one may slow A down as much as the pauses of B.
	assert.Contains(t, []int{0, reports.ExitFindings, reports.ExitInconclusive}, code, out)
	data, err := os.ReadFile(report) //nolint:gosec // of this test
	require.NoError(t, err)
	c, err := results.ReadLoadComparison(data)
	require.NoError(t, err)
	isHopeless := search.HopelessReason(c, []string{"rate"}) != ""
	assert.True(t, isHopeless || c.ValidPairs() == 6 || len(c.Blocks) == 2*(2*6+1),
		"a void pair is replaced, as often as pairs were asked for: %s", out)
	seeds := map[int]uint64{}
	for _, b := range c.Blocks {
		if other, ok := seeds[b.Pair]; ok {
			assert.Equal(t, other, b.Seed)
		}
		seeds[b.Pair] = b.Seed
	}
	assert.Len(t, seeds, len(c.Blocks)/2)
	assert.Empty(t, server.Jobs(), "drained")
	if code == reports.ExitFindings {
		assert.Contains(t, out, "regression: rate 0.")
		bench, err := os.ReadFile(filepath.Join(dir, "bench"))
		require.NoError(t, err)
		assert.Contains(t, string(bench), "\nside: B\nBenchmarkRate 1 ")
	}
}

func TestASeriesOfRunsStopsWhereAServerIsMissing(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"compare", "--run", "tcp://127.0.0.1:1", "tcp://127.0.0.1:1"}, {"capacity", "--url", "tcp://127.0.0.1:1"},
	} {
		code, out := runBench(append(args, "--no-progress")...)
		assert.Equal(t, reports.ExitUnreachable, code, out)
	}
}

// saveReport writes the report of a run that began in some minute, with settings of its workload if there are any.
func saveReport(t *testing.T, file string, minute int, rate float64, settings ...string) {
	t.Helper()
	l := map[string]any{
		"schema": results.LoadSchema, "run": filepath.Base(file), "seed": "7",
		"started":    time.Date(2026, 3, 4, 5, minute, 0, 0, time.UTC),
		"plan":       map[string]any{"words": "a load"},
		"rate":       map[string]any{"op": "push", "achieved_per_s": rate, "done": 100},
		"validity":   map[string]any{"valid": true},
		"phases":     []any{map[string]any{"name": "measure"}},
		"jobs":       map[string]any{"drained": true},
		"thresholds": []any{},
	}
	if len(settings) > 0 {
		l["plan"] = map[string]any{"words": "a load", "workload": map[string]any{"payload": settings[0]}}
		l["machine"] = map[string]any{"arch": settings[1], "cores": 2, "cpu": settings[2]}
	}
	data, err := json.Marshal(l)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, data, 0o600))
}

func TestCompareSaved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b, later := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "later")
	for i := range 6 {
		saveReport(t, fmt.Sprintf("%s/a%d.json", a, i), 2*i, 1000+float64(i))
		saveReport(t, fmt.Sprintf("%s/b%d.json", b, i), 2*i+1, 800)
		saveReport(t, fmt.Sprintf("%s/c%d.json", later, i), 30+i, 800)
	}
	like := func(name string, settings ...string) string {
		for i := range 6 {
			saveReport(t, fmt.Sprintf("%s/%s/%[2]s%[3]d.json", dir, name, i), 2*i+len(name)%2, 1000, settings...)
		}
		return filepath.Join(dir, name)
	}
	small, model := like("small", "100", "amd64", "x"), like("model2", "100", "amd64", "y")
	large, arm := like("large1", "61440", "amd64", "x"), like("arm128", "100", "arm64", "x")
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"unlike loads":    {[]string{small, large}, reports.ExitInconclusive, "no verdict: A and B are different loads"},
		"what they are":   {[]string{small, large}, reports.ExitInconclusive, "payload 100 and 61440"},
		"unlike machines": {[]string{small, arm}, reports.ExitInconclusive, "architecture amd64 and arm64"},
		"on purpose":      {[]string{small, large, "--different-loads"}, reports.ExitWell, "no regression: rate 1"},
		"another model":   {[]string{small, model}, reports.ExitWell, "CPU x y"},
		"in turns":        {[]string{a, b}, reports.ExitFindings, "regression: rate 0.798"},
		"turned round":    {[]string{b, a}, reports.ExitWell, "no regression: rate 1.253"},
		"one by one":      {[]string{a, later}, reports.ExitInconclusive, "were measured in a row"},
		"one of each": {[]string{a + "/a1.json", b + "/b1.json"}, reports.ExitInconclusive,
			"there are 1 results of A and 1 of B"},
		"the same":       {[]string{a, a}, reports.ExitUsage, "are reports of the same run"},
		"a URL":          {[]string{"tcp://x", b}, reports.ExitUsage, "use --run to measure it"},
		"not there":      {[]string{dir + "/nothing", b}, reports.ExitUsage, "nothing"},
		"an empty one":   {[]string{t.TempDir(), b}, reports.ExitUsage, "has 0 reports"},
		"a flag of run":  {[]string{a, b, "--pairs", "7"}, reports.ExitUsage, "--pairs is for --run"},
		"noise of saved": {[]string{"--aa", a}, reports.ExitUsage, "--aa measures: it needs --run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out := runBench(append([]string{"compare"}, test.args...)...)
			assert.Equal(t, test.code, code, out)
			assert.Contains(t, strings.Join(strings.Fields(out), " "), test.want)
		})
	}
}
