// Package found_test plays the scripts and situations that docs/found.md names, on the servers and workers of the
// suite: with the bug that imitates the bug each must find the clause, and nothing without it.
package found_test

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/selftest"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// row is a line of found.txt: what shows a bug, the bug that imitates it, and the clause.
type row struct{ source, bug, clause string }

func table(t *testing.T) (rows []row) {
	t.Helper()
	text, err := os.ReadFile("found.txt")
	require.NoError(t, err)
	for line := range strings.SplitSeq(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, " | ")
		require.Len(t, cells, 3, line)
		rows = append(rows, row{cells[0], cells[1], cells[2]})
	}
	return rows
}

// TestFound plays each row twice: with its bug the clause is broken, and without it the clause is kept.
func TestFound(t *testing.T) {
	t.Parallel()
	for _, r := range table(t) {
		t.Run(r.source, func(t *testing.T) {
			t.Parallel()
			fixture, check := r.fixture(t)
			play := func(t *testing.T, bugs ...registry.Bug) (report reports.Check) {
				t.Helper()
				synctest.Test(t, func(t *testing.T) {
					fixture.Network = memnet.New()
					var err error
					report, err = fixture.Play(t.Context(), bugs, check, nil)
					require.NoError(t, err)
				})
				return report
			}
			isBroken := func(c reports.ClauseVerdict) bool { return c.ID == r.clause && c.Verdict.IsBreach() }
			report := play(t, r.imitation(t, fixture))
			assert.True(t, slices.ContainsFunc(report.Clauses, isBroken), "with the planted bug %s: %v", r.bug, report.Clauses)
			report = play(t)
			assert.Equal(t, reports.Pass, report.Verdict, "without a planted bug: %v", report.Clauses)
		})
	}
}

// fixture returns what a row is played on, and its check.
func (r row) fixture(t *testing.T) (selftest.Fixture, conformance.Check) {
	t.Helper()
	if strings.HasSuffix(r.source, ".fwp") {
		return r.server(t)
	}
	words := strings.Fields(r.source) // [PROTOCOL] ROLE SITUATION
	protocol, role, situation := registry.Default().Name, words[len(words)-2], words[len(words)-1]
	if len(words) == 3 {
		protocol = words[0]
	}
	entry, err := registry.Lookup(protocol)
	require.NoError(t, err)
	for _, c := range entry.Clients {
		if c.Role != role {
			continue
		}
		f := selftest.Fixture{Entry: entry, Client: c}
		checks, err := f.Checks()
		require.NoError(t, err)
		i := slices.IndexFunc(checks, func(c conformance.Check) bool { return c.Describe().ID == situation })
		require.GreaterOrEqual(t, i, 0, "no such situation: %s", r.source)
		return f, checks[i]
	}
	require.Fail(t, "no such client", r.source)
	return selftest.Fixture{}, nil
}

// server is the fixture of a script.
func (r row) server(t *testing.T) (selftest.Fixture, conformance.Check) {
	t.Helper()
	source, err := os.ReadFile(r.source)
	require.NoError(t, err)
	entry := registry.Default()
	switch path.Dir(r.source) {
	case "workq":
		entry, err = registry.Lookup("workq")
	case "eventmq":
		entry, err = registry.Lookup("emqp")
	case "faktory-extension":
		entry, err = entry.WithExtension("faktory")
	}
	require.NoError(t, err)
	script, err := scenarios.Parse(entry.Dialect, r.source, source)
	require.NoError(t, err)
	require.Empty(t, scenarios.Lint(script))
	return selftest.Fixture{Entry: entry}, conformance.Scripts(script)[0]
}

// imitation returns the bug of a row.
func (r row) imitation(t *testing.T, f selftest.Fixture) registry.Bug {
	t.Helper()
	if name, ok := strings.CutPrefix(r.bug, "stub:"); ok {
		require.Contains(t, stubs(), name)
		return stubs()[name]
	}
	name := r.bug
	if f.Client != nil {
		name = f.Client.Role + "/" + name
	}
	all := f.Bugs()
	i := slices.IndexFunc(all, func(f registry.Bug) bool { return f.Name == name })
	require.GreaterOrEqual(t, i, 0, "no such planted bug: %s", name)
	return all[i]
}

// TestTheTableIsWhole: each script has a row, and the page names what each row is played as, and its clause.
func TestTheTableIsWhole(t *testing.T) {
	t.Parallel()
	rows := table(t)
	files, err := fs.Glob(os.DirFS("."), "*/*.fwp")
	require.NoError(t, err)
	for _, file := range files {
		assert.True(t, slices.ContainsFunc(rows, func(r row) bool { return r.source == file }), "%s has no row", file)
	}
	page, err := os.ReadFile("../found.md")
	require.NoError(t, err)
	for _, r := range rows {
		assert.Contains(t, string(page), strings.TrimSuffix(r.source[strings.LastIndex(r.source, " ")+1:], ".fwp"))
		assert.Contains(t, string(page), r.clause)
	}
}
