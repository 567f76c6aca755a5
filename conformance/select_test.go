package conformance_test

import (
	"maps"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// scripts parses name/source pairs.
func scripts(t *testing.T, sources map[string]string) []conformance.Check {
	t.Helper()
	var all []conformance.Check
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		s, err := scenarios.Parse(fwpscript.Dialect{}, name, []byte(sources[name]))
		require.NoError(t, err)
		all = append(all, conformance.ScriptCheck{Script: s})
	}
	return all
}

func TestSelection(t *testing.T) {
	t.Parallel()
	all := scripts(t, map[string]string{
		"push/ok":      "clause FWP-PUSH-01\nS: +HI {}\n",
		"push/refused": "clause FWP-PUSH-02 FWP-WU-01\nS: +HI {}\n",
		"info/strict":  "clause FWP-INFO-03\nS: +HI {}\n",
	})
	tests := map[string]struct {
		selection conformance.Selection
		want      []string
		complaint string
	}{
		"all":      {conformance.Selection{}, []string{"info/strict", "push/ok", "push/refused"}, ""},
		"one":      {conformance.Selection{Checks: []string{"push/ok"}}, []string{"push/ok"}, ""},
		"a folder": {conformance.Selection{Checks: []string{"push"}}, []string{"push/ok", "push/refused"}, ""},
		"a glob":   {conformance.Selection{Checks: []string{"*/refused"}}, []string{"push/refused"}, ""},
		"a clause": {conformance.Selection{Clauses: []string{"FWP-WU-*"}}, []string{"push/refused"}, ""},
		"a level":  {conformance.Selection{Levels: []string{"SHOULD"}}, []string{"info/strict"}, ""},
		"both must be met": {
			conformance.Selection{Checks: []string{"push"}, Clauses: []string{"FWP-PUSH-01"}},
			[]string{"push/ok"}, "",
		},
		"a typo in a check": {conformance.Selection{Checks: []string{"psuh"}}, nil, "check psuh matches no check"},
		"one of two matches": {
			conformance.Selection{Checks: []string{"push", "psuh"}},
			nil, "check psuh matches no check",
		},
		"a typo in a clause": {conformance.Selection{Clauses: []string{"FWP-PUHS-01"}}, nil, "did you mean FWP-PUSH-01?"},
		"a client's clause":  {conformance.Selection{Clauses: []string{"FWP-HELLO-01"}}, nil, "binds clients"},
		"an excluded clause": {
			conformance.Selection{Clauses: []string{"FWP-LINK-01"}},
			nil, "no check tests this clause: Host and port are given",
		},
		"a typo in a level": {conformance.Selection{Levels: []string{"SHALL"}}, nil, "the levels are"},
		"no pattern":        {conformance.Selection{Checks: []string{"[a"}}, nil, "not a pattern"},
		"none meets all of it": {
			conformance.Selection{Checks: []string{"info"}, Clauses: []string{"FWP-PUSH-01"}},
			nil, "no check matches all parts",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.selection.Suite = fwpsuite.Protocol()
			in, out, err := test.selection.Apply(all)
			if test.complaint != "" {
				require.ErrorContains(t, err, test.complaint)
				return
			}
			require.NoError(t, err)
			var names []string
			for _, s := range in {
				names = append(names, s.Describe().ID)
			}
			assert.Equal(t, test.want, names)
			assert.Len(t, out, len(all)-len(in))
		})
	}
}

// The language has the levels of the catalogue, and knows nothing of the catalogue.
func TestTheLevelsOfScriptsAreThoseOfReports(t *testing.T) {
	t.Parallel()
	var levels []string
	for _, level := range reports.Levels() {
		assert.True(t, level.IsValid(), level)
		levels = append(levels, string(level))
	}
	assert.Equal(t, levels, scenarios.Levels())
}

// The errors do not name flags: the caller may have other ones.
func TestAWrongSelectionIsATypedError(t *testing.T) {
	t.Parallel()
	_, _, err := conformance.Selection{Suite: fwpsuite.Protocol(), Clauses: []string{"FWP-PUHS-01"}}.Apply(nil)
	var wrong *conformance.SelectionError
	require.ErrorAs(t, err, &wrong)
	want := conformance.SelectionError{Part: "clause", Pattern: "FWP-PUHS-01", Explanation: "did you mean FWP-PUSH-01?"}
	assert.Equal(t, want, *wrong)
	p := &conformance.Suite{Retired: map[string]string{"push/old": "push/accepted"}}
	_, _, err = conformance.Selection{Suite: p, Checks: []string{"Push/old"}}.Apply(nil)
	require.EqualError(t, err, "check Push/old matches no check; push/accepted replaces it")
	_, _, err = conformance.Selection{Suite: fwpsuite.Protocol(), Levels: []string{"[a"}}.Apply(nil)
	require.ErrorIs(t, err, path.ErrBadPattern)
	quick, slow := conformance.Selection{Suite: fwpsuite.Protocol(), Quick: true}, "connect as consumer\nsilence 9s\n"
	_, _, err = quick.Apply(scripts(t, map[string]string{"slow": "waits: 9s\n" + slow}))
	require.ErrorIs(t, err, conformance.ErrAllSlow)
	assert.NotContains(t, err.Error(), "--")
	_, _, err = quick.Apply(scripts(t, map[string]string{"a script without the line is always played": slow}))
	require.NoError(t, err)
}
