package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load/plan"
)

// TestMessages: testdata/bad holds files with mistakes, and beside each what Parse says.
func TestMessages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			_, err = plan.Parse(filepath.Base(file), source)
			require.Error(t, err)
			golden.File(t, strings.TrimSuffix(file, ".yaml")+".txt", err.Error()+"\n")
		})
	}
}

const allSettings = `# all settings at once
preset: failing
producers: 7
consumers: 8
stages: ["10s:0-1000", 60s:1000]
poisson: true
burst: 2
jobs: 1_000_000
warmup: 5s
seed: 18446744073709551615
topology: pool
fetchers: 2
reporters: 3
concurrency: 20
drain: 10m
payload: 100:80,10000:20
queues: 3
queue_pick: weighted
queue_weights: [80, 15.5, 5]
job_types: [email, "déjà vu"]
reserve_for: 5m
work: 1ms-1s
fail_share: 25%
retry: 3
delay: 2s
prefill: 10
backlog: 3
`

func TestParseEverything(t *testing.T) {
	t.Parallel()
	retry := 3
	want := plan.Workload{
		Preset: "failing", Producers: 7, Consumers: 8,
		Stages:  plan.Stages{{Length: 10 * time.Second, From: 0, To: 1000}, {Length: time.Minute, From: 1000, To: 1000}},
		Poisson: true, Burst: 2, JobLimit: 1e6, Warmup: plan.Duration(5 * time.Second), Seed: 1<<64 - 1,
		Topology: plan.Topology{Kind: plan.Pool, Fetchers: 2, Reporters: 3, Concurrency: 20},
		Drain:    plan.Duration(10 * time.Minute),
		Payload: plan.Size{List: []plan.SizeShare{
			{Min: 100, Max: 100, Weight: 80}, {Min: 10000, Max: 10000, Weight: 20},
		}},
		Queues:   plan.Queues{Number: 3, Pick: plan.Weighted, Weights: []float64{80, 15.5, 5}},
		JobTypes: []string{"email", "déjà vu"}, ReserveFor: plan.Duration(5 * time.Minute),
		Work: plan.Range{Min: ms, Max: time.Second}, FailShare: 0.25, Retry: &retry,
		Delay: plan.Range{Min: 2 * time.Second, Max: 2 * time.Second}, Prefill: 10, Backlog: 3,
	}
	got, err := plan.Parse("all.yaml", []byte(allSettings))
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.NoError(t, got.Check())

	roundTrip, err := plan.Parse("again.yaml", got.YAML())
	require.NoError(t, err, "%s", got.YAML())
	assert.Equal(t, got, roundTrip)
}

func TestParseLittle(t *testing.T) {
	t.Parallel()
	defaults, err := plan.Preset("roundtrip")
	require.NoError(t, err)
	for _, source := range []string{"", "# nothing\n", "---\n", "{}", "preset: roundtrip"} {
		got, err := plan.Parse("w.yaml", []byte(source))
		require.NoError(t, err, "%q", source)
		assert.Equal(t, defaults, got, "%q", source)
	}
	_, err = plan.Parse("w.yaml", []byte("\xff\xfea"))
	require.ErrorContains(t, err, "the file is not UTF-8")
	got, err := plan.Parse("w.yaml", []byte("a: &n 5\n"))
	require.Error(t, err)
	assert.Equal(t, defaults, got, "what cannot be read leaves the preset")
	got, err = plan.Parse("w.yaml", []byte("producers: &n 5\nconsumers: *n\npreset: scheduled\n"))
	require.NoError(t, err)
	assert.Equal(t, [2]int{5, 5}, [2]int{got.Producers, got.Consumers})
	assert.Equal(t, 5*time.Second, got.Delay.Max, "the preset comes first, wherever it stands")
}

func TestPresets(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"roundtrip", "push", "fetch", "idle", "churn", "neighbour", "scheduled", "failing"}, plan.Presets())
	for _, name := range plan.Presets() {
		w, err := plan.Preset(name)
		require.NoError(t, err)
		require.NoError(t, w.Check(), name)
		roundTrip, err := plan.Parse(name, w.YAML())
		require.NoError(t, err)
		assert.Equal(t, w, roundTrip)
		assert.Equal(t, "preset: "+name+"\n", string(w.YAML()))
	}
	_, err := plan.Preset("psuh")
	assert.EqualError(t, err,
		`preset: unknown preset "psuh"; expected one of roundtrip, push, fetch, idle, churn, neighbour, scheduled, failing; `+
			`did you mean push?`)
}

// TestSettings: every setting has a text that it reads again, and says what it is.
func TestSettings(t *testing.T) {
	t.Parallel()
	w, err := plan.Parse("all.yaml", []byte(allSettings))
	require.NoError(t, err)
	var other plan.Workload
	others := other.Settings()
	for i, s := range w.Settings() {
		require.NoError(t, others[i].Value.Set(s.Value.String()), s.Key)
		assert.NotEmpty(t, s.Usage, s.Key)
		assert.NotEmpty(t, s.Value.Type(), s.Key)
		assert.NotContains(t, s.Flag(), "_")
	}
	other.Preset = w.Preset
	assert.Equal(t, w, other)
}

// FuzzParse: no source makes Parse panic, and what it accepts passes Check and survives
// being written and read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(allSettings))
	f.Add([]byte("preset: push\nrate: 5/m\n"))
	f.Fuzz(func(t *testing.T, source []byte) {
		w, err := plan.Parse("fuzz.yaml", source)
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				require.Regexp(t, `^fuzz\.yaml:[1-9]\d*:[1-9]\d*: .*; .+`, line)
			}
			return
		}
		require.NoError(t, w.Check())
		roundTrip, err := plan.Parse("again.yaml", w.YAML())
		require.NoError(t, err, "%s", w.YAML())
		require.Equal(t, w, roundTrip)
	})
}
