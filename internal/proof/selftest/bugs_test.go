package selftest

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
)

// docs is the folder of the pages.
const docs = "../../../docs/"

// heavy are the checks that take longer than all others together.
var heavy = []string{
	"framing/long-lines", "jobs/delivered-once", "push/a-thousand-jobs", "push/ten-thousand-jobs", "resp/own-replies",
}

// heaviest are the checks that took 40 % of the time of all plays, and for each the bugs one of whose clauses no
// other check turns red. Without FWP_SLOW=1 each is played against these alone, and the first one, which takes four
// seconds, against none.
var heaviest = map[string][]string{
	"push/ten-thousand-jobs": nil,
	"push/a-thousand-jobs":   {"push-lost-rarely", "link-jobs-counted", "push-with-its-connection"},
	"retry/own-number":       {"job-retry-mixed"},
}

// needsTheFirst is the bug that nothing but the first of the heaviest catches.
const needsTheFirst = "push-lost-seldom"

// bugy is a catalogue of bugs that checks are played against, the nth table of a page below docs.
type bugy struct {
	page     string
	nth      int
	protocol string
	role     string // of a client; empty: the servers
	apart    bool   // each check has servers of its own
	byChance bool   // what turns red, and in which checks, is not the same in each run
	// explored are the bugs that no script finds, and the exploration that does.
	explored map[string]string
}

// bugTables are all of them. On clients some bugs show on one connection only, and which that is is chance.
func bugTables() []bugy {
	return []bugy{
		{page: "bugs.md", protocol: "fwp", apart: true},
		{page: "worker-bugs.md", protocol: "fwp", role: "worker", byChance: true},
		{page: "worker-bugs.md", nth: 1, protocol: "fwp", role: "producer", byChance: true},
		{page: "workq-bugs.md", protocol: "workq", explored: map[string]string{
			"lease-expires-once": "explore/lives", "add-ttl-reported": "explore/lives",
			"inspect-attempts-before": "explore/lives",
			"lease-again-longer":      "explore/long-lives",
			"lease-names-in-order":    "explore/turns",
		}},
		{page: "workq-worker-bugs.md", protocol: "workq", role: "worker", byChance: true},
		{page: "emqp-bugs.md", protocol: "emqp", byChance: true},
		{page: "emqp-worker-bugs.md", protocol: "emqp", role: "worker", byChance: true},
	}
}

// TestBugs plays checks against the bugs of all catalogues. The first clause of a bug has to turn red, and no
// clause that it does not declare may. With FWP_SLOW=1 it plays every bug: against servers of FWP the scripts that
// decide one of its clauses, those that only record, and a sixth of the others; elsewhere all checks. Otherwise it
// plays one bug for each clause, the first one that each check catches, and every bug that is new, against the
// checks that the page says catch it, or that decide its first clause, and a small sample of the others. The pages
// have the results. With FWP_CHECK=NAME it plays one check alone, against the bugs about its clauses, and tells which
// of them it catches.
func TestBugs(t *testing.T) { //nolint:tparallel // pages are written in turn
	t.Parallel()
	require.True(t, golden.Slow() || !golden.Updating(), "the whole matrix takes FWP_SLOW=1")
	played := 0
	for _, of := range bugTables() { //nolint:paralleltest // as above
		t.Run(of.protocol+"-"+cmp.Or(of.role, "server"), func(t *testing.T) {
			m := newMatrix(t, of)
			m.play(t)
			m.hold(t)
			if !t.Failed() {
				m.write(t)
			}
			played += len(m.rows)
		})
	}
	assert.Positive(t, played, "no planted bug was played: is the planted bug or the check called otherwise?")
}

// matrix is what checks found on the bugs of a catalogue.
type matrix struct {
	bugy
	on     Fixture
	checks []candidate
	bugs   []registry.Bug // that are played
	doc    documented

	alone bool // one check is played alone

	mu    sync.Mutex
	rows  []result
	plays map[string][]conformance.Check // of each bug
}

// result is a row with what the page has of it: the clauses that turned red, and the checks that caught the bug.
type result struct {
	*Row

	red map[string][]string
	by  []string
}

func newMatrix(t *testing.T, of bugy) *matrix {
	t.Helper()
	on := fixtureOf(t, of.protocol, of.role)
	checks, err := on.Checks()
	require.NoError(t, err)
	if of.apart {
		checks = suite(t)
	}
	m := &matrix{
		bugy: of, on: on, checks: candidates(checks), bugs: on.Bugs(), plays: map[string][]conformance.Check{},
	}
	m.doc = documentation(t, of.page, of.nth, m.bugs)
	if id := os.Getenv("FWP_CHECK"); id != "" {
		m.alone = true
		m.checks = slices.DeleteFunc(m.checks, func(c candidate) bool { return c.id != id })
		m.bugs = slices.DeleteFunc(m.bugs, func(f registry.Bug) bool { return !slices.ContainsFunc(m.checks, m.about(f)) })
		return m
	}
	if !golden.Slow() {
		m.bugs = slices.DeleteFunc(m.bugs, func(f registry.Bug) bool { return f.Name == needsTheFirst || !m.doc.shown(f) })
	}
	if golden.Racing {
		m.bugs = thin(32, m.bugs, func(f registry.Bug) uint32 { return drawn("race", f.Name) })
	}
	return m
}

