package bench

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
)

// secondOf returns a second in which so many pushes took so long.
func secondOf(run string, pushes int, took time.Duration) load.Progress {
	r := measure.NewRecorder(measure.Ops()...)
	r.SetWindow(measure.Window{})
	for range pushes {
		r.Command(measure.Push, measure.Timing{Replied: took})
	}
	r.CountError(measure.Push, measure.Timeout)
	return load.Progress{
		Run: run, Set: r.Take(time.Second), Jobs: results.LoadJobs{Pushed: int64(pushes)},
		Second:     results.Second{Phase: "measure", Dropped: 2, Server: &results.ServerSecond{Threads: 7}},
		Disruption: "a \"b\"\n\\",
	}
}

func expositionText(t *testing.T, r *exposition) string {
	t.Helper()
	var out bytes.Buffer
	_, err := r.WriteTo(&out)
	require.NoError(t, err)
	return out.String()
}

func TestARunInTheFormatOfPrometheus(t *testing.T) {
	t.Parallel()
	r := newExposition("abc", results.LoadPlan{Words: "5 producers", IsOpenLoop: true, Producers: 5})
	planText := expositionText(t, r)
	assert.Contains(t, planText, `fwpbench_run_info{run="abc",phase="before"} 1`+"\n")
	assert.Contains(t, planText, `fwpbench_plan_info{preset="",open="true",words="5 producers"} 1`+"\n")
	assert.Contains(t, planText, `fwpbench_plan_connections{kind="producers"} 5`+"\n")
	r.Watch(secondOf("x", 3, 30*time.Microsecond))
	r.Watch(secondOf("x", 2, 3*time.Second))
	text := expositionText(t, r)
	for _, line := range []string{
		`fwpbench_run_info{run="x",phase="measure"} 1`, `fwpbench_jobs{state="pushed"} 2`,
		`fwpbench_disruption{what="a \"b\"\n\\"} 1`, `fwpbench_arrivals_dropped_total 4`, `fwpbench_server_threads 7`,
		`fwpbench_commands_total{op="push"} 5`, `fwpbench_command_errors_total{op="push",kind="timeout"} 2`,
		`fwpbench_response_seconds_bucket{op="push",le="2.5e-05"} 0`,
		`fwpbench_response_seconds_bucket{op="push",le="5e-05"} 3`,
		`fwpbench_response_seconds_bucket{op="push",le="2.5"} 3`, `fwpbench_response_seconds_bucket{op="push",le="5"} 5`,
		`fwpbench_response_seconds_bucket{op="push",le="+Inf"} 5`, `fwpbench_response_seconds_count{op="push"} 5`,
	} {
		assert.Contains(t, text, line+"\n")
	}
	r.End()
	assert.Contains(t, expositionText(t, r), `fwpbench_run_info{run="x",phase="end"} 1`+"\n")
	r.Watch(secondOf("y", 1, time.Second))
	assert.Contains(t, expositionText(t, r), `fwpbench_commands_total{op="push"} 1`+"\n", "another run begins anew")
}

// What a linter of the format asks for: each metric is introduced once, before its samples, with a kind that its name
// fits.
func TestTheFormatIsWellFormed(t *testing.T) {
	t.Parallel()
	r := newExposition("abc", results.LoadPlan{Words: "5 producers", IsOpenLoop: true, Producers: 5})
	r.Watch(secondOf("x", 3, 30*time.Microsecond))
	kinds := map[string]string{}
	sample := regexp.MustCompile(`^([a-z_]+)(\{([a-z]+="([^"\\]|\\.)*",?)+\})? (\S+)$`)
	for line := range strings.Lines(expositionText(t, r)) {
		line = strings.TrimSuffix(line, "\n")
		if words := strings.Fields(line); words[0] == "#" {
			if words[1] == "TYPE" {
				assert.NotContains(t, kinds, words[2])
				kinds[words[2]] = words[3]
			}
			continue
		}
		parts := sample.FindStringSubmatch(line)
		require.NotNil(t, parts, line)
		_, err := strconv.ParseFloat(parts[5], 64)
		require.NoError(t, err)
		name := parts[1]
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			if base := strings.TrimSuffix(name, part); kinds[base] == "histogram" {
				name = base
			}
		}
		assert.Contains(t, kinds, name)
		assert.Equal(t, kinds[name] == "counter", strings.HasSuffix(name, "_total"), name)
	}
}
