package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/known"
)

// expectFlags are the flags for a file of known findings.
type expectFlags struct {
	name    string
	updates bool
}

func (e *expectFlags) declare(f *pflag.FlagSet) {
	f.StringVar(&e.name, "expect", "",
		"compare the results with the known findings in `FILE`: only a new finding, or a listed one that is gone, fails "+
			"the run")
	f.BoolVar(&e.updates, "update-expect", false, "rewrite the file of --expect with the findings of this run")
}

func (e *expectFlags) validate() error {
	return errorIf(e.updates && e.name == "", "--update-expect needs --expect FILE, the file to write")
}

// expectations holds the results of a run against a file. A nil one has no file.
type expectations struct {
	file       *known.File
	updates    bool
	server     known.Server
	generators map[string]bool // the checks that generate what they send
}

// read reads the file of --expect; nil without one. A file to update need not exist. Its lines must be about the checks
// to choose from, or about one of names.
func (e *expectFlags) read(picks selection, names ...string) (*expectations, error) {
	if e.name == "" {
		return nil, nil
	}
	data, err := input.Read(e.name, known.MaxBytes)
	switch isMissing := errors.Is(err, fs.ErrNotExist); {
	case isMissing && !e.updates:
		return nil, fmt.Errorf("--expect: there is no file %s; a run with --update-expect writes it", e.name)
	case err != nil && !isMissing:
		return nil, fmt.Errorf("--expect: %w", err)
	}
	file, err := known.Parse(e.name, data)
	if err != nil {
		return nil, err
	}
	checks := slices.Concat(names, namesOf(picks.allChecks()))
	retired := map[string]string{}
	for _, entry := range registry.All() {
		checks = append(checks, run.Unlisted(entry.Suite)...)
		maps.Copy(retired, entry.Retired)
	}
	generators := map[string]bool{}
	for _, c := range picks.allChecks() {
		if p, ok := c.(conformance.Property); ok {
			generators[p.Name] = true
		}
	}
	result := &expectations{file: file, updates: e.updates, generators: generators}
	return result, file.Resolve(checks, clauseNames(), retired)
}

// gateSeed is the seed of a run with known findings, unless one is given: what generated checks find is the same in
// each.
const gateSeed = 1

// setSeed draws the seed, unless it was given; the seed of a gate is the same in each run.
func (o *runOptions) setSeed() {
	if o.drawSeed(); o.expect.name != "" && !o.flags.Changed("seed") {
		o.seed = gateSeed
	}
}

// seedNote says why the seed is the one of each run; empty if it is not.
func (o *runOptions) seedNote() string {
	if o.expect.name == "" || o.flags.Changed("seed") {
		return ""
	}
	return ", the seed of each run with --expect; --seed N changes the generated checks"
}

// allChecks returns the checks, selected or not.
func (c selection) allChecks() []conformance.Check {
	all := slices.Clone(c.checks)
	for _, skipped := range c.omissions {
		all = append(all, skipped.Check)
	}
	return all
}

// identify finds out the name and the version of the server, if a line depends on them.
func (e *expectations) identify(
	ctx context.Context, p process, s testTarget, bed testbed, timeout time.Duration,
) {
	if e == nil || !e.file.AsksServer() {
		return
	}
	if software := s.Subject(); software.Name != "" {
		e.server = known.Server{Name: software.Name, Version: software.Version}
		return
	}
	var err error
	server := bed.servers[0]
	if e.server.Name, e.server.Version, err = s.Software(ctx, server.Target, server.Password, timeout); err != nil {
		p.Logf("the name and version of the server are unknown, so lines of %s with server= have no effect: %v",
			e.file.Name, err)
	}
}

// matcher returns what reports whether all findings of a check are known; nil without a file.
func (e *expectations) matcher() func(reports.Check) bool {
	if e == nil {
		return nil
	}
	return func(c reports.Check) bool {
		result := e.judge(&reports.Report{Checks: []reports.Check{c}}).Checks[0]
		return !slices.ContainsFunc(result.Findings, func(f reports.Finding) bool { return f.KnownLine == 0 })
	}
}

// judge returns the results of a run, held against the file.
func (e *expectations) judge(r *reports.Report) *reports.Report {
	return e.file.Judge(r, e.setting())
}

func (e *expectations) setting() known.Setting {
	return known.Setting{
		Now: time.Now(), Server: e.server, Generated: func(check string) bool { return e.generators[check] },
	}
}

// apply returns the results of a run, held against the file. play plays checks again, each alone, and returns
// their results. With --update-expect it writes the file.
func (e *expectations) apply(
	ctx context.Context, p process, r *reports.Report, picks selection, play func([]conformance.Check) []reports.Check,
) *reports.Report {
	if e == nil {
		return r
	}
	if software := r.Target.Subject; e.server.Name == "" {
		e.server = known.Server{Name: software.Name, Version: software.Version}
	}
	e.replayLate(ctx, p, r, picks, play)
	e.replayFindings(ctx, p, r, picks, play)
	result := e.judge(r)
	if reason := incompleteReason(ctx, r); e.updates && reason != "" {
		p.Logf("%s: %s was not changed", reason, e.file.Name)
	} else if e.updates {
		if err := e.rewrite(p, result, picks); err != nil {
			result.Internal = "the known findings could not be written: " + text.OfError(err)
			return result
		}
		result = e.judge(r)
	}
	return result
}

