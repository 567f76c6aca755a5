package selftest

import (
	"flag"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/reports"
)

var update = flag.Bool("update", false, "rewrite the golden files; with FWP_SLOW=1")

// path is that of the document, and stale what is to be done if it is not true.
const (
	path  = "../../docs/faults.md"
	stale = "docs/faults.md is stale: FWP_SLOW=1 go test ./internal/selftest -run Faults -update"
)

// heavy are the checks that take longer than all others together.
var heavy = []string{
	"framing/long-lines", "jobs/delivered-once", "push/a-thousand-jobs", "push/ten-thousand-jobs", "resp/own-replies",
}

// heaviest are the checks that took 40 % of the time of all plays, and for each the faults one of whose clauses no
// other check turns red. Without FWP_SLOW=1 each is played against these alone, and the first one, which takes four
// seconds, against none.
var heaviest = map[string][]string{
	"push/ten-thousand-jobs": nil,
	"push/a-thousand-jobs":   {"push-lost-rarely", "link-jobs-counted", "push-with-its-connection"},
	"retry/own-number":       {"job-retry-mixed"},
}

// needsTheFirst is the fault that nothing but the first of the heaviest catches.
const needsTheFirst = "push-lost-seldom"

// TestFaults plays scripts against faults: those that decide one of its clauses, and a sample of the others, another
// one for each fault. With FWP_SLOW=1 it plays every fault, and the sample is a sixth, and all scripts that only
// record. Otherwise it plays each script against the first fault that docs/faults.md says it catches, one fault for
// each clause, and every fault that is new; of the other pairs one of 120 if the script decides a clause of the fault,
// and else one of 2000. The heaviest scripts are played against the faults that need them. Each pair has servers of its
// own: a fault that comes with every fiftieth job must not come up in a check that has no fifty. The race detector
// watches every fourth fault, so that a script may catch none.
func TestFaults(t *testing.T) { //nolint:tparallel // the group is over before what it found is looked at
	t.Parallel()
	scripts, faults := suite(t), peer.Default().Faults()
	known, documented := candidates(scripts), documentation(t, path)
	documented.declare(t, faults)
	if !slow.Enabled() {
		faults = slices.DeleteFunc(faults, func(f peer.Fault) bool { return f.Name == needsTheFirst || !documented.shown(f) })
	}
	if slow.Racing {
		faults = everyFourth(faults)
	}
	require.True(t, slow.Enabled() || !*update, "the whole matrix takes FWP_SLOW=1")
	all, declared := Matrix{Protocol: peer.Default().Protocol}, Matrix{Protocol: peer.Default().Protocol}
	plays := map[string][]conformance.Check{}
	for _, fault := range faults {
		picked, left := documented.pick(fault, known)
		for _, script := range left {
			all.Leave(fault, script)
		}
		plays[fault.Name] = picked
	}
	t.Run("each", func(t *testing.T) {
		for _, fault := range faults {
			t.Run(fault.Name, func(t *testing.T) {
				t.Parallel()
				for _, script := range plays[fault.Name] {
					check := playScript(t, peer.Default(), fault, script)
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
		left := !slow.Enabled() && (!judges(peer.Default().Protocol, script) || id == "push/ten-thousand-jobs")
		assert.True(t, left || slow.Racing || caught[id], "%s catches no fault", id)
	}
	assert.Len(t, declared.Rows(), len(faults), "a check looks at each fault")
	if slow.Enabled() {
		document(t, declared.Rows())
	} else {
		documented.hold(t, declared.Rows(), plays)
	}
}

func everyFourth(faults []peer.Fault) (some []peer.Fault) {
	for i := 0; i < len(faults); i += 4 {
		some = append(some, faults[i])
	}
	return some
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
		all = append(all, candidate{s, s.Describe().ID, clauses(s), judges(peer.Default().Protocol, s)})
	}
	return all
}

// entry is what docs/faults.md says about a fault.
type entry struct {
	declares, red string
	caught        []string
}

// documented is docs/faults.md.
type documented struct {
	faults map[string]entry
	shows  map[string]string // for each check, but for the heaviest, the first fault that it catches
	breaks map[string]string // for each clause the first fault that breaks it before all others
}

func documentation(t *testing.T, path string) documented {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	d := documented{map[string]entry{}, map[string]string{}, map[string]string{}}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) < 4 || cells[0] == "| fault" {
			continue
		}
		name, last := strings.TrimPrefix(cells[0], "| "), len(cells)-1
		e := entry{cells[2], cells[last-1], strings.Split(strings.TrimSuffix(cells[last], " |"), ", ")}
		d.faults[name] = e
		if first, _, _ := strings.Cut(e.declares, ", "); d.breaks[first] == "" {
			d.breaks[first] = name
		}
		for _, check := range e.caught {
			_, isHeaviest := heaviest[check]
			if _, shown := d.shows[check]; !shown && !isHeaviest {
				d.shows[check] = name
			}
		}
	}
	return d
}

// shown reports whether a fault is the first that a script catches, or the first that breaks a clause, or one that the
// heaviest scripts are played against, or new.
func (d documented) shown(fault peer.Fault) bool {
	e, known := d.faults[fault.Name]
	return !known || d.breaks[fault.Clauses[0]] == fault.Name || slices.ContainsFunc(e.caught, func(id string) bool {
		return d.shows[id] == fault.Name || slices.Contains(heaviest[id], fault.Name)
	})
}

// needs reports whether a fault is the first that a script catches, or is played for one of its clauses and the script
// is the first that catches it. A fault that is new needs all.
func (d documented) needs(fault peer.Fault, id string) bool {
	e, known := d.faults[fault.Name]
	return !known || d.shows[id] == fault.Name ||
		d.breaks[fault.Clauses[0]] == fault.Name && len(e.caught) > 0 && e.caught[0] == id
}

// declare compares the clauses that faults declare with the document.
func (d documented) declare(t *testing.T, faults []peer.Fault) {
	t.Helper()
	if slow.Enabled() { // it is compared, or written, as a whole
		return
	}
	assert.Len(t, d.faults, len(faults), stale)
	for _, f := range faults {
		assert.Equal(t, strings.Join(f.Clauses, ", "), d.faults[f.Name].declares, "%s: %s", f.Name, stale)
	}
}

// hold compares what the plays showed with the document.
func (d documented) hold(t *testing.T, rows []*Row, plays map[string][]conformance.Check) {
	t.Helper()
	for _, r := range rows {
		e, expected := d.faults[r.Fault.Name], []string(nil)
		for _, script := range plays[r.Fault.Name] {
			if id := script.Describe().ID; slices.Contains(e.caught, id) {
				expected = insert(expected, id)
			}
		}
		assert.Equal(t, expected, r.Caught, "%s: %s", r.Fault.Name, stale)
		for id := range r.Red {
			assert.Contains(t, e.red, id, "%s: %s", r.Fault.Name, stale)
		}
	}
}

// pick takes the scripts that are played against a fault. The sample is drawn by the names of both, so that a new fault
// or script leaves the others where they are. Those that are left decide a clause of the fault too.
func (d documented) pick(fault peer.Fault, scripts []candidate) (picked, left []conformance.Check) {
	for _, script := range scripts {
		drawn := crc32.ChecksumIEEE([]byte(fault.Name + " " + script.id))
		isHeavy := slices.Contains(heavy, script.id)
		needed, isHeaviest := heaviest[script.id]
		decides := slices.ContainsFunc(script.clauses, func(id string) bool { return slices.Contains(fault.Clauses, id) })
		var take bool
		switch {
		case slow.Enabled():
			take = decides || !script.judges || drawn%60 == 0 || !isHeavy && drawn%6 == 0
		case isHeaviest:
			take = slices.Contains(needed, fault.Name)
		case decides:
			take = drawn%120 == 0 || d.needs(fault, script.id)
		default:
			take = !isHeavy && drawn%2000 == 0
		}
		switch {
		case take:
			picked = append(picked, script.Check)
		case decides:
			left = append(left, script.Check)
		}
	}
	return picked, left
}

// playScript plays one script on fresh servers with a fault.
func playScript(t *testing.T, of *peer.Peer, fault peer.Fault, script conformance.Check) (check reports.Check) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		var err error
		check, err = Fixture{Peer: of, Network: memnet.New()}.Play(t.Context(), fault, script, nil)
		require.NoError(t, err)
	})
	declared(t, of, check)
	return check
}

