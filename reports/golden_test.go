package reports

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares got with testdata/name, or writes it there.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func TestGolden(t *testing.T) {
	t.Parallel()
	interrupted := rich()
	interrupted.Interrupted = true
	cases := []struct {
		name    string
		report  *Report
		options PageOptions
		color   bool
	}{
		{"rich", rich(), PageOptions{}, false},
		{"rich-verbose", rich(), PageOptions{Verbose: true, Exit: ExitOptions{Strict: true}}, false},
		{"rich-colour", rich(), PageOptions{}, true},
		{"interrupted", interrupted, PageOptions{}, false},
		{"well", well(), PageOptions{}, false},
		{"expected", expected(), PageOptions{}, false},
		{"repeated", repeated(), PageOptions{Verbose: true}, false},
		{"empty", &Report{}, PageOptions{}, false},
		{"unreachable", &Report{
			Target:      Target{URL: "tcp://127.0.0.1:1", Chosen: "from --url"},
			Unreachable: "dial tcp 127.0.0.1:1: connection refused",
		}, PageOptions{}, false},
		{"script", &Report{Checks: []Check{{ID: "my-bug", File: "my-bug.fwp", Verdict: Fail, Findings: []Finding{{
			Verdict: Fail, Evidence: Evidence{
				Line: 3, Source: "S: +OK", Expected: "the simple string OK", Actual: "the connection was closed",
			},
		}}}}}, PageOptions{}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.NoError(t, c.report.Page(c.options).WriteText(&out, TextOptions{Color: c.color}))
			golden(t, c.name+".txt.golden", out.Bytes())
		})
	}
	for _, c := range []struct {
		name   string
		report *Report
	}{{"rich", rich()}, {"repeated", repeated()}, {"empty", &Report{}}} {
		t.Run(c.name+" as JSON", func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.NoError(t, c.report.WriteJSON(&out, ExitOptions{}))
			golden(t, c.name+".json.golden", out.Bytes())
		})
	}
}

// The terminal is the reader's: nothing that a server said may move its cursor, and prose keeps to its width.
func TestTextIsTame(t *testing.T) {
	t.Parallel()
	for _, verbose := range []bool{false, true} {
		var out bytes.Buffer
		r := rich()
		r.Target.HI = "HI \x1b]0;title\a \xff \u202e"
		r.Internal = "boom \x1b[2J\nsecond line"
		require.NoError(t, r.Page(PageOptions{Verbose: verbose}).WriteText(&out, TextOptions{}))
		assert.NotContains(t, out.String(), "\x1b")
		assert.Contains(t, out.String(), `HI \x1b]0;title\x07 \xff \u202e`)
		for line := range strings.Lines(out.String()) {
			assert.LessOrEqual(t, len([]rune(line)), 121, line)
			assert.Equal(t, strings.TrimRight(line, " \n")+"\n", line)
		}
	}
}

func TestColourPaintsTheSameText(t *testing.T) {
	t.Parallel()
	var plain, coloured bytes.Buffer
	require.NoError(t, rich().Page(PageOptions{Verbose: true}).WriteText(&plain, TextOptions{}))
	require.NoError(t, rich().Page(PageOptions{Verbose: true}).WriteText(&coloured, TextOptions{Color: true}))
	stripped := coloured.String()
	for _, attribute := range append(colors[1:], "0") {
		stripped = strings.ReplaceAll(stripped, "\x1b["+attribute+"m", "")
	}
	require.Equal(t, plain.String(), stripped)
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errPipe }

var errPipe = errors.New("broken pipe")

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, well().Page(PageOptions{}).WriteText(brokenPipe{}, TextOptions{}), errPipe)
	require.ErrorIs(t, well().WriteJSON(brokenPipe{}, ExitOptions{}), errPipe)
	require.ErrorContains(t, (&Report{Checks: []Check{{Verdict: 99}}}).WriteJSON(&bytes.Buffer{}, ExitOptions{}),
		"verdict 99 is unknown")
}