// incompleteReason returns why a run knows too little of its server to write down what is known of it; empty if it does
// not.
func incompleteReason(ctx context.Context, r *reports.Report) string {
	hasStopped := func(c reports.Check) bool {
		return c.Reason == reports.ReasonNotServing ||
			slices.ContainsFunc(c.Clauses, func(v reports.ClauseVerdict) bool { return v.Reason == reports.ReasonNotServing })
	}
	switch {
	case ctx.Err() != nil:
		return "interrupted"
	case r.Unreachable != "":
		return "the target could not be reached"
	case r.Internal != "":
		return "not all could be played"
	case slices.ContainsFunc(r.Checks, hasStopped):
		return "the server no longer served"
	}
	return ""
}

// maxReplays is how many checks with new findings are played again. A server that has more of them fails anyway.
const maxReplays = 20

// replayLate plays checks again, each alone, that are without a result because this machine was late, or had no time
// for them. What is decided then counts: a gate is not red because something else was running.
func (e *expectations) replayLate(
	ctx context.Context, p process, r *reports.Report, picks selection, play func([]conformance.Check) []reports.Check,
) {
	checks := slices.DeleteFunc(slices.Clone(picks.checks), func(c conformance.Check) bool {
		id := c.Describe().ID
		return reports.Find(r.Checks, func(result *reports.Check) bool { return result.ID == id && result.IsLate() }) == nil
	})
	if len(checks) == 0 || len(checks) > maxReplays || ctx.Err() != nil || r.Internal != "" || r.Unreachable != "" {
		return
	}
	p.Logf("playing %s again, alone: this machine was too slow to decide", text.Count(len(checks), "check"))
	run.Replace(r, play(checks))
}

// replayFindings plays checks with findings that are not known again, once, and those that are known as flaky as often
// as their lines say. Each is alone then. Their verdicts are added to the report.
func (e *expectations) replayFindings(
	ctx context.Context, p process, r *reports.Report, picks selection, play func([]conformance.Check) []reports.Check,
) {
	if r.Internal != "" {
		return
	}
	e.file.Settle(r, e.setting(), func(round int, ids []string) []reports.Check {
		if len(ids) > maxReplays && round == 1 {
			p.Logf("%s have new findings; %d of them are played again, alone", text.Count(len(ids), "check"), maxReplays)
			ids = ids[:maxReplays]
		}
		checks := slices.DeleteFunc(slices.Clone(picks.checks), func(c conformance.Check) bool {
			return !slices.Contains(ids, c.Describe().ID)
		})
		if len(checks) == 0 || ctx.Err() != nil {
			return nil
		}
		if round == 1 {
			p.Logf("playing %s again, alone: %s", text.Count(len(checks), "check"), strings.Join(ids, ", "))
		}
		return play(checks)
	})
}

// rewrite writes the file anew, and reads it.
func (e *expectations) rewrite(p process, result *reports.Report, picks selection) error {
	generators := map[string]bool{}
	for _, check := range picks.checks {
		d := check.Describe()
		generators[d.ID] = d.File == ""
	}
	update := e.file.Update(result, func(check string) bool { return generators[check] })
	for _, change := range []struct {
		verb  string
		lines []string
	}{{"removed", update.Removed}, {"changed", update.Changed}, {"added", update.Added}} {
		for _, line := range change.lines {
			p.Logf("%s: %s %s", e.file.Name, change.verb, line)
		}
	}
	file, err := known.Parse(e.file.Name, update.Text)
	if err != nil {
		return err
	}
	e.file = file
	return shared.ReplaceFile(file.Name, shared.WriteBytes(update.Text))
}

// quickReplayTime is for how long a quick run begins to play checks again.
const quickReplayTime = time.Minute

// replayer returns what plays checks again, each alone: on servers that are started for each where fwpcheck starts
// servers, because the others may no longer be as they were.
func (o *runOptions) replayer(
	ctx context.Context, s testTarget, bed testbed,
) func([]conformance.Check) []reports.Check {
	play := func(bed testbed, checks ...conformance.Check) []reports.Check {
		r := playAlone(ctx, o.runner(s, bed, selection{checks: checks}))
		reports.Hide(s.Secrets.Hide, r)
		return r.Checks
	}
	var start time.Time
	return func(checks []conformance.Check) (all []reports.Check) {
		if start.IsZero() {
			start = time.Now()
		}
		for _, check := range checks {
			switch {
			case o.selection.Quick && time.Since(start) > quickReplayTime:
				return all
			case !s.IsPrivate():
				all = append(all, play(bed, check)...)
				continue
			}
			other, err := s.open(ctx, o.timeout)
			if err != nil {
				return all
			}
			all = append(all, play(other, check)...)
			other.end()
		}
		return all
	}
}
