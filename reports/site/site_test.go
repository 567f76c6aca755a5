package site

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/reports"
)

// clauses are those of the sample.
var clauses = []string{"FWP-ACK-01", "FWP-ACK-02", "FWP-PUSH-01"}

// reportOf returns a report with a verdict on each of the clauses.
func reportOf(seed uint64, verdicts ...reports.Verdict) *reports.Report {
	r := &reports.Report{
		Head:   reports.Head{Version: "fwpcheck 0.1.0", Seed: seed, Took: 3 * time.Second},
		Rerun:  "fwpcheck run --check CHECK --seed 7 --start ./made-up",
		Target: reports.Target{Chosen: "started by --start", HI: `HI {"v":2}`},
	}
	for i, v := range verdicts {
		id := strings.ToLower(clauses[i][4:7]) + fmt.Sprintf("/%d", i)
		c := reports.Check{ID: id, Title: "a check", File: id, Verdict: v, Attempts: 1,
			Clauses: []reports.ClauseVerdict{{ID: clauses[i], Level: reports.LevelMust, Verdict: v}}}
		if v.IsBreach() {
			c.Findings = []reports.Finding{{Clause: clauses[i], Verdict: v, Evidence: reports.Evidence{
				Line: 3, Col: 4, Source: "S: +OK", Expected: "+OK", Actual: "-ERR <no>", MarkedLine: 2,
				Reproduce: "fwpcheck run --check " + id + " --seed 7 --start ./made-up",
			}}}
			c.Conversation = []reports.Line{
				{Conn: "C", From: reports.FromClient, Text: "ACK {}"},
				{Conn: "C", From: reports.FromServer, Text: "-ERR <no>", At: time.Millisecond},
			}
		}
		r.Checks = append(r.Checks, c)
		r.Clauses = append(r.Clauses, reports.Clause{
			ID: clauses[i], Level: reports.LevelMust, Verdict: v, Statement: "Statement " + clauses[i] + ".", Checks: []string{id},
		})
	}
	return r
}

const (
	pass, fail, undecided = reports.Pass, reports.Fail, reports.Inconclusive
)

// sample returns a small site: a server in three versions, a fork of it, and a worker whose run was interrupted.
func sample() Site {
	servers, workers := Kind{"servers", "FWP server"}, Kind{"workers", "FWP worker"}
	partial := reportOf(4, pass, reports.NotRun, reports.NotRun)
	partial.Interrupted = true
	clauseOf := func(id, words string) Clause {
		return Clause{ID: id, Level: "MUST", Party: "servers", Statement: "Statement " + id + ".", Page: reports.Page{
			Blocks: []reports.Block{reports.Fields{Fields: []reports.Field{
				reports.NewField("source", "spec.md, ACK, 1.1"), reports.NewField("reading", words),
				reports.NewField("checks", "ack/0: a check"),
			}}},
		}}
	}
	return Site{
		Suite: "fwpcheck 0.1.0",
		Runs: []Run{
			{servers, "Made-Up", "1.9.0", reportOf(1, pass, fail, pass)},
			{servers, "Made-Up", "1.10.0", reportOf(2, fail, pass, pass)},
			{servers, "Made-Up", "1.10.0-rc1", reportOf(3, fail, undecided, pass)},
			{servers, "fork", "2", reportOf(5, pass, pass, pass)},
			{workers, "worker", "0.1", partial},
		},
		Clauses:   []Clause{clauseOf("FWP-ACK-01", "It is read as FWP-ACK-02 is."), clauseOf("FWP-ACK-02", ""), clauseOf("FWP-PUSH-01", "")},
		Documents: []Document{{"bugs", "Planted bugs", reports.Page{Blocks: []reports.Block{reports.Prose{Lines: reports.LinesOf("x")}}}}},
	}
}

func build(t *testing.T, s Site) []File {
	t.Helper()
	files, err := s.Build()
	require.NoError(t, err)
	return files
}

// body returns what of a page is its own.
func body(f File) string {
	text := string(f.Data)
	if at := strings.Index(text, "<body>"); at >= 0 {
		text = text[at:]
	}
	for _, pattern := range []string{`(?s)<script>.*</script>\n`, `(?s)<script type.*?</script>\n`, `(?s)<svg.*?</svg>`} {
		if strings.HasSuffix(f.Address, pageEnding) {
			text = regexp.MustCompile(pattern).ReplaceAllString(text, "")
		}
	}
	return text
}

func TestGolden(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, f := range build(t, sample()) {
		fmt.Fprintf(&got, "-- %s --\n%s", f.Address, body(f))
	}
	golden.File(t, "testdata/site.golden", got.String())
}

// The site is the same in whatever order the reports are given, and a report that is added changes no address.
func TestAddressesStay(t *testing.T) {
	t.Parallel()
	turned := sample()
	slices.Reverse(turned.Runs)
	assert.Equal(t, build(t, sample()), build(t, turned))
	next := sample()
	next.Runs = append(next.Runs, Run{next.Runs[0].Kind, "another", "1", reportOf(6, pass, pass, pass)},
		Run{next.Runs[0].Kind, "Made-Up", "1.8.0", reportOf(7, pass, pass, pass)},
		Run{next.Runs[0].Kind, "Made-Up", "1.9.0", reportOf(8, pass, pass, pass)})
	targets := map[string]bool{}
	for _, f := range build(t, next) {
		targets[f.Address] = true
	}
	for _, f := range build(t, sample()) {
		assert.True(t, targets[f.Address], f.Address)
	}
}

