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

// heavyChecks are the checks that take longer than all others together.
var heavyChecks = []string{
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

// firstBugChecks is the bug that nothing but the first of the heaviest catches.
const firstBugChecks = "push-lost-seldom"

// bugTable is a catalogue of bugs that checks are played against, the nth table of a page below docs.
type bugTable struct {
	page          string
	nth           int
	protocol      string
	role          string // of a client; empty: the servers
	hasOwnServers bool   // each check has servers of its own
	isChance      bool   // what turns red, and in which checks, is not the same in each run
	// explored are the bugs that no script finds, and the exploration that does.
	explored map[string]string
}

// bugTables are all of them. On clients some bugs show on one connection only, and which that is is chance.
func bugTables() []bugTable {
	return []bugTable{
		{page: "bugs.md", protocol: "fwp", hasOwnServers: true},
		{page: "worker-bugs.md", protocol: "fwp", role: "worker", isChance: true},
		{page: "worker-bugs.md", nth: 1, protocol: "fwp", role: "producer", isChance: true},
		{page: "workq-bugs.md", protocol: "workq", explored: map[string]string{
			"lease-expires-once": "explore/lives", "add-ttl-reported": "explore/lives",
			"inspect-attempts-before": "explore/lives",
			"lease-again-longer":      "explore/long-lives",
			"lease-names-in-order":    "explore/turns",
		}},
		{page: "workq-worker-bugs.md", protocol: "workq", role: "worker", isChance: true},
		{page: "emqp-bugs.md", protocol: "emqp", isChance: true},
		{page: "emqp-worker-bugs.md", protocol: "emqp", role: "worker", isChance: true},
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
	require.True(t, golden.IsSlow() || !golden.IsUpdate(), "the whole matrix takes FWP_SLOW=1")
	played := 0
	for _, table := range bugTables() { //nolint:paralleltest // as above
		t.Run(table.protocol+"-"+cmp.Or(table.role, "server"), func(t *testing.T) {
			m := newMatrix(t, table)
			m.play(t)
			m.compare(t)
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
	bugTable
	fixture Fixture
	checks  []candidate
	bugs    []registry.Bug // that are played
	doc     document

	isAlone bool // one check is played alone

	mu    sync.Mutex
	rows  []result
	plays map[string][]conformance.Check // of each bug
}

// result is a row with what the page has of it: the clauses that turned red, and the checks that caught the bug.
type result struct {
	*Row

	red    map[string][]string
	checks []string
}

func newMatrix(t *testing.T, table bugTable) *matrix {
	t.Helper()
	fixture := fixtureOf(t, table.protocol, table.role)
	checks, err := fixture.Checks()
	require.NoError(t, err)
	if table.hasOwnServers {
		checks = suite(t)
	}
	m := &matrix{
		bugTable: table, fixture: fixture, checks: candidates(checks), bugs: fixture.Bugs(), plays: map[string][]conformance.Check{},
	}
	m.doc = documentation(t, table.page, table.nth, m.bugs)
	if id := os.Getenv("FWP_CHECK"); id != "" {
		m.isAlone = true
		m.checks = slices.DeleteFunc(m.checks, func(c candidate) bool { return c.id != id })
		m.bugs = slices.DeleteFunc(m.bugs, func(f registry.Bug) bool { return !slices.ContainsFunc(m.checks, m.aboutBug(f)) })
		return m
	}
	if !golden.IsSlow() {
		m.bugs = slices.DeleteFunc(m.bugs, func(f registry.Bug) bool { return f.Name == firstBugChecks || !m.doc.isShown(f) })
	}
	if golden.Racing {
		m.bugs = thin(32, m.bugs, func(f registry.Bug) uint32 { return hash("race", f.Name) })
	}
	return m
}

// fixtureOf returns the servers of a protocol, or its client of a role.
func fixtureOf(t *testing.T, protocol, role string) Fixture {
	t.Helper()
	entry, err := registry.Lookup(protocol)
	require.NoError(t, err)
	all := Fixtures(entry)
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
				for _, limit := range []int{1, 6, len(m.checks)} {
					selection, rest := m.pick(bug, limit)
					row = m.playBug(t, bug, selection, rest)
					m.mu.Lock()
					m.plays[bug.Name] = selection
					m.mu.Unlock()
					if len(row.Unexpected) == 0 && m.gap(row) == "" {
						break
					}
				}
				t.Logf("%s breaks %v, caught by %v", bug.Name, slices.Sorted(maps.Keys(row.red)), row.checks)
				if !m.isAlone {
					assert.Empty(t, row.Unexpected)
					assert.Empty(t, m.gap(row))
				}
				m.mu.Lock()
				defer m.mu.Unlock()
				m.rows = append(m.rows, row)
			})
		}
	})
}

