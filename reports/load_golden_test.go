package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func loadSamples() map[string]*Load {
	interrupted := soundLoad()
	interrupted.Interrupted, interrupted.Jobs.Drained = true, false
	interrupted.Jobs.Missing, interrupted.Jobs.NotDrained = 11, "the run was interrupted twice"
	closed := soundLoad()
	closed.Plan.Open, closed.Plan.Overload, closed.Plan.Stages = false, "", nil
	closed.Plan.Words = "100 producers push as fast as replies come for 60 s; 100 workers fetch and acknowledge at once"
	closed.Rate = LoadRate{Op: "push", Achieved: 8122.7, Done: 487_362}
	closed.Health.CPUShare, closed.Health.MachinePeak, closed.Health.Unknown = 0.9, 0.999, []string{"cgroup"}
	closed.Evaluate()
	gone := soundLoad()
	gone.Gone = "connection refused, 31.2 s after the start"
	gone.Jobs = LoadJobs{
		Pushed: 104_300, Doubtful: 41, Delivered: 104_280, Acked: 104_211, Missing: 20, InDoubt: 20, FetchesLost: 100,
		NotDrained: "the target did not come back",
	}
	gone.Evaluate()
	return map[string]*Load{
		"load-sound": soundLoad(), "load-overloaded": overloadedLoad(), "load-invalid": invalidLoad(),
		"load-lossy":  lossyLoad(),
		"load-agents": agentsLoad(), "load-interrupted": interrupted, "load-closed": closed, "load-gone": gone,
		"load-empty": {},
		"load-unreachable": {
			Target:      LoadTarget{URL: "tcp://127.0.0.1:1", Chosen: "from --url"},
			Unreachable: "dial tcp 127.0.0.1:1: connection refused",
		},
	}
}

func TestLoadGolden(t *testing.T) {
	t.Parallel()
	for name, l := range loadSamples() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.NoError(t, l.Page(PageOptions{}).WriteText(&out, TextOptions{}))
			golden(t, name+".txt.golden", out.Bytes())
		})
	}
	for _, name := range []string{"load-lossy", "load-empty"} {
		t.Run(name+" as JSON", func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.NoError(t, shortened(loadSamples()[name]).WriteJSON(&out))
			golden(t, name+".json.golden", out.Bytes())
		})
	}
	t.Run("series", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		require.NoError(t, WriteSeriesCSV(&out, soundLoad()))
		golden(t, "load.csv.golden", out.Bytes())
	})
}

// shortened keeps golden files short: of many jids a few say as much.
func shortened(l *Load) *Load {
	for i := range l.Findings {
		f := &l.Findings[i]
		*f = newFinding(f.Kind, f.Clause, f.Count, f.JIDs[:min(len(f.JIDs), 3)])
	}
	return l
}

// The terminal is the reader's: nothing that a server said may move its cursor, and every line keeps to its width.
func TestLoadTextIsTame(t *testing.T) {
	t.Parallel()
	samples := loadSamples()
	hostile := lossyLoad()
	hostile.Target.HI = []byte("{\"v\":2,\"x\":\"\x1b]0;title\a\"}")
	hostile.Internal = "boom \x1b[2J\nsecond line"
	hostile.Plan.Words += " \x1b[2J"
	hostile.Thresholds[0].Threshold = strings.Repeat("x", 200)
	samples["hostile"] = hostile
	for name, l := range samples {
		for _, verbose := range []bool{false, true} {
			var out bytes.Buffer
			require.NoError(t, l.Page(PageOptions{Verbose: verbose}).WriteText(&out, TextOptions{}))
			assert.NotContains(t, out.String(), "\x1b", name)
			lines := strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
			for _, line := range lines[:len(lines)-1] { // the last one is the outcome, whatever its length
				if strings.Contains(strings.TrimSpace(line), " ") { // a single word is not broken
					assert.LessOrEqual(t, len([]rune(line)), textWidth+1, "%s: %s", name, line)
				}
				assert.Equal(t, strings.TrimRight(line, " \n")+"\n", line, name)
			}
		}
	}
}

func TestColourPaintsTheSameLoadText(t *testing.T) {
	t.Parallel()
	for name, l := range loadSamples() {
		var plain, coloured bytes.Buffer
		require.NoError(t, l.Page(PageOptions{Verbose: true}).WriteText(&plain, TextOptions{}))
		require.NoError(t, l.Page(PageOptions{Verbose: true}).WriteText(&coloured, TextOptions{Color: true}))
		stripped := coloured.String()
		for _, attribute := range append(colors[1:], "0") {
			stripped = strings.ReplaceAll(stripped, "\x1b["+attribute+"m", "")
		}
		assert.Equal(t, plain.String(), stripped, name)
	}
}

// An INVALID run is no result: neither times nor rates are shown.
func TestInvalidShowsNoFigures(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, invalidLoad().Page(PageOptions{Verbose: true}).WriteText(&out, TextOptions{}))
	text := out.String()
	assert.Contains(t, text, "INVALID: the generator could not sustain this load")
	assert.Contains(t, text, "What to do:")
	for _, heading := range []string{"RATE", "TIMES", "COMMANDS", "achieved 8,300 of"} {
		assert.NotContains(t, text, heading)
	}
}

// What is shown on request stands under a heading that says what it is.
func TestShowInvalid(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, invalidLoad().Page(PageOptions{ShowInvalid: true}).WriteText(&out, TextOptions{}))
	_, figures, is := strings.Cut(out.String(), "FIGURES OF AN INVALID RUN\n")
	require.True(t, is)
	for _, want := range []string{"not quote them", "RATE", "TIMES", "\n  push\n    response"} {
		assert.Contains(t, figures, want)
	}
}

func TestVerboseNamesAllThatWasKept(t *testing.T) {
	t.Parallel()
	for _, verbose := range []bool{false, true} {
		var out bytes.Buffer
		require.NoError(t, lossyLoad().Page(PageOptions{Verbose: verbose}).WriteText(&out, TextOptions{}))
		assert.Equal(t, verbose, strings.Contains(out.String(), lossyLoad().Findings[0].JIDs[999]))
		assert.Contains(t, out.String(), lossyLoad().Findings[0].JIDs[4])
	}
}

func TestLoadWriteErrors(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, soundLoad().Page(PageOptions{}).WriteText(brokenPipe{}, TextOptions{}), errPipe)
	require.ErrorIs(t, soundLoad().WriteJSON(brokenPipe{}), errPipe)
	require.ErrorIs(t, WriteSeriesCSV(brokenPipe{}, soundLoad()), errPipe)
}