// fixtureOf returns the servers of a protocol, or its client of a role.
func fixtureOf(t *testing.T, protocol, role string) Fixture {
	t.Helper()
	of, err := registry.Named(protocol)
	require.NoError(t, err)
	all := Fixtures(of)
	i := slices.IndexFunc(all, func(f Fixture) bool {
		return f.Client == nil && role == "" || f.Client != nil && f.Client.Role == role
	})
	require.GreaterOrEqual(t, i, 0)
	return all[i]
}

// play plays checks on each bug, until they find it.
func (m *matrix) play(t *testing.T) {
	t.Helper()
	t.Run("each", func(t *testing.T) {
		for _, bug := range m.bugs {
			t.Run(bug.Name, func(t *testing.T) {
				t.Parallel()
				var row result
				for _, few := range []int{1, 6, len(m.checks)} {
					picked, left := m.pick(bug, few)
					row = m.played(t, bug, picked, left)
					m.mu.Lock()
					m.plays[bug.Name] = picked
					m.mu.Unlock()
					if len(row.Unexpected) == 0 && m.missing(row) == "" {
						break
					}
				}
				t.Logf("%s breaks %v, caught by %v", bug.Name, slices.Sorted(maps.Keys(row.red)), row.by)
				if !m.alone {
					assert.Empty(t, row.Unexpected)
					assert.Empty(t, m.missing(row))
				}
				m.mu.Lock()
				defer m.mu.Unlock()
				m.rows = append(m.rows, row)
			})
		}
	})
}

// about returns whether a check decides a clause of a bug.
func (m *matrix) about(f registry.Bug) func(candidate) bool {
	return func(c candidate) bool { return Names(f, c.Check) }
}

// missing says which finding is missing. Where checks share servers, that is one of the first clause in any case.
func (m *matrix) missing(r result) string {
	switch first := r.Bug.Clauses[0]; {
	case m.apart && len(r.Caught) == 0:
		return "nothing catches it"
	case !m.apart && len(r.Red[first]) == 0:
		return "nothing finds " + first + " broken"
	}
	return r.Missing()
}

// played plays checks on a bug. Where each has servers of its own, the page has what those found that decide one of
// its clauses.
func (m *matrix) played(t *testing.T, bug registry.Bug, picked, left []conformance.Check) result {
	t.Helper()
	all, declared := Matrix{Protocol: m.on.Peer.Protocol}, Matrix{Protocol: m.on.Peer.Protocol}
	for _, check := range left {
		all.Leave(bug, check)
	}
	if !m.apart {
		all.AddReport(bug, picked, reportOf(t, m.on, picked, bug))
		row := all.Rows()[0]
		return result{row, row.Red, row.by(m.byChance)}
	}
	for _, script := range picked {
		check := playScript(t, m.on.Peer, bug, script)
		all.Add(bug, script, check)
		if Names(bug, script) {
			declared.Add(bug, script, check)
		}
	}
	require.Len(t, declared.Rows(), 1, "a check looks at each planted bug")
	return result{all.Rows()[0], declared.Rows()[0].Red, declared.Rows()[0].Caught}
}

// by returns the checks that found a clause broken, sorted; those first, if that is wanted, that found the first one of
// the bug, which a quick test plays.
func (r *Row) by(firstBefore bool) (by []string) {
	var others []string
	for id, checks := range r.Red {
		for _, check := range checks {
			if id == r.Bug.Clauses[0] && firstBefore {
				by = insert(by, check)
			} else {
				others = insert(others, check)
			}
		}
	}
	others = slices.DeleteFunc(others, func(check string) bool { return slices.Contains(by, check) })
	return append(by, others...)
}

// reportOf plays checks on what has some bugs, in virtual time.
func reportOf(
	t *testing.T, on Fixture, checks []conformance.Check, bugs ...registry.Bug,
) (report *reports.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		on.Network = memnet.New()
		var err error
		report, err = on.Report(t.Context(), bugs, checks, nil)
		require.NoError(t, err)
	})
	return report
}