// aboutBug returns whether a check decides a clause of a bug.
func (m *matrix) aboutBug(f registry.Bug) func(candidate) bool {
	return func(c candidate) bool { return Names(f, c.Check) }
}

// gap says which finding is missing. Where checks share servers, that is one of the first clause in any case.
func (m *matrix) gap(r result) string {
	switch first := r.Bug.Clauses[0]; {
	case m.hasOwnServers && len(r.Catchers) == 0:
		return "nothing catches it"
	case !m.hasOwnServers && len(r.Red[first]) == 0:
		return "nothing finds " + first + " broken"
	}
	return r.Gap()
}

// playBug plays checks on a bug. Where each has servers of its own, the page has what those found that decide one of
// its clauses.
func (m *matrix) playBug(t *testing.T, bug registry.Bug, selection, rest []conformance.Check) result {
	t.Helper()
	all, judges := Matrix{Protocol: m.fixture.Entry.Suite}, Matrix{Protocol: m.fixture.Entry.Suite}
	for _, check := range rest {
		all.Leave(bug, check)
	}
	if !m.hasOwnServers {
		all.AddReport(bug, selection, reportOf(t, m.fixture, selection, bug))
		row := all.Rows()[0]
		return result{row, row.Red, row.catchers(m.isChance)}
	}
	for _, script := range selection {
		check := playScript(t, m.fixture.Entry, bug, script)
		all.Add(bug, script, check)
		if Names(bug, script) {
			judges.Add(bug, script, check)
		}
	}
	require.Len(t, judges.Rows(), 1, "a check looks at each planted bug")
	return result{all.Rows()[0], judges.Rows()[0].Red, judges.Rows()[0].Catchers}
}

// catchers returns the checks that found a clause broken, sorted; those first, if that is wanted, that found the first one of
// the bug, which a quick test plays.
func (r *Row) catchers(firstBefore bool) (list []string) {
	var others []string
	for id, checks := range r.Red {
		for _, check := range checks {
			if id == r.Bug.Clauses[0] && firstBefore {
				list = insert(list, check)
			} else {
				others = insert(others, check)
			}
		}
	}
	others = slices.DeleteFunc(others, func(check string) bool { return slices.Contains(list, check) })
	return append(list, others...)
}

// reportOf plays checks on what has some bugs, in virtual time.
func reportOf(
	t *testing.T, fixture Fixture, checks []conformance.Check, bugs ...registry.Bug,
) (report *reports.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		fixture.Network = memnet.New()
		var err error
		report, err = fixture.Report(t.Context(), bugs, checks, nil)
		require.NoError(t, err)
	})
	return report
}

// pick takes the checks that are played against a bug: a few that find its first clause broken, or all. It
// returns also those that decide a clause of it and are left.
func (m *matrix) pick(bug registry.Bug, limit int) (selection, rest []conformance.Check) {
	if m.hasOwnServers {
		return m.doc.pick(bug, m.checks)
	}
	catchers, id := m.doc.bugs[bug.Name].catchers, m.explored[bug.Name]
	all := golden.IsSlow() || limit == len(m.checks)
	for _, c := range m.checks {
		catches := slices.Contains(c.clauses, bug.Clauses[0]) && (len(catchers) == 0 || slices.Contains(catchers, c.id))
		if catches {
			limit--
		}
		n := hash(bug.Name, c.id)
		if isGenerated(c.id) && len(catchers) > 0 && !slices.Contains(catchers, c.id) { // of many that are alike
			if n%200 == 0 {
				selection = append(selection, c.Check)
			}
			continue
		}
		if all || catches && limit >= 0 || n%200 == 0 {
			selection = append(selection, c.Check)
		} else if Names(bug, c.Check) {
			rest = append(rest, c.Check)
		}
	}
	if id != "" {
		for _, p := range m.fixture.Entry.Properties() {
			if p.Describe().ID == id {
				selection = append(selection, p)
			}
		}
	}
	return selection, rest
}

