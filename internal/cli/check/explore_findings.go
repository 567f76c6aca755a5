package check

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/stress"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// findingStore saves the findings of an exploration to files, as soon as they are found.
type findingStore struct {
	p       process
	o       *exploreOptions
	at      program.Endpoint
	control func(script string) reports.Verdict // plays a script on a conforming server

	runs    map[int]string // files of whole runs, by the number of the finding
	history string         // the file of the history of many clients
	failed  error          // the first file that could not be written
}

// saveRun saves the exploration up to a finding, before it is shrunk.
func (k *findingStore) saveRun(f explore.Finding) {
	if k.runs == nil {
		k.runs = map[int]string{}
	}
	k.runs[f.Number] = k.save(fileName(f), ".run.json", f.Whole.Save)
	then := "it is shrunk now"
	if k.o.noShrink {
		then = "exploring goes on"
	}
	k.p.Logf("%s after %s: %s; saved as %s, and %s", fileName(f), text.Count(f.Commands, "command"), summary(f),
		k.runs[f.Number], then)
}

// fileName returns the name under which a finding is saved.
func fileName(f explore.Finding) string {
	if f.Clause == "" {
		return f.Rule
	}
	return f.Clause
}

// summary returns a finding in one line.
func summary(f explore.Finding) string {
	if f.What != "" {
		return f.What
	}
	return fmt.Sprintf("expected %.80q, got %.80q", f.Expected, f.Got)
}

// saveHistory saves the history of many clients.
func (k *findingStore) saveHistory(h *history.History, found []history.Finding) {
	breach := string(found[0].Breach)
	name := cmp.Or(conformance.ClauseOf(breach), breach)
	k.history = k.save(name, ".history.jsonl", h.Save)
	k.p.Logf("%s among concurrent workers: %s; the history is saved as %s", name, found[0].What, k.history)
}

// save writes a new file, and returns its name.
func (k *findingStore) save(clause, kind string, write func(io.Writer) error) string {
	err := os.MkdirAll(k.o.folder, 0o755) //nolint:gosec // scripts are no secret
	for n := 1; err == nil; n++ {
		name := filepath.Join(k.o.folder, clause+kind)
		if n > 1 {
			name = filepath.Join(k.o.folder, fmt.Sprintf("%s-%d%s", clause, n, kind))
		}
		var f *os.File
		f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // nor are runs
		if os.IsExist(err) {
			err = nil
			continue
		}
		if err == nil {
			err = wrote(f, write)
		}
		if err == nil {
			return name
		}
	}
	if k.failed == nil {
		k.failed = fmt.Errorf("save a finding: %w", err)
	}
	return ""
}

func wrote(f *os.File, write func(io.Writer) error) error {
	err := write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// addResult adds the findings of an exploration to the report, and saves their scripts.
func (k *findingStore) addResult(e *reports.Exploration, r *explore.Result) {
	e.Commands = r.Commands
	k.leftover(e, r.Left)
	e.States, e.Transitions = maps.Clone(r.Coverage.States), maps.Clone(r.Coverage.Transitions)
	e.Outcomes = maps.Clone(r.Coverage.Outcomes)
	for _, f := range r.Findings {
		k.addFinding(e, f, k.runs[f.Number])
	}
}

// addHistory adds the findings of many clients to the report.
func (k *findingStore) addHistory(e *reports.Exploration, r *stress.Result) {
	e.Commands += r.Commands
	k.leftover(e, r.Left)
	for _, f := range r.Findings {
		k.addFinding(e, f, k.history)
	}
	if k.failed != nil {
		e.Internal = k.failed.Error()
	}
}

// leftover adds jobs that are still on a server to the report; the embedded server no longer exists.
func (k *findingStore) leftover(e *reports.Exploration, jobs []string) {
	if !k.at.Choice.Embedded {
		e.Left = append(e.Left, jobs...)
	}
}

// addFinding writes one finding into the report.
func (k *findingStore) addFinding(e *reports.Exploration, f explore.Finding, run string) {
	found := reports.Explored{
		Finding: reports.Finding{Clause: f.Clause, Verdict: reports.Fail, Check: "explore", Expected: f.Expected,
			Actual: f.Got, Seen: f.What},
		After: f.Commands, Run: run, Script: f.Script, Unscripted: f.Unscripted, Reproduced: f.Shown, Tried: f.Tried,
	}
	if c, ok := conformance.ClauseByID(f.Clause); ok {
		found.Level, found.Statement, found.Verdict = c.Level, c.Statement, c.Breach()
	}
	switch {
	case f.Should:
		found.Level, found.Verdict = reports.LevelShould, reports.Warn
	case f.Doubtful && !f.Crash:
		found.Verdict = reports.Warn
	case f.Crash:
		found.Verdict = reports.Crash
	case f.Rule == explore.RuleMemory: // no clause forbids it
		found.Verdict = reports.Warn
	}
	if f.Script != "" {
		found.Path = k.save(fileName(f), ".fwp", func(w io.Writer) error {
			_, err := io.WriteString(w, f.Script)
			return err
		})
		if f.Rule != explore.RuleMemory { // no line of its script fails
			found.Reproduce = k.reproduce(found.Path, f.Script)
			found.Control = k.control(f.Script)
		}
	}
	if found.Control.Breach() { // it may be an error of fwpcheck
		found.Verdict = reports.Warn
	}
	e.Findings = append(e.Findings, found)
	if k.failed != nil {
		e.Internal = k.failed.Error()
	}
}

var inDefault = regexp.MustCompile(`(?m)FETCH(.* default)?$`)

// reproduce returns the command that plays a script on the same server; empty for an embedded server with a fault.
func (k *findingStore) reproduce(path, script string) string {
	if k.at.Choice.Embedded && k.o.fault != "" {
		return ""
	}
	var required []scenarios.Need
	if parsed, err := scenarios.Parse(fwpdialect.Dialect{}, path, []byte(script)); err == nil {
		required = parsed.Needs
	}
	all := []string{"fwpcheck run", text.ShellQuote(path)}
	if !k.at.Choice.Embedded {
		all = append(all, "--url", k.at.Choice.Address.Masked())
	}
	for _, f := range []struct {
		needed bool
		flag   string
	}{
		{k.o.allowFlush && strings.Contains(script, ": FLUSH"), "--allow-flush"},
		{!k.o.allowFlush && k.o.allowShared && inDefault.MatchString(script), "--allow-shared"},
		{slices.Contains(required, scenarios.NeedRestart), "--restart-cmd " + text.ShellQuote(k.o.hooks.Restart)},
		{k.o.hooks.Signal != "" && slices.Contains(required, scenarios.NeedSignals),
			"--signal-cmd " + text.ShellQuote(k.o.hooks.Signal)},
	} {
		if f.needed && !k.at.Choice.Embedded {
			all = append(all, f.flag)
		}
	}
	return strings.Join(all, " ")
}