var (
	links   = regexp.MustCompile(`<a href="([^"]*)"`)
	anchors = regexp.MustCompile(` id="([^"]*)"`)
)

// requireLinks fails unless each link of each page leads to a page of the site, and to a place on it.
func requireLinks(t *testing.T, files []File) {
	t.Helper()
	targets := map[string]bool{}
	for _, f := range files {
		targets[f.Address] = true
		for _, id := range anchors.FindAllStringSubmatch(string(f.Data), -1) {
			targets[f.Address+"#"+id[1]] = true
		}
	}
	for _, f := range files {
		if strings.HasSuffix(f.Address, pageEnding) {
			assert.Contains(t, string(f.Data), `<base href="`+cmp.Or(strings.Repeat("../", strings.Count(f.Address, "/")), "./")+`">`)
		}
		for _, link := range links.FindAllStringSubmatch(string(f.Data), -1) {
			assert.True(t, targets[link[1]], "%s: no %s", f.Address, link[1])
		}
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	requireLinks(t, build(t, sample()))
}

// Nothing in a report becomes markup or an address outside of the folder, and no two pages have one address.
func TestHostileReports(t *testing.T) {
	t.Parallel()
	s := sample()
	hostile := `"><script>alert(1)</script><a href="javascript:alert(1)">`
	for i, name := range []string{"../../etc/passwd", `..\..\x`, "/", "", ".", "..", "a/b", "a-b", "A B", "con\x00\x1b[2J", hostile,
		strings.Repeat("x", 5000)} {
		r := reportOf(uint64(i), fail, pass, fail)
		r.Target.HI, r.Version, r.Rerun, r.Internal = hostile, hostile, hostile+" --check CHECK", hostile
		r.Checks[0].Findings[0].Actual, r.Checks[0].Conversation[0].Text = hostile, hostile
		r.Checks[0].Findings[0].Reproduce, r.Clauses[0].Statement = hostile, hostile
		r.Clauses = append(r.Clauses, reports.Clause{ID: name, Level: reports.Level(hostile), Verdict: fail, Cause: hostile},
			reports.Clause{ID: hostile + "-X-1", Verdict: pass, Checks: []string{hostile}})
		s.Runs = append(s.Runs, Run{s.Runs[0].Kind, name, name, r}, Run{s.Runs[0].Kind, hostile, hostile, r})
	}
	files := build(t, s)
	targets := map[string]bool{}
	for _, f := range files {
		assert.Regexp(t, `^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*\.(html|svg)$`, f.Address)
		assert.False(t, targets[f.Address], "%s is there twice", f.Address)
		targets[f.Address] = true
		assert.NotContains(t, body(f), "<script")
		assert.NotContains(t, string(f.Data), "<a href=\"javascript")
		assert.NotContains(t, string(f.Data), "\x1b")
	}
	requireLinks(t, files)
}

// A run that is not complete is called so, and its badge is not green; a known finding is a finding.
func TestIncompleteRuns(t *testing.T) {
	t.Parallel()
	partial := reportOf(1, pass, reports.NotSelected, pass)
	interrupted := reportOf(1, pass, pass, pass)
	interrupted.Interrupted = true
	knownReport := reportOf(1, pass, fail, pass)
	knownReport.Expectations = &reports.Expectations{File: "x.expect"}
	knownReport.Checks[1].Findings[0].KnownLine = 3
	for name, test := range map[string]struct {
		report       *reports.Report
		state, badge string
	}{
		"complete":    {reportOf(1, pass, pass, pass), "all well: 3 clauses passed", "3 of 3 pass"},
		"selected":    {partial, "all well: 2 clauses passed; incomplete, 1 not selected", "incomplete, 2 of 3 pass"},
		"interrupted": {interrupted, "interrupted: 3 clauses passed; incomplete", "incomplete, 3 of 3 pass"},
		"no result": {reportOf(1, pass, undecided, pass), "1 clause inconclusive; 2 clauses passed; incomplete",
			"incomplete, 2 of 3 pass"},
		"nothing": {reportOf(1, undecided, undecided, undecided), "nothing was evaluated; 3 clauses inconclusive; incomplete",
			reports.NothingTested},
		"a finding": {reportOf(1, pass, fail, pass), "1 finding: 1 fail", "2 of 3 pass"},
		"known":     {knownReport, "1 finding: 1 fail", "2 of 3 pass"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &builder{Site: Site{Runs: []Run{{Kind{"servers", "servers"}, "x", "1", test.report}}}, addresses: addresses{}}
			b.gather()
			require.NoError(t, b.err)
			r := b.groups[0].newestRuns()[0]
			assert.Equal(t, test.state, r.state().String())
			b.badge("x", r)
			assert.Contains(t, string(b.files[0].Data), "x 1: "+test.badge+"<")
			green := strings.Contains(string(b.files[0].Data), "#1a7f4b")
			assert.Equal(t, name == "complete", green)
		})
	}
}
