package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What differs from the stored lines is played again: what is as before in one of three plays is unsteady, unless the
// result or the exit code differs. What is stored has one line for each outcome.
func TestWhatDiffersFromTheStoredLines(t *testing.T) {
	t.Parallel()
	a, b := outcome{resultFound, []string{"A"}, nil, nil, 1}, outcome{resultFound, []string{"B"}, nil, nil, 1}
	empty, other := outcome{result: resultNothing}, line{key{"bug", "other", 1}, a}
	for name, test := range map[string]struct {
		base, now []outcome // the last one now stays
		plays     int
		word      string
		want      []outcome
	}{
		"the same":         {[]outcome{a}, []outcome{a}, 1, "", []outcome{a}},
		"by chance":        {[]outcome{a}, []outcome{b, a}, 3, wordUnsteady, []outcome{a, b}},
		"known by chance":  {[]outcome{a, b}, []outcome{b}, 1, wordUnsteady, []outcome{a, b}},
		"changed":          {[]outcome{a}, []outcome{b}, 3, wordChanged, []outcome{b}},
		"not found":        {[]outcome{a}, []outcome{empty}, 3, wordLost, []outcome{empty}},
		"not always found": {[]outcome{a}, []outcome{a, empty, a}, 1, "", []outcome{a}},
		"not found once":   {[]outcome{a}, []outcome{empty, a}, 3, wordChanged, []outcome{empty, a}},
		"new":              {nil, []outcome{a, b}, 1, wordAdded, []outcome{a, b}},
	} {
		folder := t.TempDir()
		o := options{against: filepath.Join(folder, "stored"), prefix: "bug f", plays: 1}
		file := []line{other}
		for i, result := range test.base {
			file = append(file, line{key{"bug", "f", i + 1}, result})
		}
		playAll := func() (code int, played int, out string) {
			var w strings.Builder
			p := program{out: &w, log: discardLog()}
			o.file = filepath.Join(t.TempDir(), "now")
			all := []play{{key{kind: "bug", name: "f"}, func(context.Context) (outcome, error) {
				played++
				return test.now[min(played, len(test.now))-1], nil
			}}}
			now, err := p.pick(t.Context(), o, 1, repeatEach(all, o.plays))
			require.NoError(t, err)
			base, err := o.readStored()
			require.NoError(t, err)
			code, err = p.against(t.Context(), o, all, base, now)
			require.NoError(t, err)
			return code, played, w.String()
		}
		require.NoError(t, write(o.against, file))
		code, played, out := playAll()
		assert.Equal(t, test.plays, played, name)
		assert.Equal(t, test.word == "" || test.word == wordUnsteady, code == exitSame, name)
		assert.True(t, strings.HasPrefix(out, test.word), name)

		o.store = true
		code, _, _ = playAll()
		assert.Equal(t, exitSame, code, name)
		got, err := read(o.against)
		require.NoError(t, err)
		want := []line{}
		for i, result := range test.want {
			want = append(want, line{key{"bug", "f", i + 1}, result})
		}
		assert.Equal(t, append(want, other), got, name)
	}
	missingFile := filepath.Join(t.TempDir(), "none")
	code, err := program{log: discardLog()}.main(t.Context(), []string{"corpus", "-o", missingFile + "-now", "-against", missingFile})
	assert.Equal(t, exitFailed, code)
	require.ErrorContains(t, err, "no lines")
	assert.NoFileExists(t, missingFile+"-now", "nothing was played")
}
