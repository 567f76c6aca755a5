package results_test

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/formats"
	"github.com/fwpsuite/fwp/reports/page"
)

func loadSamples() map[string]*results.Load {
	interrupted := soundLoad()
	interrupted.Interrupted, interrupted.Jobs.IsDrained = true, false
	interrupted.Jobs.Missing, interrupted.Jobs.DrainFailure = 11, "the run was interrupted twice"
	closed := soundLoad()
	closed.Plan.IsOpenLoop, closed.Plan.Overload, closed.Plan.Stages = false, "", nil
	closed.Plan.Words = "100 producers push as fast as replies come for 60 s; 100 workers fetch and acknowledge at once"
	closed.Rate = results.LoadRate{Op: "push", Achieved: 8122.7, Done: 487_362}
	closed.Health.CPUShare, closed.Health.MachinePeak, closed.Health.Unknown = 0.9, 0.999, []string{"cgroup"}
	validity.Evaluate(closed)
	goneLoad := soundLoad()
	goneLoad.GoneReason = "connection refused, 31.2 s after the start"
	goneLoad.Jobs = results.LoadJobs{
		Pushed: 104_300, Doubtful: 41, Delivered: 104_280, Acked: 104_211, Missing: 20, InDoubt: 20, FetchesLost: 100,
		DrainFailure: "the target did not come back",
	}
	validity.Evaluate(goneLoad)
	return map[string]*results.Load{
		"load-sound": soundLoad(), "load-overloaded": overloadedLoad(), "load-invalid": invalidLoad(),
		"load-lossy": lossyLoad(),
		"load-parts": partsLoad(), "load-interrupted": interrupted, "load-closed": closed, "load-gone": goneLoad,
		"load-empty": {},
		"load-unreachable": {
			Target: results.LoadTarget{URL: "tcp://127.0.0.1:1", Chosen: "from --url"},
			Head:   reports.Head{Trouble: reports.Trouble{Unreachable: "dial tcp 127.0.0.1:1: connection refused"}},
		},
	}
}

func TestLoadGolden(t *testing.T) {
	t.Parallel()
	for name, l := range loadSamples() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			out.Write(page.Text(l.Page(reports.PageOptions{}), page.TextOptions{}))
			golden.File(t, "testdata/"+name+".txt.golden", out.Bytes())
		})
	}
	for _, name := range []string{"load-lossy", "load-empty", "load-sound"} {
		t.Run(name+" as JSON", func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.NoError(t, shorten(loadSamples()[name]).WriteJSON(&out, reports.ExitOptions{}))
			golden.File(t, "testdata/"+name+".json.golden", out.Bytes())
		})
	}
	t.Run("series", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		require.NoError(t, results.WriteSeriesCSV(&out, soundLoad()))
		golden.File(t, "testdata/load.csv.golden", out.Bytes())
	})
}

// shorten keeps golden files short: of many jids a few say as much.
func shorten(l *results.Load) *results.Load {
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
			out.Write(page.Text(l.Page(reports.PageOptions{Verbose: verbose}), page.TextOptions{}))
			assert.NotContains(t, out.String(), "\x1b", name)
			lines := strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
			for _, line := range lines[:len(lines)-1] { // the last one is the outcome, whatever its length
				if strings.Contains(strings.TrimSpace(line), " ") { // a single word is not broken
					assert.LessOrEqual(t, len([]rune(line)), 100+1, "%s: %s", name, line)
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
		plain.Write(page.Text(l.Page(reports.PageOptions{Verbose: true}), page.TextOptions{}))
		coloured.Write(page.Text(l.Page(reports.PageOptions{Verbose: true}), page.TextOptions{Color: true}))
		stripped := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(coloured.String(), "")
		assert.Equal(t, plain.String(), stripped, name)
	}
}

// An INVALID run is no result: neither times nor rates are shown.
func TestInvalidShowsNoFigures(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	out.Write(page.Text(invalidLoad().Page(reports.PageOptions{Verbose: true}), page.TextOptions{}))
	text := out.String()
	assert.Contains(t, text, "INVALID: the generator could not sustain this load")
	assert.Contains(t, text, "What to do:")
	for _, heading := range []string{"RATE", "TIMES", "COMMANDS", "achieved 8,300 of"} {
		assert.NotContains(t, text, heading)
	}
}

// What is shown on request stands under a heading that says meaning.
func TestShowInvalid(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	out.Write(page.Text(invalidLoad().Page(reports.PageOptions{ShowInvalid: true}), page.TextOptions{}))
	_, figures, ok := strings.Cut(out.String(), "FIGURES OF AN INVALID RUN\n")
	require.True(t, ok)
	for _, want := range []string{"not quote them", "RATE", "TIMES", "\n  push\n    response"} {
		assert.Contains(t, figures, want)
	}
}

func TestVerboseNamesAllThatWasKept(t *testing.T) {
	t.Parallel()
	for _, verbose := range []bool{false, true} {
		var out bytes.Buffer
		out.Write(page.Text(lossyLoad().Page(reports.PageOptions{Verbose: verbose}), page.TextOptions{}))
		assert.Equal(t, verbose, strings.Contains(out.String(), lossyLoad().Findings[0].JIDs[999]))
		assert.Contains(t, out.String(), lossyLoad().Findings[0].JIDs[4])
	}
}

func TestLoadWriteErrors(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, soundLoad().WriteJSON(brokenPipe{}, reports.ExitOptions{}), errPipe)
	require.ErrorIs(t, results.WriteSeriesCSV(brokenPipe{}, soundLoad()), errPipe)
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errPipe }

var errPipe = errors.New("broken pipe")

func TestFormatsGolden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"load-lossy", "load-invalid"} {
		l := loadSamples()[name]
		suite := l.Suite(reports.ExitOptions{})
		for format, write := range map[string]func(*reports.Suite) ([]byte, error){
			"junit.xml": formats.JUnit, "github": formats.GitHub, "sarif": formats.SARIF,
		} {
			out, err := write(&suite)
			require.NoError(t, err)
			golden.File(t, "testdata/"+name+"."+format+".golden", out)
		}
		golden.File(t, "testdata/"+name+".md.golden", page.Markdown(l.Page(reports.PageOptions{}), page.MarkdownOptions{Title: suite.Name}))
	}
}

// A red exit code has a red case, and a green one has none: a CI that reads the cases alone comes to the same result.
func TestCasesAgreeWithTheExitCode(t *testing.T) {
	t.Parallel()
	for name, l := range loadSamples() {
		s := l.Suite(reports.ExitOptions{})
		counts := s.Count()
		red := counts[reports.CaseFailed]+counts[reports.CaseErrored] > 0
		assert.Equal(t, s.Code != reports.ExitWell && len(s.Cases) > 0, red, "%s: exit code %d", name, s.Code)
		if s.Code == reports.ExitFindings || s.Code == reports.ExitLoss {
			assert.Positive(t, counts[reports.CaseFailed], name)
		}
		names := map[string]bool{}
		for _, c := range s.Cases {
			assert.False(t, names[c.Name], "%s: two cases are %s", name, c.Name)
			names[c.Name] = true
		}
	}
}
