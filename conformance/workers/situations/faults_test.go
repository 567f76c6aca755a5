package situations

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/fwpsuite"
	"github.com/fwpsuite/fwp/fakes/fakeworker"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// row is what the situations found on a worker with a fault.
type row struct {
	fault fakeworker.Fault
	red   map[string][]string // situations by clause
}

// TestFaults plays situations on workers with faults: with FWP_SLOW=1 all, and otherwise, on one fault for each clause
// and one for each situation, the first of those that are known to catch it, and a sample of the others. The first
// clause of a fault has to turn red, and no other than the declared ones may.
func TestFaults(t *testing.T) { //nolint:tparallel // the group is over before what it found is looked at
	t.Parallel()
	workers := subjects{runChecks, fakeworker.Faults(), caught(t, 0), (&Harness{Launcher: &InProcess{}}).Checks()}
	producers := subjects{
		runProducer, fakeworker.ProducerFaults(), caught(t, 1), (&Harness{Launcher: &InProcess{}, Producer: true}).Checks(),
	}
	var rows, pushers []row
	t.Run("workers", func(t *testing.T) { workers.catch(t, &rows) })        //nolint:paralleltest // the rows are written behind it
	t.Run("producers", func(t *testing.T) { producers.catch(t, &pushers) }) //nolint:paralleltest // the rows are written behind it
	if !t.Failed() {
		document(t, rows, pushers)
	}
}

// subjects are the faults of workers or of producers.
type subjects struct {
	play   judge
	faults []fakeworker.Fault
	known  map[string][]string // situations that catch each
	checks []conformance.Check
}

// catch plays situations on each, and keeps what they found.
func (s subjects) catch(t *testing.T, rows *[]row) {
	var mu sync.Mutex
	t.Run("each", func(t *testing.T) {
		for i, fault := range s.chosen() {
			t.Run(fault.Name, func(t *testing.T) {
				t.Parallel()
				// The order of a worker's connections is a matter of chance, and some faults show on one of them only.
				var r row
				problems := []string{"not played"}
				for _, few := range []int{1, 3, 6} {
					if len(problems) > 0 {
						r, problems = judged(t, s.play, fault, s.picked(fault, i, few))
					}
				}
				assert.Empty(t, problems)
				mu.Lock()
				defer mu.Unlock()
				*rows = append(*rows, r)
			})
		}
	})
	slices.SortFunc(*rows, func(a, b row) int { return strings.Compare(a.fault.Name, b.fault.Name) })
}

// chosen returns the faults that are played: with FWP_SLOW=1 all, otherwise those that no situation is known to catch,
// and the first ones that break a clause before all others, or that a situation catches before all others.
func (s subjects) chosen() (some []fakeworker.Fault) {
	seen := map[string]bool{}
	for _, f := range s.faults {
		shows := f.Clauses[:1:1]
		if by := s.known[f.Name]; len(by) > 0 {
			shows = append(shows, by[0])
		}
		isNew := func(name string) bool { return !seen[name] }
		if slow.Enabled() || *update || len(shows) == 1 || slices.ContainsFunc(shows, isNew) {
			some = append(some, f)
		}
		for _, name := range shows {
			seen[name] = true
		}
	}
	return some
}

// judge plays situations on a worker or a producer.
type judge func(t *testing.T, configure func(*fakeworker.Config), ids ...string) *reports.Report

// judged plays situations on a worker with a fault, and returns what turned red, and what should not have, or should.
func judged(t *testing.T, play judge, fault fakeworker.Fault, ids []string) (r row, problems []string) {
	t.Helper()
	report := play(t, fault.Configure, ids...)
	r = row{fault, map[string][]string{}}
	for _, c := range report.Checks {
		for _, cv := range c.Clauses {
			if !cv.Verdict.Breach() {
				continue
			}
			r.red[cv.ID] = append(r.red[cv.ID], c.ID)
			if !slices.Contains(fault.Clauses, cv.ID) {
				problems = append(problems, fmt.Sprintf("undeclared: %s finds %s %s: %s", c.ID, cv.ID, cv.Verdict, cv.Why))
			}
		}
	}
	if len(r.red[fault.Clauses[0]]) == 0 {
		problems = append(problems, fault.Clauses[0]+" is not found broken")
		problems = append(problems, wrong(report)...)
	}
	return r, problems
}

