package site

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/html"
)

// Site is what the pages are made from.
type Site struct {
	// Suite names the suite that makes the pages, and its version.
	Suite string
	Runs  []Run
	// Clauses are those of the catalogue, in its order. A clause that only a report has comes behind them.
	Clauses []Clause
	// Documents are pages beside those of reports and clauses.
	Documents []Document
}

// Run is a saved report, and what it is about.
type Run struct {
	Kind          Kind
	Name, Version string
	Report        *reports.Report
}

// Kind is a kind of subjects: the servers of a protocol, for example.
type Kind struct {
	Folder string // of their pages: "servers"
	Title  string // one of them, for people: "FWP server"
}

// Clause is a clause of the catalogue: what it says, where that is stated, and how it is read; and how it is checked.
type Clause struct {
	ID, Level, Party, Statement string

	Page reports.Page
}

// Document is a page with a name, for its address, and a title.
type Document struct {
	Name, Title string
	Page        reports.Page
}

// File is a file of the site, by its address, which has slashes and nothing that leads out of its folder.
type File struct {
	Address string
	Data    []byte
}

// group is the subjects of a kind, by their names.
type group struct {
	Kind

	subjects []*subject
}

// subject is a server, a worker or a client, with its runs by version, the oldest first.
type subject struct {
	name, address string
	runs          []*run
	versions      map[string]int // how many runs each has
}

// run is a report with its address.
type run struct {
	version, title, address string
	subject                 *subject
	report                  *reports.Report
	data                    []byte // of the report as it was read
	results                 map[string]*reports.MatrixRow
	findings                map[string][]reports.Finding // by clause: one of those with the same signature
	code                    int
	outcome                 string
	decidable               int                     // how many clauses checks can decide on such a subject
	counts                  map[reports.Verdict]int // of these
}

// builder makes the pages of a site.
type builder struct {
	Site

	addresses addresses
	groups    []*group
	clauses   []Clause          // of the catalogue and of the reports
	pages     map[string]string // the address of each clause
	pairs     [][2]*run         // those whose differences a page leads to
	changes   map[[2]*run]*reports.Changes
	files     []File
	err       error // the first one
}

// Build returns the files of the site, in the order of their addresses: the same for the same reports, in whatever
// order.
func (s Site) Build() ([]File, error) {
	b := &builder{Site: s, addresses: addresses{}, pages: map[string]string{}, changes: map[[2]*run]*reports.Changes{}}
	b.gather()
	b.gatherClauses()
	b.overview()
	b.clauseList()
	b.documents()
	b.clausePages()
	b.subjects()
	b.differences()
	slices.SortFunc(b.files, func(a, b File) int { return strings.Compare(a.Address, b.Address) })
	return b.files, b.err
}

// Index is the address of the first page, and Title begins its title.
const Index, Title = "index.html", "Conformance"

// emit makes a file of a page. Links in it are addresses of the site; ids of clauses are links too.
func (b *builder) emit(address string, d html.Document) {
	if address != Index {
		d.Trail = append(reports.LinkedText("All reports", Index), d.Trail...)
	}
	d.Base = cmp.Or(strings.Repeat("../", strings.Count(address, "/")), "./")
	d.Link = func(id string) string {
		if to := b.pages[id]; to != address {
			return to
		}
		return ""
	}
	var out bytes.Buffer
	b.err = cmp.Or(b.err, html.Write(&out, d))
	b.files = append(b.files, File{address, out.Bytes()})
}

// gather puts the runs in order, and gives each subject and each run its address.
func (b *builder) gather() {
	runs := slices.Clone(b.Runs)
	slices.SortStableFunc(runs, func(a, b Run) int {
		return cmp.Or(strings.Compare(a.Kind.Folder, b.Kind.Folder),
			strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), compareVersions(a.Version, b.Version),
			a.Report.StartTime.Compare(b.Report.StartTime), cmp.Compare(a.Report.Seed, b.Report.Seed))
	})
	for _, r := range runs {
		g := last(b.groups)
		if g == nil || g.Kind != r.Kind {
			g = &group{Kind: r.Kind}
			b.groups = append(b.groups, g)
		}
		s := last(g.subjects)
		if s == nil || !strings.EqualFold(s.name, r.Name) {
			s = &subject{name: r.Name, versions: map[string]int{}, address: b.addresses.take(g.Folder+"/", r.Name)}
			g.subjects = append(g.subjects, s)
		}
		b.add(s, r)
	}
}

