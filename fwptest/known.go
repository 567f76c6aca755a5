package fwptest

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/base/input"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/known"
)

// validateSkip returns an error for a pattern of Skip that is none.
func (o *Options) validateSkip() error {
	for _, pattern := range o.Skip {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("Options.Skip: %q: %w", pattern, err)
		}
	}
	return nil
}

// isSkipped reports whether a check is left out by Options.Skip.
func (r *suiteRun) isSkipped(id string) bool {
	folder, _, _ := strings.Cut(id, "/")
	return slices.ContainsFunc(r.options.Skip, func(pattern string) bool {
		return conformance.Match(pattern, id) || conformance.Match(pattern, folder)
	})
}

// readKnown reads the file of known findings, if there is one. all are the checks of the suite.
func (r *suiteRun) readKnown(all []conformance.Check) error {
	if r.options.Expect == "" {
		return nil
	}
	data, err := input.Read(r.options.Expect, known.MaxBytes)
	if err != nil {
		return fmt.Errorf("Options.Expect: %w", err)
	}
	file, err := known.Parse(r.options.Expect, data)
	if err != nil {
		return err
	}
	checks := run.Unlisted(fwpsuite.Protocol())
	for _, check := range all {
		checks = append(checks, check.Describe().ID)
	}
	var clauses []string
	for _, c := range fwpsuite.Clauses() {
		clauses = append(clauses, c.ID)
	}
	r.expectFile, r.setting = file, known.Setting{Now: time.Now()}
	if err := file.Resolve(checks, clauses, fwpsuite.Protocol().Retired); err != nil || !file.AsksServer() {
		return err
	}
	nc, err := r.server.Target.Dial(r.ctx)
	if err != nil {
		return err
	}
	server := &r.setting.Server
	server.Name, server.Version, err = fwpscript.Software(r.ctx, nc, r.server.Password, r.options.Timeout)
	if err != nil {
		return fmt.Errorf("ask the server for its version: %w", err)
	}
	return nil
}

// maxReplays is how many checks with new findings are played again. A server that has more of them fails anyway.
const maxReplays = 20

// applyKnown holds the results against the file of known findings, if there is one.
func (r *suiteRun) applyKnown(ctx context.Context) {
	if r.expectFile == nil {
		return
	}
	r.expectFile.Settle(r.report, r.setting, func(round int, ids []string) []reports.Check {
		if ctx.Err() != nil {
			return nil
		}
		if round == 1 {
			ids = ids[:min(len(ids), maxReplays)]
		}
		runner := r.runner(slices.DeleteFunc(slices.Clone(r.selection), func(c conformance.Check) bool {
			return !slices.Contains(ids, c.Describe().ID)
		}))
		runner.Parallel = 1
		return runner.Run(ctx).Checks
	})
	r.report = r.expectFile.Judge(r.report, r.setting)
}

// expectations returns what the run came to by the file of known findings, without the lines that are stale: these
// are about no single check.
func (r *suiteRun) expectations() *reports.Expectations {
	if r.expectFile == nil {
		return nil
	}
	return &reports.Expectations{File: r.expectFile.Name}
}

// reportStale fails the test that called Run for the lines of the file of known findings that are no longer found.
func (r *suiteRun) reportStale(t reporter) {
	t.Helper()
	if r.report == nil || r.report.Expectations == nil {
		return
	}
	e := r.report.Expectations
	for _, l := range e.StaleLines {
		t.Errorf("%s:%d: no longer found: %s; remove the line: %s", e.File, l.Line, l.Reason, l.Text)
	}
	for _, l := range e.Notes {
		t.Logf("%s:%d: %s: %s", e.File, l.Line, l.Reason, l.Text)
	}
}

// knownLines returns the lines that list what is wrong with a check, if that is known and nothing else is wrong.
func knownLines(check *reports.Check) string {
	var lines []string
	add := func(line int, clause string, v reports.Verdict) {
		lines = append(lines, fmt.Sprintf("line %d, %s", line, strings.TrimSpace(v.String()+" "+clause)))
	}
	for _, f := range check.Findings {
		if f.KnownLine == 0 {
			return ""
		}
		add(f.KnownLine, f.Clause, f.Verdict)
	}
	for _, c := range check.Clauses {
		switch {
		case c.KnownLine > 0:
			add(c.KnownLine, c.ID, c.Verdict)
		case c.Verdict == reports.Inconclusive || c.Verdict == reports.NotRun:
			return ""
		}
	}
	if check.KnownLine > 0 {
		add(check.KnownLine, "", check.Verdict)
	}
	return strings.Join(slices.Compact(lines), "; ")
}