// picked returns the situations that the ith fault is played in: with FWP_SLOW=1 all, otherwise the first few that are
// known to catch it, and a sample of the others.
func (s subjects) picked(fault fakeworker.Fault, i, few int) (ids []string) {
	for j, c := range s.checks {
		d := c.Describe()
		by := s.known[fault.Name]
		catches := slices.Contains(by[:min(few, len(by))], d.ID) || len(by) == 0 && names(fault, d)
		if slow.Enabled() || *update || catches || (i+j)%200 == 0 {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

const documented = "../../../docs/worker-faults.md"

// producersHead is the heading of the second table of the document.
const producersHead = "## Producers"

// caught returns the situations that are known to catch each fault; part is 0 for workers and 1 for producers.
func caught(t *testing.T, part int) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(documented)
	if err != nil {
		return nil
	}
	by := map[string][]string{}
	parts := strings.Split(string(text), producersHead)
	if part >= len(parts) {
		return nil
	}
	for line := range strings.Lines(parts[part]) {
		if cells := strings.Split(line, " | "); len(cells) == 5 {
			ids := strings.Split(strings.TrimSuffix(strings.TrimSpace(cells[4]), " |"), ", ")
			by[strings.TrimPrefix(cells[0], "| ")] = ids
		}
	}
	return by
}

// names reports whether a situation decides one of the clauses that a fault declares.
func names(fault fakeworker.Fault, d conformance.Description) bool {
	return slices.ContainsFunc(d.Clauses(), func(m scenarios.Mark) bool {
		return slices.Contains(fault.Clauses, m.Clause)
	})
}

func TestFaultsAreWellFormed(t *testing.T) {
	t.Parallel()
	wellFormed(t, fakeworker.Faults(), 60)
	wellFormed(t, fakeworker.ProducerFaults(), 15)
	assert.GreaterOrEqual(t, len(fakeworker.Variations()), 15)
	assert.GreaterOrEqual(t, len(fakeworker.ProducerVariations()), 5)
}

func wellFormed(t *testing.T, faults []fakeworker.Fault, least int) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range faults {
		assert.False(t, seen[f.Name], f.Name)
		seen[f.Name] = true
		assert.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)*$`, f.Name)
		assert.Regexp(t, `^[A-Z].*\.$`, f.Summary, f.Name)
		require.NotEmpty(t, f.Clauses, f.Name)
		for _, id := range f.Clauses {
			c, known := fwpsuite.ClauseByID(id)
			assert.True(t, known && (!c.BindsServer() || len(c.Party) != 1), "%s: %s", f.Name, id)
		}
	}
	assert.GreaterOrEqual(t, len(seen), least)
}

// TestVariations plays situations on workers that differ and are right: without FWP_SLOW=1 an eighth of them.
func TestVariations(t *testing.T) {
	t.Parallel()
	for i, v := range fakeworker.Variations() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			var ids []string
			for j, c := range (&Harness{Launcher: &InProcess{}}).Checks() {
				if slow.Enabled() || (i+j)%8 == 0 {
					ids = append(ids, c.Describe().ID)
				}
			}
			unblamed(t, runChecks(t, v.Configure, ids...))
		})
	}
}

// TestProducerVariations is the same for producers, without FWP_SLOW=1 in a third of the situations.
func TestProducerVariations(t *testing.T) {
	t.Parallel()
	for i, v := range fakeworker.ProducerVariations() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			var ids []string
			for j, c := range (&Harness{Launcher: &InProcess{}, Producer: true}).Checks() {
				if slow.Enabled() || (i+j)%3 == 0 {
					ids = append(ids, c.Describe().ID)
				}
			}
			unblamed(t, runProducer(t, v.Configure, ids...), mayBeOpen[v.Name])
		})
	}
}

// mayBeOpen has the situations that a producer's variation leaves inconclusive.
var mayBeOpen = map[string]string{"one-caller": "pool/replies"}

func unblamed(t *testing.T, report *reports.Report, open ...string) {
	t.Helper()
	for _, c := range report.Checks {
		for _, cv := range c.Clauses {
			assert.False(t, cv.Verdict.Breach(), "%s finds %s %s: %s", c.ID, cv.ID, cv.Verdict, cv.Why)
			if !slices.Contains(open, c.ID) {
				assert.NotEqual(t, reports.Inconclusive, cv.Verdict, "%s: %s: %s", c.ID, cv.ID, cv.Why)
			}
		}
	}
}

// catalogued is a document without what differs from run to run, which are the last two columns.
func catalogued(document string) string {
	var b strings.Builder
	for line := range strings.Lines(document) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		b.WriteString(strings.Join(cells[:min(3, len(cells))], " | ") + "\n")
	}
	return b.String()
}

// document compares docs/worker-faults.md with what was found, or writes it.
func document(t *testing.T, rows, pushers []row) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `# The faults of workers

Written by `+"`go test ./conformance/workers/situations -run Faults -update`"+
		`; do not edit. It has %d faults: small
departures of the worker that the suite has for its own tests, one row for each. A fault declares the clauses that it
may break; the first of them turns red, and nothing else may. What turned red, and in which situations, is that of one
run: the order of a worker's connections is a matter of chance.

`, len(rows))
	table(&b, "worker", rows)
	fmt.Fprintf(&b, "\n%s\n\nThe producer of the suite has %d faults.\n\n", producersHead, len(pushers))
	table(&b, "producer", pushers)
	path := filepath.FromSlash(documented)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	if !slow.Enabled() && !*update {
		return
	}
	old, err := os.ReadFile(path)
	require.NoError(t, err)
	if catalogued(string(old)) != catalogued(b.String()) {
		t.Error("docs/worker-faults.md is stale: go test ./conformance/workers/situations -run Faults -update")
	}
}

// table writes the rows of a table.
func table(b *strings.Builder, who string, rows []row) {
	fmt.Fprintf(b, "| fault | what the %s does | declares | turned red | caught by |\n|---|---|---|---|---|\n", who)
	for _, r := range rows {
		var by []string
		for _, ids := range r.red {
			for _, id := range ids {
				if !slices.Contains(by, id) {
					by = append(by, id)
				}
			}
		}
		first := r.red[r.fault.Clauses[0]] // which a quick test plays
		slices.SortFunc(by, func(a, b string) int {
			return cmp.Or(btoi(slices.Contains(first, b))-btoi(slices.Contains(first, a)), strings.Compare(a, b))
		})
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", r.fault.Name, r.fault.Summary, strings.Join(r.fault.Clauses, ", "),
			strings.Join(slices.Sorted(maps.Keys(r.red)), ", "), strings.Join(by, ", "))
	}
}

func btoi(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
