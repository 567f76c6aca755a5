package selftest

import (
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/registry"
)

// pageCommand is the command that writes the pages.
const pageCommand = "make matrix OF=. UPDATE=1, or with BUG=NAME for one row"

// entry is what a page says about a bug.
type entry struct {
	red, checks string
	catchers    []string
}

// document is a table of a page: its words are those of the page, and its rows are written by TestBugs.
type document struct {
	text         []string // lines of the page
	heading, end int      // the line of the heading of the table, and the one behind its last row
	introLine    int      // where the text above the table begins
	columns      []string

	bugs   map[string]entry
	shows  map[string]string // for each check, but for the heaviest, the first bug that it catches
	breaks map[string]string // for each clause the first bug that breaks it before all others
}

// documentation reads the nth table of a page about a catalogue.
func documentation(t *testing.T, name string, nth int, catalogue []registry.Bug) document {
	t.Helper()
	text, err := os.ReadFile(docs + name)
	require.NoError(t, err)
	d := document{
		text: strings.Split(string(text), "\n"), bugs: map[string]entry{}, shows: map[string]string{},
		breaks: map[string]string{},
	}
	d.find(nth)
	for _, f := range catalogue {
		if d.breaks[f.Clauses[0]] == "" {
			d.breaks[f.Clauses[0]] = f.Name
		}
	}
	for _, line := range d.text[d.heading+2 : d.end] {
		cells := cellsOf(line)
		i := slices.IndexFunc(catalogue, func(f registry.Bug) bool { return path.Base(f.Name) == cells[0] })
		if i < 0 || len(cells) != len(d.columns) {
			continue // the bug is no more
		}
		e := entry{red: cells[max(0, slices.Index(d.columns, "turned red"))]}
		if at := slices.Index(d.columns, "caught by"); at > 0 {
			e.checks, e.catchers = cells[at], strings.Split(cells[at], ", ")
		}
		d.bugs[catalogue[i].Name] = e
		for _, check := range e.catchers {
			_, isHeaviest := heaviest[check]
			if _, ok := d.shows[check]; !ok && !isHeaviest {
				d.shows[check] = catalogue[i].Name
			}
		}
	}
	return d
}

// find finds the nth table.
func (d *document) find(nth int) {
	for i, line := range d.text {
		if strings.HasPrefix(line, "| planted bug |") {
			d.introLine, d.heading = d.end, i
			for d.end = i; d.end < len(d.text) && strings.HasPrefix(d.text[d.end], "|"); d.end++ {
			}
			if nth--; nth < 0 {
				break
			}
		}
	}
	d.columns = cellsOf(d.text[d.heading])
}

// cellsOf returns the cells of a row.
func cellsOf(line string) []string {
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | ")
}

// page returns the page with a row for each bug of a catalogue. What was not found now is as the page has it.
func (d document) page(catalogue []registry.Bug, results map[string]result) string {
	var rows []string
	for _, f := range catalogue {
		e := d.bugs[f.Name]
		if r, ok := results[f.Name]; ok {
			e.red, e.checks = strings.Join(slices.Sorted(maps.Keys(r.red)), ", "), strings.Join(r.checks, ", ")
			if e.red == "" {
				e.red = "*found dead*"
			}
		}
		cells := []string{path.Base(f.Name), strings.ReplaceAll(f.Summary, "|", `\|`)}
		for _, column := range d.columns[len(cells):] {
			cells = append(cells, map[string]string{
				"declares": strings.Join(f.Clauses, ", "), "clauses": strings.Join(f.Clauses, ", "),
				"turned red": e.red, "caught by": e.checks,
			}[column])
		}
		rows = append(rows, "| "+strings.Join(cells, " | ")+" |")
	}
	intro := strings.Join(d.text[d.introLine:d.heading+2], "\n")
	count := fmt.Sprintf("%d planted bugs", len(catalogue))
	intro = regexp.MustCompile(`\b[0-9]+ planted bugs`).ReplaceAllString(intro, count)
	return strings.Join(slices.Concat(d.text[:d.introLine], []string{intro}, rows, d.text[d.end:]), "\n")
}

// isShown reports whether a bug is the first that a script catches, or the first that breaks a clause, or one that the
// heaviest scripts are played against, or new.
func (d document) isShown(bug registry.Bug) bool {
	e, ok := d.bugs[bug.Name]
	return !ok || d.breaks[bug.Clauses[0]] == bug.Name || slices.ContainsFunc(e.catchers, func(id string) bool {
		return d.shows[id] == bug.Name || slices.Contains(heaviest[id], bug.Name)
	})
}

// needs reports whether a bug is the first that a script catches, or is played for one of its clauses and the script
// is the first that catches it. A bug that is new needs all.
func (d document) needs(bug registry.Bug, id string) bool {
	e, ok := d.bugs[bug.Name]
	return !ok || d.shows[id] == bug.Name ||
		d.breaks[bug.Clauses[0]] == bug.Name && len(e.catchers) > 0 && e.catchers[0] == id
}

// hold compares what the plays showed with the document.
func (d document) hold(t *testing.T, results []result, plays map[string][]conformance.Check) {
	t.Helper()
	for _, r := range results {
		name, expected := r.Bug.Name, []string(nil)
		for _, script := range plays[name] {
			if id := script.Describe().ID; slices.Contains(d.bugs[name].catchers, id) {
				expected = insert(expected, id)
			}
		}
		assert.Equal(t, expected, r.checks, "%s: the page is stale: %s", name, pageCommand)
		for id := range r.red {
			assert.Contains(t, d.bugs[name].red, id, "%s: the page is stale: %s", name, pageCommand)
		}
	}
}

// TestOneCheckWritesNoPage: a page has what all checks find, and make matrix CHECK=NAME plays one.
func TestOneCheckWritesNoPage(t *testing.T) {
	t.Setenv("FWP_SLOW", "1")
	t.Setenv("FWP_CHECK", "push/accepted")
	m := newMatrix(t, bugTables()[0])
	require.Len(t, m.checks, 1)
	for _, bug := range m.bugs { // as if the check had caught none
		m.rows = append(m.rows, result{Row: &Row{Bug: bug}})
	}
	m.write(t)
}
