package main

import (
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/allow"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/scenarios"
)

// A script is long if its blocks have more rounds: its mutants take seconds each, those of all other scripts together
// less than a minute.
const lineLimit = 100

// Each line that decides a clause can fail: what is changed in its reply is found, unless a class or a row above the
// line says why the changed reply means the same. It is a sample without FWP_SLOW=1.
func TestMutantsAreFound(t *testing.T) {
	t.Parallel()
	playMutants(t, golden.Sample(smallSample, fullSample), func(s conformance.ScriptCheck) bool { return effort(s) <= lineLimit })
}

func TestMutantsOfLongScriptsAreFound(t *testing.T) {
	t.Parallel()
	golden.OnlySlow(t)
	playMutants(t, sample{1, 1, false}, func(s conformance.ScriptCheck) bool { return effort(s) > lineLimit })
}

// sample is how much is played: one of so many scripts, and of these one of so many mutants. Names draw both, so that
// what is drawn stays where others are added. If it is all, a class that allows nothing is an error.
type sample struct {
	scripts, mutants uint32
	all              bool
}

var fullSample, smallSample = sample{1, 1, true}, sample{5, 8, false}

func isDrawn(name string, n uint32) bool { return crc32.ChecksumIEEE([]byte(name))%n == 0 }

// playMutants plays those of the servers of all protocols.
func playMutants(t *testing.T, size sample, plays func(conformance.ScriptCheck) bool) {
	t.Helper()
	golden.NotRacing(t)
	all, err := catalogues()
	require.NoError(t, err)
	var uses allow.Usage
	var pending atomic.Int32
	for _, c := range all {
		if c.fixture.Client != nil {
			continue
		}
		pending.Add(1)
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			defer pending.Add(-1)
			counts := map[string]int{}
			for _, s := range c.scripts() {
				if !plays(s) || !isDrawn(c.name+s.Script.Name, size.scripts) {
					continue
				}
				draw := func(m mutant) bool { return isDrawn(m.kind+m.name, size.mutants) }
				list, err := c.survivors(bubbles{t}, s, draw, &uses, counts)
				require.NoError(t, err)
				for _, text := range list {
					t.Error(text)
				}
			}
			t.Log(counts)
		})
	}
	t.Cleanup(func() {
		if size.all && pending.Load() == 0 { // else -run has left some out
			for _, class := range classes {
				assert.Empty(t, uses.Stale(class.row()))
			}
		}
	})
}

// A row that allows nothing is an error, in a script and among the classes; so is one without a reason, and one that
// does not stand above an S: line. What survives and is not allowed has its row proposed.
func TestRowsOfAScript(t *testing.T) {
	t.Parallel()
	c := catalogueOf(t, "workq", "examples/run")
	sourceLines := c.scripts()[0].Script.Source
	at := slices.IndexFunc(sourceLines, func(line string) bool { return strings.HasPrefix(line, "# allow late: ") })
	require.Positive(t, at)
	file := func(line int) string {
		return "protocols/workq/script/scripts/examples/run.fwp:" + strconv.Itoa(line) + ": "
	}
	const lateRow, allowsNothing = "# allow late: WHY", " allows nothing: take it out"
	for name, test := range map[string]struct {
		rows []string // in the place of that one
		want string   // the beginning
	}{
		"needed":            {sourceLines[at : at+1], ""},
		"none":              {nil, file(at+1) + "a reply that is changed is not found"},
		"stale":             {[]string{sourceLines[at], "# allow twice: x"}, file(at+2) + `"allow twice"` + allowsNothing},
		"of something else": {[]string{sourceLines[at], "# allow field a-b: x"}, file(at+2) + `"allow field a-b"` + allowsNothing},
		"without a reason":  {[]string{lateRow}, file(at+1) + `"allow late: WHY": expected`},
		"elsewhere":         {[]string{sourceLines[at], "setup"}, file(at+1) + `"` + sourceLines[at][2:] + `" is not right above an S: line`},
	} {
		lines := slices.Concat(sourceLines[:at], test.rows, sourceLines[at+1:])
		script, err := scenarios.Parse(c.fixture.Entry.Dialect, "examples/run", []byte(strings.Join(lines, "\n")))
		require.NoError(t, err)
		list, err := c.survivors(bubbles{t}, conformance.Scripts(script)[0].(conformance.ScriptCheck),
			func(mutant) bool { return true }, new(allow.Usage), map[string]int{})
		if err != nil {
			list = append(list, err.Error())
		}
		if test.want == "" {
			assert.Empty(t, list, name)
			continue
		}
		require.Len(t, list, 1, name)
		assert.True(t, strings.HasPrefix(list[0], test.want), "%s: %s", name, list[0])
		assert.Equal(t, name == "none", strings.Contains(list[0], "\n"+lateRow+"\n"), name)
	}
	assert.Equal(t, []string{`internal/proof/classes.go: "allow any" allows nothing: take it out`},
		new(allow.Usage).Stale(classes[0].row()))
}