// declared fails the test if a finding of the law is about a clause that its rule does not have.
func declared(t *testing.T, of *peer.Peer, check reports.Check) {
	t.Helper()
	for _, f := range check.Findings {
		if rule, is := strings.CutPrefix(f.Check, reports.LawPrefix); is {
			clauses := strings.Fields(of.Law.Rules[rule].Clauses)
			assert.Contains(t, clauses, strings.TrimPrefix(f.Clause, of.Prefix), f.Check)
		}
	}
}

// document compares docs/faults.md with the whole matrix, or writes it.
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
`, len(peer.Default().Faults()))
	for _, r := range rows {
		turned, by := strings.Join(slices.Sorted(maps.Keys(r.Red)), ", "), strings.Join(r.Caught, ", ")
		if turned == "" {
			turned = "*found dead*"
		}
		summary := strings.ReplaceAll(r.Fault.Summary, "|", `\|`)
		cells := []string{r.Fault.Name, summary, strings.Join(r.Fault.Clauses, ", "), turned, by}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	old, err := os.ReadFile(path)
	require.NoError(t, err)
	// Only the rows that differ: the texts themselves would fill pages.
	before, now := strings.Split(strings.ReplaceAll(string(old), "\r\n", "\n"), "\n"), strings.Split(b.String(), "\n")
	assert.Empty(t, cmp.Diff(without(before, now), without(now, before)), stale)
}

// without returns the lines that are not among the others.
func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
}