func last[T any](all []*T) *T {
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// add adds a run to its subject.
func (b *builder) add(s *subject, r Run) {
	report := r.Report.WithoutExpectations()
	item := &run{subject: s, report: report, results: map[string]*reports.MatrixRow{}, counts: map[reports.Verdict]int{},
		findings: map[string][]reports.Finding{}, address: b.addresses.take(s.address+"/", cmp.Or(r.Version, "unknown"))}
	item.version = cmp.Or(text.Brief(r.Version, longestVersion), "unknown version")
	if s.versions[item.version]++; s.versions[item.version] > 1 {
		item.version = fmt.Sprintf("%s (%d)", item.version, s.versions[item.version])
	}
	item.title = s.name + " " + item.version
	item.code, item.outcome = report.Outcome(reports.ExitOptions{}).Values()
	for _, f := range report.Findings() {
		if all := item.findings[f.Clause]; !hasSimilar(all, &f) {
			item.findings[f.Clause] = append(all, f)
		}
	}
	for _, f := range reports.MatrixOf([]string{""}, report).Drawing.(*reports.Matrix).Families {
		for i := range f.Rows {
			item.results[f.Rows[i].ID] = &f.Rows[i]
		}
	}
	for _, c := range report.Clauses {
		if v := item.verdict(c.ID); len(c.Checks) > 0 && v != reports.NotApplicable {
			item.decidable++
			item.counts[v]++
		}
	}
	var data bytes.Buffer
	b.err = cmp.Or(b.err, r.Report.WriteJSON(&data, reports.ExitOptions{}))
	item.data = data.Bytes()
	s.runs = append(s.runs, item)
}

// hasSimilar reports whether one of some findings has the signature of f.
func hasSimilar(all []reports.Finding, f *reports.Finding) bool {
	return reports.Find(all, func(o *reports.Finding) bool { return o.Signature() == f.Signature() }) != nil
}

// longestVersion is how many characters of a version are shown.
const longestVersion = 30

func (s *subject) newestRun() *run { return s.runs[len(s.runs)-1] }

// verdict returns what a run says of a clause.
func (r *run) verdict(clause string) reports.Verdict {
	if row := r.results[clause]; row != nil {
		return row.Verdicts[0]
	}
	return reports.NotSelected
}

// state returns the outcome of a run, with what makes it incomplete.
func (r *run) state() reports.Text {
	t := reports.Outcome{Code: r.code, Words: r.outcome}.Text()
	if r.isComplete() {
		return t
	}
	words := []string{"; incomplete"}
	for _, v := range []reports.Verdict{reports.Skipped, reports.NotSelected} { // the outcome counts the others
		if n := r.counts[v]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, v))
		}
	}
	return append(t, reports.Span{Text: strings.Join(words, ", "), Style: reports.Unclear})
}

// isComplete reports whether the run was, and each clause that checks can decide has a result.
func (r *run) isComplete() bool {
	return r.decidedCount() == r.decidable && r.report.Trouble == reports.Trouble{}
}

// decidedCount returns how many clauses have a result.
func (r *run) decidedCount() (n int) {
	for v, times := range r.counts {
		if v.IsDecided() {
			n += times
		}
	}
	return n
}

// passWords returns how many clauses passed, of those that checks can decide; "-" if nothing was tested.
func (r *run) passWords() string {
	if r.decidedCount() == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", r.counts[reports.Pass]+r.counts[reports.Observed], r.decidable)
}

// gatherClauses gives each clause its address, also those that only reports have.
func (b *builder) gatherClauses() {
	add := func(c Clause) {
		if b.pages[c.ID] == "" {
			b.clauses, b.pages[c.ID] = append(b.clauses, c), b.addresses.take("clauses/", c.ID)+pageEnding
		}
	}
	for _, c := range b.Clauses {
		add(c)
	}
	for _, r := range b.allRuns() {
		for _, c := range r.report.Clauses {
			add(Clause{ID: c.ID, Level: string(c.Level), Statement: c.Statement})
		}
	}
}

// pageEnding is how the address of a page ends.
const pageEnding = ".html"

// allRuns returns all runs, in order.
func (b *builder) allRuns() (all []*run) {
	for _, g := range b.groups {
		for _, s := range g.subjects {
			all = append(all, s.runs...)
		}
	}
	return all
}
