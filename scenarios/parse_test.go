package scenarios_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares text with a file, or writes it with -update.
func golden(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), text)
}

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
		s, err := scenarios.Parse(fwpdialect.Dialect{}, name, source)
		require.Error(t, err)
		assert.Nil(t, s)
		golden(t, filepath.Join("testdata", "problems", name+".golden"), err.Error()+"\n")
	})
}

func TestLint(t *testing.T) {
	t.Parallel()
	each(t, "lint", func(t *testing.T, name string, source []byte) {
		s, err := scenarios.Parse(fwpdialect.Dialect{}, name, source)
		require.NoError(t, err)
		var all []string
		for _, problem := range scenarios.Lint(s) {
			all = append(all, problem.Error())
		}
		golden(t, filepath.Join("testdata", "lint", name+".golden"), strings.Join(all, "\n"))
	})
}

func TestParseTakesWindowsLineEndsAndAByteOrderMark(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Parse(fwpdialect.Dialect{}, "dos.fwp", []byte("\ufefftitle: from an editor\r\nC: INFO\r\nS: $\r\n"))
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
		"embedded":  {"embedded: salt=x\nquiet $wid\n", []scenarios.Need{scenarios.NeedEmbedded}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Parse(fwpdialect.Dialect{}, name, []byte(test.source))
			require.NoError(t, err)
			assert.Equal(t, test.want, s.Needs)
		})
	}
}

// FuzzParse: no input makes the parser or the linter panic, every problem points
// into the source, and formatting is a fixed point.
func FuzzParse(f *testing.F) {
	for _, folder := range []string{"testdata/problems", "testdata/lint", "fwpdialect/scripts/framing"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.fwp"))
		require.NoError(f, err)
		for _, file := range files {
			source, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(source)
		}
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		s, err := scenarios.Parse(fwpdialect.Dialect{}, "fuzz", source)
		var problems scenarios.Problems
		if err != nil {
			require.ErrorAs(t, err, &problems)
		} else {
			problems = scenarios.Lint(s)
			once := scenarios.Format(s)
			again, err := scenarios.Parse(fwpdialect.Dialect{}, "formatted", once)
			require.NoError(t, err)
			require.Equal(t, string(once), string(scenarios.Format(again)))
		}
		lines := strings.Count(string(source), "\n") + 1
		for _, p := range problems {
			assert.True(t, p.Line >= 1 && p.Line <= lines && p.Col >= 1 && p.Width >= 1, "%+v", p)
		}
	})
}
