package selftest

import (
	"flag"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/reports"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// heavy are the checks that take longer than all others together.
var heavy = []string{
	"framing/long-lines", "jobs/delivered-once", "push/a-thousand-jobs", "push/ten-thousand-jobs", "resp/own-replies",
}

// heaviest are the checks that took 40 % of the time of all plays, and for each the faults one of whose clauses no other
// check turns red. Without FWP_SLOW=1 each is played against these alone, and the first one, which takes four seconds,
// against none.
var heaviest = map[string][]string{
	"push/ten-thousand-jobs": nil,
	"push/a-thousand-jobs":   {"push-lost-rarely", "link-jobs-counted", "push-with-its-connection"},
	"retry/own-number":       {"job-retry-mixed"},
}

// needsTheFirst is the fault that nothing but the first of the heaviest catches.
const needsTheFirst = "push-lost-seldom"

// TestFaults plays scripts against every fault: those that decide one of its clauses,
// and a sample of the others, another one for each fault. With FWP_SLOW=1 the sample is
// a sixth, and all scripts that only record; otherwise it is one of 180, and the heaviest
// scripts are played against the faults that need them. Each pair has servers of its own: a fault that comes
// with every fiftieth job must not come up in a check that has no fifty.
func TestFaults(t *testing.T) { //nolint:tparallel // the group is over before what it found is looked at
	t.Parallel()
	scripts, faults := suite(t), fakes.Faults()
	known := candidates(scripts)
	if !slow.Enabled() {
		faults = slices.DeleteFunc(faults, func(f fakes.Fault) bool { return f.Name == needsTheFirst })
	}
	var all, declared Matrix
	t.Run("each", func(t *testing.T) {
		for _, fault := range faults {
			t.Run(fault.Name, func(t *testing.T) {
				t.Parallel()
				for _, script := range pick(fault, known) {
					check := play(t, fault, script)
					all.Add(fault, script, check)
					if names(fault, script) {
						declared.Add(fault, script, check)
					}
				}
			})
		}
	})
	caught := map[string]bool{}
	for _, row := range all.Rows() {
		assert.Empty(t, row.Unexpected, row.Fault.Name)
		assert.Empty(t, row.Missing(), row.Fault.Name)
		assert.NotEmpty(t, row.Caught, "nothing catches %s", row.Fault.Name)
		for _, check := range row.Caught {
			caught[check] = true
		}
	}
	for _, script := range scripts {
		id := script.Describe().ID
		left := !slow.Enabled() && (!judges(script) || id == "push/ten-thousand-jobs")
		assert.True(t, left || caught[id], "%s catches no fault", id)
	}
	assert.Len(t, declared.Rows(), len(faults), "a check looks at each fault")
	document(t, declared.Rows())
}

// candidate is a script with what picks it: to describe all scripts for each fault took seconds.
type candidate struct {
	conformance.Check
	id      string
	clauses []string
	judges  bool
}

func candidates(scripts []conformance.Check) []candidate {
	var all []candidate
	for _, s := range scripts {
		all = append(all, candidate{s, s.Describe().ID, clauses(s), judges(s)})
	}
	return all
}

// pick takes the scripts that are played against a fault. The sample is drawn by the names of both, so that a new fault
// or script leaves the others where they are.
func pick(fault fakes.Fault, scripts []candidate) []conformance.Check {
	var picked []conformance.Check
	for _, script := range scripts {
		drawn := crc32.ChecksumIEEE([]byte(fault.Name + " " + script.id))
		isHeavy := slices.Contains(heavy, script.id)
		needs, isHeaviest := heaviest[script.id]
		var take bool
		switch {
		case isHeaviest && !slow.Enabled():
			take = slices.Contains(needs, fault.Name)
		case slices.ContainsFunc(script.clauses, func(id string) bool { return slices.Contains(fault.Clauses, id) }):
			take = true
		case slow.Enabled():
			take = !script.judges || drawn%60 == 0 || !isHeavy && drawn%6 == 0
		default:
			take = !isHeavy && drawn%180 == 0
		}
		if take {
			picked = append(picked, script.Check)
		}
	}
	return picked
}

// play plays one script on fresh servers with a fault.
func play(t *testing.T, fault fakes.Fault, script conformance.Check) (check reports.Check) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		var err error
		check, err = Fixture{memnet.New()}.Play(t.Context(), fault, script, nil)
		require.NoError(t, err)
	})
	return check
}

// document compares docs/faults.md with the matrix, or writes it.
func document(t *testing.T, rows []*Row) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `# The faults

Written by `+"`go test ./internal/selftest -run Faults -update`"+`; do not edit. It has %d faults: small departures of the
embedded server, one row for each. A fault declares the clauses that it may break; the first of them turns red wherever
a check looks at it, and nothing else may. What turned red, and by which checks, is what the checks saw that decide
one of the declared clauses.

| fault | what the server does | declares | turned red | caught by |
|---|---|---|---|---|
`, len(fakes.Faults()))
	for _, r := range rows {
		turned, by := strings.Join(slices.Sorted(maps.Keys(r.Red)), ", "), strings.Join(r.Caught, ", ")
		if turned == "" {
			turned = "*found dead*"
		}
		summary := strings.ReplaceAll(r.Fault.Summary, "|", `\|`)
		cells := []string{r.Fault.Name, summary, strings.Join(r.Fault.Clauses, ", "), turned, by}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	path := filepath.Join("..", "..", "docs", "faults.md")
	if *update {
		require.True(t, slow.Enabled(), "the whole matrix takes FWP_SLOW=1")
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	old, err := os.ReadFile(path)
	require.NoError(t, err)
	// Only the rows that differ: the texts themselves would fill pages.
	before := strings.Split(played(strings.ReplaceAll(string(old), "\r\n", "\n")), "\n")
	now := strings.Split(played(b.String()), "\n")
	assert.Empty(t, cmp.Diff(without(before, now), without(now, before)),
		"docs/faults.md is stale: FWP_SLOW=1 go test ./internal/selftest -run Faults -update")
}

// without returns the lines that are not among the others.
func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
}

// played is the document without the plays that take FWP_SLOW=1.
func played(document string) string {
	if slow.Enabled() {
		return document
	}
	var rows []string
	for line := range strings.Lines(document) {
		if strings.HasPrefix(line, "| "+needsTheFirst+" |") {
			continue
		}
		for check, needs := range heaviest {
			if !slices.ContainsFunc(needs, func(name string) bool { return strings.HasPrefix(line, "| "+name+" |") }) {
				line = strings.NewReplacer(", "+check, "", check+", ", "").Replace(line)
			}
		}
		rows = append(rows, line)
	}
	return strings.Join(rows, "")
}
