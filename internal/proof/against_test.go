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
	a, b := outcome{found, []string{"A"}, nil, nil, 1}, outcome{found, []string{"B"}, nil, nil, 1}
	not, other := outcome{found: nothing}, line{key{"bug", "other", 1}, a}
	for name, test := range map[string]struct {
		stored, now []outcome // the last one now stays
		plays       int
		word        string
		kept        []outcome
	}{
		"the same":         {[]outcome{a}, []outcome{a}, 1, "", []outcome{a}},
		"by chance":        {[]outcome{a}, []outcome{b, a}, 3, unsteady, []outcome{a, b}},
		"known by chance":  {[]outcome{a, b}, []outcome{b}, 1, unsteady, []outcome{a, b}},
		"changed":          {[]outcome{a}, []outcome{b}, 3, changed, []outcome{b}},
		"not found":        {[]outcome{a}, []outcome{not}, 3, lost, []outcome{not}},
		"not always found": {[]outcome{a}, []outcome{a, not, a}, 1, "", []outcome{a}},
		"not found once":   {[]outcome{a}, []outcome{not, a}, 3, changed, []outcome{not, a}},
		"new":              {nil, []outcome{a, b}, 1, added, []outcome{a, b}},
	} {
		folder := t.TempDir()
		o := options{against: filepath.Join(folder, "stored"), only: "bug f", plays: 1}
		file := []line{other}
		for i, is := range test.stored {
			file = append(file, line{key{"bug", "f", i + 1}, is})
		}
		playAll := func() (code int, played int, out string) {
			var w strings.Builder
			p := program{out: &w, log: quiet()}
			o.file = filepath.Join(t.TempDir(), "now")
			all := []play{{key{kind: "bug", name: "f"}, func(context.Context) (outcome, error) {
				played++
				return test.now[min(played, len(test.now))-1], nil
			}}}
			now, err := p.pick(t.Context(), o, 1, repeated(all, o.plays))
			require.NoError(t, err)
			stored, err := o.stored()
			require.NoError(t, err)
			code, err = p.against(t.Context(), o, all, stored, now)
			require.NoError(t, err)
			return code, played, w.String()
		}
		require.NoError(t, write(o.against, file))
		code, played, out := playAll()
		assert.Equal(t, test.plays, played, name)
		assert.Equal(t, test.word == "" || test.word == unsteady, code == exitSame, name)
		assert.True(t, strings.HasPrefix(out, test.word), name)

		o.store = true
		code, _, _ = playAll()
		assert.Equal(t, exitSame, code, name)
		got, err := read(o.against)
		require.NoError(t, err)
		want := []line{}
		for i, is := range test.kept {
			want = append(want, line{key{"bug", "f", i + 1}, is})
		}
		assert.Equal(t, append(want, other), got, name)
	}
	none := filepath.Join(t.TempDir(), "none")
	code, err := program{log: quiet()}.main(t.Context(), []string{"corpus", "-o", none + "-now", "-against", none})
	assert.Equal(t, exitFailed, code)
	require.ErrorContains(t, err, "no lines")
	assert.NoFileExists(t, none+"-now", "nothing was played")
}