// pick takes the checks that are played against a bug: a few that find its first clause broken, or all. It
// returns also those that decide a clause of it and are left.
func (m *matrix) pick(bug registry.Bug, few int) (picked, left []conformance.Check) {
	if m.apart {
		return m.doc.pick(bug, m.checks)
	}
	by, id := m.doc.bugs[bug.Name].caught, m.explored[bug.Name]
	all := golden.Slow() || few == len(m.checks)
	for _, c := range m.checks {
		catches := slices.Contains(c.clauses, bug.Clauses[0]) && (len(by) == 0 || slices.Contains(by, c.id))
		if catches {
			few--
		}
		n := drawn(bug.Name, c.id)
		if isGenerated(c.id) && len(by) > 0 && !slices.Contains(by, c.id) { // of many that are alike
			if n%200 == 0 {
				picked = append(picked, c.Check)
			}
			continue
		}
		if all || catches && few >= 0 || n%200 == 0 {
			picked = append(picked, c.Check)
		} else if Names(bug, c.Check) {
			left = append(left, c.Check)
		}
	}
	if id != "" {
		for _, p := range m.on.Peer.Properties() {
			if p.Describe().ID == id {
				picked = append(picked, p)
			}
		}
	}
	return picked, left
}

// isGenerated reports whether a check is one of a product: those of the outages are kinds times moments, and are alike
// on a bug that has nothing to do with outages.
func isGenerated(id string) bool { return strings.HasPrefix(id, "outage/") }

// hold fails the test unless each script of the suite catches a bug, and those catch one that the page names.
func (m *matrix) hold(t *testing.T) {
	t.Helper()
	slices.SortFunc(m.rows, func(a, b result) int { return strings.Compare(a.Bug.Name, b.Bug.Name) })
	if !m.apart || len(m.rows) < len(m.bugs) { // -run has picked some of the bugs
		return
	}
	caught := map[string]bool{}
	for _, row := range m.rows {
		for _, check := range row.Caught {
			caught[check] = true
		}
	}
	for _, c := range m.checks {
		left := !golden.Slow() && (!c.judges || c.id == "push/ten-thousand-jobs")
		assert.True(t, left || golden.Racing || caught[c.id], "%s catches no planted bug", c.id)
	}
	if !golden.Slow() {
		m.doc.hold(t, m.rows, m.plays)
	}
}

// write compares the page with the catalogue and, with FWP_SLOW=1, with what was found, or writes it.
func (m *matrix) write(t *testing.T) {
	t.Helper()
	if m.alone {
		return
	}
	found := map[string]result{}
	if golden.Slow() && (!m.byChance || golden.Updating()) {
		for _, r := range m.rows {
			found[r.Bug.Name] = r
		}
	}
	m.doc = documentation(t, m.page, m.nth, m.on.Bugs()) // the other table may be new
	golden.Document(t, docs+m.page, m.doc.page(m.on.Bugs(), found), written)
}

// candidate is a script with what picks it: to describe all scripts for each bug took seconds.
type candidate struct {
	conformance.Check
	id      string
	clauses []string
	judges  bool
}

func candidates(scripts []conformance.Check) []candidate {
	var all []candidate
	for _, s := range scripts {
		all = append(all, candidate{s, s.Describe().ID, Clauses(s), Judges(registry.Default().Protocol, s)})
	}
	return all
}

// pick takes the scripts that are played against a bug. The sample is drawn by the names of both, so that a new bug
// or script leaves the others where they are. Those that are left decide a clause of the bug too.
func (d documented) pick(bug registry.Bug, scripts []candidate) (picked, left []conformance.Check) {
	for _, script := range scripts {
		n := drawn(bug.Name, script.id)
		isHeavy := slices.Contains(heavy, script.id)
		needed, isHeaviest := heaviest[script.id]
		decides := slices.ContainsFunc(script.clauses, func(id string) bool { return slices.Contains(bug.Clauses, id) })
		var take bool
		switch {
		case golden.Slow():
			take = decides || !script.judges || n%60 == 0 || !isHeavy && n%6 == 0
		case isHeaviest:
			take = slices.Contains(needed, bug.Name)
		case decides:
			take = n%120 == 0 || d.needs(bug, script.id)
		default:
			take = !isHeavy && n%2000 == 0
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

// playScript plays one script on fresh servers with a bug.
func playScript(t *testing.T, of *registry.Peer, bug registry.Bug, script conformance.Check) (check reports.Check) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		var err error
		check, err = Fixture{Peer: of, Network: memnet.New()}.Play(t.Context(), []registry.Bug{bug}, script, nil)
		require.NoError(t, err)
	})
	declared(t, of, check)
	return check
}

// declared fails the test if a finding of the law is about a clause that its rule does not have.
func declared(t *testing.T, of *registry.Peer, check reports.Check) {
	t.Helper()
	for _, f := range check.Findings {
		if rule, is := strings.CutPrefix(f.Check, reports.LawPrefix); is {
			clauses := strings.Fields(of.Law.Rules[rule].Clauses)
			assert.Contains(t, clauses, strings.TrimPrefix(f.Clause, of.Prefix), f.Check)
		}
	}
}
