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
const long = 100

// Each line that decides a clause can fail: what is changed in its reply is found, unless a class or a row above the
// line says why the changed reply means the same. It is a sample without FWP_SLOW=1.
func TestMutantsAreFound(t *testing.T) {
	t.Parallel()
	playMutants(t, golden.Sample(sampled, everything), func(s conformance.ScriptCheck) bool { return effort(s) <= long })
}

func TestMutantsOfLongScriptsAreFound(t *testing.T) {
	t.Parallel()
	golden.OnlySlow(t)
	playMutants(t, sample{1, 1, false}, func(s conformance.ScriptCheck) bool { return effort(s) > long })
}

// sample is how much is played: one of so many scripts, and of these one of so many mutants. Names draw both, so that
// what is drawn stays where others are added. If it is all, a class that allows nothing is an error.
type sample struct {
	scripts, mutants uint32
	all              bool
}

var everything, sampled = sample{1, 1, true}, sample{5, 8, false}

func drawn(name string, of uint32) bool { return crc32.ChecksumIEEE([]byte(name))%of == 0 }

// playMutants plays those of the servers of all protocols.
func playMutants(t *testing.T, of sample, plays func(conformance.ScriptCheck) bool) {
	t.Helper()
	golden.NotRacing(t)
	all, err := catalogues()
	require.NoError(t, err)
	var met allow.Met
	var left atomic.Int32
	for _, c := range all {
		if c.on.Client != nil {
			continue
		}
		left.Add(1)
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			defer left.Add(-1)
			counts := map[string]int{}
			for _, s := range c.scripts() {
				if !plays(s) || !drawn(c.name+s.Script.Name, of.scripts) {
					continue
				}
				draw := func(m mutant) bool { return drawn(m.kind+m.name, of.mutants) }
				wrong, err := c.survivors(bubbles{t}, s, draw, &met, counts)
				require.NoError(t, err)
				for _, text := range wrong {
					t.Error(text)
				}
			}
			t.Log(counts)
		})
	}
	t.Cleanup(func() {
		if of.all && left.Load() == 0 { // else -run has left some out
			for _, class := range classes {
				assert.Empty(t, met.Stale(class.row()))
			}
		}
	})
}

// A row that allows nothing is an error, in a script and among the classes; so is one without a reason, and one that
// does not stand above an S: line. What survives and is not allowed has its row proposed.
func TestRowsOfAScript(t *testing.T) {
	t.Parallel()
	c := catalogueOf(t, "workq", "examples/run")
	whole := c.scripts()[0].Script.Source
	at := slices.IndexFunc(whole, func(line string) bool { return strings.HasPrefix(line, "# allow late: ") })
	require.Positive(t, at)
	file := func(line int) string {
		return "protocols/workq/script/scripts/examples/run.fwp:" + strconv.Itoa(line) + ": "
	}
	const late, allowsNothing = "# allow late: WHY", " allows nothing: take it out"
	for name, test := range map[string]struct {
		rows  []string // in the place of that one
		wrong string   // the beginning
	}{
		"needed":            {whole[at : at+1], ""},
		"none":              {nil, file(at+1) + "a reply that is changed is not found"},
		"stale":             {[]string{whole[at], "# allow twice: x"}, file(at+2) + `"allow twice"` + allowsNothing},
		"of something else": {[]string{whole[at], "# allow field a-b: x"}, file(at+2) + `"allow field a-b"` + allowsNothing},
		"without a reason":  {[]string{late}, file(at+1) + `"allow late: WHY": expected`},
		"elsewhere":         {[]string{whole[at], "setup"}, file(at+1) + `"` + whole[at][2:] + `" is not right above an S: line`},
	} {
		lines := slices.Concat(whole[:at], test.rows, whole[at+1:])
		script, err := scenarios.Parse(c.on.Peer.Dialect, "examples/run", []byte(strings.Join(lines, "\n")))
		require.NoError(t, err)
		wrong, err := c.survivors(bubbles{t}, conformance.Scripts(script)[0].(conformance.ScriptCheck),
			func(mutant) bool { return true }, new(allow.Met), map[string]int{})
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		if test.wrong == "" {
			assert.Empty(t, wrong, name)
			continue
		}
		require.Len(t, wrong, 1, name)
		assert.True(t, strings.HasPrefix(wrong[0], test.wrong), "%s: %s", name, wrong[0])
		assert.Equal(t, name == "none", strings.Contains(wrong[0], "\n"+late+"\n"), name)
	}
	assert.Equal(t, []string{`internal/proof/classes.go: "allow any" allows nothing: take it out`},
		new(allow.Met).Stale(classes[0].row()))
}