// isGenerated reports whether a check is one of a product: those of the outages are kinds times moments, and are alike
// on a bug that has nothing to do with outages.
func isGenerated(id string) bool { return strings.HasPrefix(id, "outage/") }

// compare fails the test unless each script of the suite catches a bug, and those catch one that the page names.
func (m *matrix) compare(t *testing.T) {
	t.Helper()
	slices.SortFunc(m.rows, func(a, b result) int { return strings.Compare(a.Bug.Name, b.Bug.Name) })
	if !m.hasOwnServers || len(m.rows) < len(m.bugs) { // -run has picked some of the bugs
		return
	}
	catchers := map[string]bool{}
	for _, row := range m.rows {
		for _, check := range row.Catchers {
			catchers[check] = true
		}
	}
	for _, c := range m.checks {
		isExempt := !golden.IsSlow() && (!c.judges || c.id == "push/ten-thousand-jobs")
		assert.True(t, isExempt || golden.Racing || catchers[c.id], "%s catches no planted bug", c.id)
	}
	if !golden.IsSlow() {
		m.doc.hold(t, m.rows, m.plays)
	}
}

// write compares the page with the catalogue and, with FWP_SLOW=1, with what was found, or writes it.
func (m *matrix) write(t *testing.T) {
	t.Helper()
	if m.isAlone {
		return
	}
	results := map[string]result{}
	if golden.IsSlow() && (!m.isChance || golden.IsUpdate()) {
		for _, r := range m.rows {
			results[r.Bug.Name] = r
		}
	}
	m.doc = documentation(t, m.page, m.nth, m.fixture.Bugs()) // the other table may be new
	golden.Document(t, docs+m.page, m.doc.page(m.fixture.Bugs(), results), pageCommand)
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
		all = append(all, candidate{s, s.Describe().ID, Clauses(s), Judges(registry.Default().Suite, s)})
	}
	return all
}

// pick takes the scripts that are played against a bug. The sample is drawn by the names of both, so that a new bug
// or script leaves the others where they are. Those that are left decide a clause of the bug too.
func (d document) pick(bug registry.Bug, scripts []candidate) (selection, rest []conformance.Check) {
	for _, script := range scripts {
		n := hash(bug.Name, script.id)
		isHeavy := slices.Contains(heavyChecks, script.id)
		bugs, isHeaviest := heaviest[script.id]
		decides := slices.ContainsFunc(script.clauses, func(id string) bool { return slices.Contains(bug.Clauses, id) })
		var take bool
		switch {
		case golden.IsSlow():
			take = decides || !script.judges || n%60 == 0 || !isHeavy && n%6 == 0
		case isHeaviest:
			take = slices.Contains(bugs, bug.Name)
		case decides:
			take = n%120 == 0 || d.needs(bug, script.id)
		default:
			take = !isHeavy && n%2000 == 0
		}
		switch {
		case take:
			selection = append(selection, script.Check)
		case decides:
			rest = append(rest, script.Check)
		}
	}
	return selection, rest
}

// playScript plays one script on fresh servers with a bug.
func playScript(t *testing.T, entry *registry.Entry, bug registry.Bug, script conformance.Check) (check reports.Check) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		var err error
		check, err = Fixture{Entry: entry, Network: memnet.New()}.Play(t.Context(), []registry.Bug{bug}, script, nil)
		require.NoError(t, err)
	})
	checkDeclared(t, entry, check)
	return check
}

// checkDeclared fails the test if a finding of the law is about a clause that its rule does not have.
func checkDeclared(t *testing.T, entry *registry.Entry, check reports.Check) {
	t.Helper()
	for _, f := range check.Findings {
		if rule, ok := strings.CutPrefix(f.Check, reports.LawPrefix); ok {
			clauses := strings.Fields(entry.Law.Rules[rule].Clauses)
			assert.Contains(t, clauses, strings.TrimPrefix(f.Clause, entry.Prefix), f.Check)
		}
	}
}
