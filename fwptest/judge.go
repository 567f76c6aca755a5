package fwptest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// reporter is what a test does with the result of a check; *testing.T is one.
type reporter interface {
	Helper()
	Attr(key, value string)
	ArtifactDir() string
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Skipf(format string, args ...any)
}

// judge makes the result of a check that of its test.
func (r *suiteRun) judge(t reporter, id string) {
	t.Helper()
	check := r.byID[id]
	if check == nil { // the run ended before
		t.Errorf("not run: %s", r.report.Internal)
		return
	}
	for _, c := range check.Clauses {
		t.Attr("clause", c.ID)
		t.Attr("level", string(c.Level))
	}
	t.Attr("verdict", check.Verdict.String())
	if lines := knownLines(check); lines != "" {
		t.Skipf("known: %s", lines)
		return
	}
	switch check.Verdict {
	case reports.Fail, reports.Crash:
		t.Errorf("%s", r.page(check))
		r.keep(t, check)
	case reports.Warn:
		report := t.Logf
		if r.options.Strict {
			report = t.Errorf
		}
		report("%s", r.page(check))
		r.keep(t, check)
	case reports.Inconclusive, reports.NotRun:
		t.Errorf("%s: %s", check.Verdict, reasonText(check))
	case reports.Skipped:
		t.Skipf("%s", reasonText(check))
	}
}

// page returns the findings of a check as a page of text.
func (r *suiteRun) page(check *reports.Check) string {
	report := &reports.Report{Head: reports.Head{Seed: r.report.Seed}, Checks: []reports.Check{*check},
		Expectations: r.expectations()}
	for _, c := range r.report.Clauses {
		for _, v := range check.Clauses {
			if c.ID == v.ID {
				report.Clauses = append(report.Clauses, c)
			}
		}
	}
	options := reports.PageOptions{Exit: reports.ExitOptions{Strict: r.options.Strict}}
	return string(page.Text(report.Page(options), page.TextOptions{}))
}

// reasonText returns the reason for a verdict, and what to do about it.
func reasonText(check *reports.Check) string {
	reasons := []string{check.Cause}
	provide := check.Provide
	for _, c := range check.Clauses {
		if c.Verdict == check.Verdict {
			reasons = append(reasons, c.Cause)
			provide = c.Provide
		}
	}
	set := map[string]bool{"": true}
	var words []string
	for _, reason := range append(reasons, provide) {
		if !set[reason] {
			words = append(words, reason)
		}
		set[reason] = true
	}
	return strings.Join(words, "; ")
}

// keep writes a script for each finding that is not known into the artifacts of its test: that of the check, which is
// written once, or the one that a property made.
func (r *suiteRun) keep(t reporter, check *reports.Check) {
	t.Helper()
	scripts := map[string]string{}
	for i, f := range check.Findings {
		switch {
		case f.KnownLine > 0:
		case f.Script != "":
			scripts["finding-"+strconv.Itoa(i+1)+".fwp"] = f.Script
		case check.File != "":
			scripts[strings.ReplaceAll(check.ID, "/", "-")+".fwp"] = r.source(check.ID)
		}
	}
	for name, script := range scripts {
		if script == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name), []byte(script), 0o600); err != nil {
			t.Logf("the script of the finding: %v", err)
		}
	}
}

// source returns the text of the script of a check; empty if it is none.
func (r *suiteRun) source(id string) string {
	for _, check := range r.checks {
		if d := check.Describe(); d.ID == id {
			return strings.Join(d.Source, "\n") + "\n"
		}
	}
	return ""
}
