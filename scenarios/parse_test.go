package scenarios_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// each runs a sub-test for every script of a folder.
func each(t *testing.T, folder string, test func(t *testing.T, name string, source []byte)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.fwp"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			test(t, filepath.Base(file), source)
		})
	}
}

func TestParseReportsAllProblemsWithTheirPlaces(t *testing.T) {
	t.Parallel()
	each(t, "problems", func(t *testing.T, name string, source []byte) {
		s, err := scenarios.Parse(fwpscript.Dialect{}, name, source)
		require.Error(t, err)
		assert.Nil(t, s)
		golden.File(t, filepath.Join("testdata", "problems", name+".golden"), err.Error()+"\n")
	})
}

func TestLint(t *testing.T) {
	t.Parallel()
	each(t, "lint", func(t *testing.T, name string, source []byte) {
		s, err := scenarios.Parse(fwpscript.Dialect{}, name, source)
		require.NoError(t, err)
		var all []string
		for _, problem := range scenarios.Lint(s) {
			all = append(all, problem.Error())
		}
		golden.File(t, filepath.Join("testdata", "lint", name+".golden"), strings.Join(all, "\n"))
	})
}

func TestParseTakesWindowsLineEndsAndAByteOrderMark(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Parse(fwpscript.Dialect{}, "dos.fwp",
		[]byte("\ufefftitle: from an editor\r\nC: INFO\r\nS: $\r\n"))
	require.NoError(t, err)
	assert.Equal(t, "from an editor", s.Title)
	assert.Len(t, s.Steps, 2)
}

func TestNeedsFollowFromTheSteps(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		source string
		want   []scenarios.Need
	}{
		"none":      {"C: INFO\nS: $\n", nil},
		"restart":   {"restart\nC: INFO\n", []scenarios.Need{scenarios.NeedRestart}},
		"signals":   {"quiet $wid\nterminate $wid\n", []scenarios.Need{scenarios.NeedSignals}},
		"password":  {"C: HELLO {\"v\":2,\"pwdhash\":\"$pwdhash\"}\n", []scenarios.Need{scenarios.NeedPassword}},
		"declared":  {"needs: open alone\nC: INFO\n", []scenarios.Need{scenarios.NeedAlone, scenarios.NeedOpen}},
		"in blocks": {"repeat 2\nkill\nend\n", []scenarios.Need{scenarios.NeedKill}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Parse(fwpscript.Dialect{}, name, []byte(test.source))
			require.NoError(t, err)
			assert.Equal(t, test.want, s.Needs)
		})
	}
}

// FuzzParse: no input makes the parser or the linter panic, every problem points
// into the source, and formatting is a fixed point.
func FuzzParse(f *testing.F) {
	for _, folder := range []string{"testdata/problems", "testdata/lint", "../protocols/fwp/script/scripts/framing"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.fwp"))
		require.NoError(f, err)
		for _, file := range files {
			source, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(source)
		}
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		s, err := scenarios.Parse(fwpscript.Dialect{}, "fuzz", source)
		var problems scenarios.Problems
		if err != nil {
			require.ErrorAs(t, err, &problems)
		} else {
			problems = scenarios.Lint(s)
			text := scenarios.Format(s)
			other, err := scenarios.Parse(fwpscript.Dialect{}, "formatted", text)
			require.NoError(t, err)
			require.Equal(t, string(text), string(scenarios.Format(other)))
		}
		lines := strings.Count(string(source), "\n") + 1
		for _, p := range problems {
			assert.True(t, p.Line >= 1 && p.Line <= lines && p.Col >= 1 && p.Width >= 1, "%+v", p)
		}
	})
}

// What is too much for a script has a message, and takes no time.
func TestLimitsOfScripts(t *testing.T) {
	t.Parallel()
	repeat := func(n int, line string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, line, i)
		}
		return b.String()
	}
	tests := map[string]struct{ source, want string }{
		"a large file":        {strings.Repeat("C: INFO\n", scenarios.MaxSource/8+1), "f:1:1: the file has more than 4 MiB"},
		"many lines":          {strings.Repeat("#\n", 100_001), "f:1:1: the file has more than 100000 lines"},
		"a long line":         {"C: INFO\n# " + strings.Repeat("x", 1<<20), "f:2:1: the line has more than 1024 KiB"},
		"deep arrays":         {"S: $" + strings.Repeat("[", 200_000), "f:1:205: values may be nested at most 200 deep"},
		"deep objects":        {"S: $" + strings.Repeat(`{"a":`, 100_000), "values may be nested at most 200 deep"},
		"deep in a PUSH":      {"C: PUSH $job" + strings.Repeat(`{"a":`, 100_000), "values may be nested at most 200 deep"},
		"deep alternatives":   {"S: ${\"a\":" + strings.Repeat("1|[", 100_000), "values may be nested at most 200 deep"},
		"many problems":       {strings.Repeat("x\n", 1000), "and 81 more"},
		"many connections":    {repeat(1100, "C[a%d]: INFO\n"), "f:1001:1: the script has more than 1000 connections"},
		"a long wrong word":   {strings.Repeat("x", 1<<20), "…"},
		"a wide regexp":       {"S: ${\"a\":/" + strings.Repeat("(", 100_000) + "/}", "…"},
		"a regexp that grows": {"S: ${\"a\":/((a{1000}){1000}){1000}/}", "regular expression"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := scenarios.Parse(fwpscript.Dialect{}, "f", []byte(test.source))
			require.ErrorContains(t, err, test.want)
			assert.Less(t, len(err.Error()), 20_000)
		})
	}
}

func TestALimitOfRoundsIsATime(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"..soon", "..", "..0s"} {
		_, err := scenarios.Parse(fwpscript.Dialect{}, "limit.fwp", []byte("repeat 3 "+limit+"\nC: INFO\nend\n"))
		assert.ErrorContains(t, err, strconv.Quote(limit)+" is not a valid time limit")
	}
}
