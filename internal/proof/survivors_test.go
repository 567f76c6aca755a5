package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/scenarios"
)

// A script is long if its blocks have more rounds: its mutants take seconds each, those of all other scripts together
// less than a minute.
const long = 100

// Each line that decides a clause can fail: what is changed in its reply is found, unless a class or a row of
// testdata/survivors.txt says why the changed reply means the same. It is a sample without FWP_SLOW=1.
func TestMutantsAreFound(t *testing.T) {
	t.Parallel()
	short := func(s conformance.ScriptCheck) bool { return effort(s) <= long }
	rows := playMutants(t, slow.Pick(sampled, everything), short)
	if slow.Enabled() {
		t.Cleanup(func() { rows.stale(t) })
	}
}

func TestMutantsOfLongScriptsAreFound(t *testing.T) {
	t.Parallel()
	slow.Only(t)
	playMutants(t, everything, func(s conformance.ScriptCheck) bool { return effort(s) > long })
}

// sample is how much is played: one of so many scripts, and of these one of so many mutants. Names draw both, so that
// what is drawn stays where others are added.
type sample struct{ scripts, mutants uint32 }

var everything, sampled = sample{1, 1}, sample{5, 8}

func drawn(name string, of uint32) bool { return crc32.ChecksumIEEE([]byte(name))%of == 0 }

// playMutants plays those of the servers of all protocols.
func playMutants(t *testing.T, of sample, plays func(conformance.ScriptCheck) bool) *survivors {
	t.Helper()
	slow.NotRacing(t)
	all, err := catalogues()
	require.NoError(t, err)
	rows := readSurvivors(t)
	for _, c := range all {
		if c.on.Client != nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rows.play(c.name)
			counts := map[string]int{}
			for _, s := range c.scripts() {
				if plays(s) && drawn(c.name+s.Script.Name, of.scripts) {
					c.playScript(t, s, of, rows, counts)
				}
			}
			t.Log(counts)
		})
	}
	return rows
}

// playScript plays the mutants of a script.
func (c catalogue) playScript(
	t *testing.T, s conformance.ScriptCheck, of sample, rows *survivors, counts map[string]int,
) {
	t.Helper()
	all, err := c.mutantsOf(bubbles{t}, s)
	require.NoError(t, err)
	lines := map[int]*scenarios.Expect{}
	for step := range s.Script.All() {
		if e, is := step.(*scenarios.Expect); is {
			lines[e.Line] = e
		}
	}
	for _, m := range all {
		if m.role != decides || !drawn(m.kind+m.name, of.mutants) {
			continue
		}
		counts["all"]++
		o, err := c.outcome(bubbles{t}, m)
		require.NoError(t, err, m.name)
		row := strings.TrimPrefix(m.kind, "mutant-") + " " + m.name
		listed := rows.have(row)
		if o.found != nothing || o.exit != 0 {
			assert.False(t, listed, "%s is found, and is in %s", row, survivorsFile)
			continue
		}
		if listed {
			counts["listed"]++
			continue
		}
		class := c.classOf(lines[m.line], m)
		counts[class]++
		assert.NotEmpty(t, class, "%s survives: let the line say more, or give %s the reason\n%s", row, survivorsFile, m)
	}
}

// String shows what is changed.
func (m mutant) String() string {
	switch {
	case m.change.closes:
		return "the connection ends"
	case m.change.change == nil:
		return "it comes " + m.change.late.String() + " later"
	}
	return fmt.Sprintf("%.500q -> %.500q", m.raw, m.change.change(m.reply))
}

const survivorsFile = "testdata/survivors.txt"

// survivors are the rows of the file.
type survivors struct {
	mu     sync.Mutex
	rows   map[string]bool // whether one was met
	played map[string]bool // catalogues
}

// readSurvivors reads the file.
func readSurvivors(t *testing.T) *survivors {
	t.Helper()
	text, err := os.ReadFile(survivorsFile)
	require.NoError(t, err)
	all := &survivors{rows: map[string]bool{}, played: map[string]bool{}}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		row, reason, _ := strings.Cut(strings.TrimSpace(line), " | ")
		assert.NotEmpty(t, reason, "%s has no reason", row)
		all.rows[row] = false
	}
	return all
}

func (s *survivors) play(catalogue string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.played[catalogue] = true
}

// stale fails for rows whose mutant was not met.
func (s *survivors) stale(t *testing.T) {
	t.Helper()
	for row, met := range s.rows {
		_, name, _ := strings.Cut(row, " ")
		name, _, _ = strings.Cut(name, "/")
		assert.True(t, met || !s.played[name], "%s has a row of no mutant: %s", survivorsFile, row)
	}
}

// have reports whether there is a row.
func (s *survivors) have(row string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, is := s.rows[row]; is {
		s.rows[row] = true
		return true
	}
	return false
}
