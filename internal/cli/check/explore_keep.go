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

// keeper saves what an exploration finds, at once.
type keeper struct {
	p       process
	o       *exploreOptions
	at      program.Endpoint
	control func(script string) reports.Verdict // tries a script on a server that is right

	runs  map[int]string // files of whole runs, by the number of the finding
	past  string         // the file of the history of many clients
	wrong error
}

// whole saves the exploration up to a finding before it is made small.
func (k *keeper) whole(f explore.Finding) {
	if k.runs == nil {
		k.runs = map[int]string{}
	}
	k.runs[f.Number] = k.save(filed(f), ".run.json", f.Whole.Save)
	then := "it is shrunk now"
	if k.o.noShrink {
		then = "exploring goes on"
	}
	k.p.Say("%s after %s: %s; saved as %s, and %s", filed(f), text.Count(f.Commands, "command"), words(f), k.runs[f.Number], then)
}

// filed is the name under which a finding is saved.
func filed(f explore.Finding) string {
	if f.Clause == "" {
		return f.Rule
	}
	return f.Clause
}

// words say what a finding is, on one line.
func words(f explore.Finding) string {
	if f.What != "" {
		return f.What
	}
	return fmt.Sprintf("expected %.80q, got %.80q", f.Expected, f.Got)
}

// history saves what many clients did.
func (k *keeper) history(h *history.History, found []history.Finding) {
	breach := string(found[0].Breach)
	name := cmp.Or(conformance.ClauseOf(breach), breach)
	k.past = k.save(name, ".history.jsonl", h.Save)
	k.p.Say("%s among workers side by side: %s; the history is saved as %s", name, found[0].What, k.past)
}

// save writes a file that there was not before, and returns its name.
func (k *keeper) save(clause, kind string, write func(io.Writer) error) string {
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
	if k.wrong == nil {
		k.wrong = fmt.Errorf("save a finding: %w", err)
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

// fill writes what was found into the report, and each script into its file.
func (k *keeper) fill(e *reports.Exploration, r *explore.Result) {
	e.Commands = r.Commands
	k.left(e, r.Left)
	e.States, e.Transitions, e.Outcomes = maps.Clone(r.Coverage.States), maps.Clone(r.Coverage.Transitions), maps.Clone(r.Coverage.Outcomes)
	for _, f := range r.Findings {
		k.keep(e, f, k.runs[f.Number])
	}
}

// add writes what many clients brought up into the report.
func (k *keeper) add(e *reports.Exploration, r *stress.Result) {
	e.Commands += r.Commands
	k.left(e, r.Left)
	for _, f := range r.Findings {
		k.keep(e, f, k.past)
	}
	if k.wrong != nil {
		e.Internal = k.wrong.Error()
	}
}

// left takes down jobs that are still on a server; the embedded one is gone with them.
func (k *keeper) left(e *reports.Exploration, jobs []string) {
	if !k.at.Choice.Embedded {
		e.Left = append(e.Left, jobs...)
	}
}

// keep writes one finding into the report.
func (k *keeper) keep(e *reports.Exploration, f explore.Finding, run string) {
	found := reports.Explored{
		Finding: reports.Finding{Clause: f.Clause, Verdict: reports.Fail, Check: "explore", Expected: f.Expected, Actual: f.Got, Seen: f.What},
		After:   f.Commands, Run: run, Script: f.Script, Unscripted: f.Unscripted, Reproduced: f.Shown, Tried: f.Tried,
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
	case f.Rule == explore.RuleMemory: // which no clause forbids
		found.Verdict = reports.Warn
	}
	if f.Script != "" {
		found.Path = k.save(filed(f), ".fwp", func(w io.Writer) error { _, err := io.WriteString(w, f.Script); return err })
		if f.Rule != explore.RuleMemory { // no line of that one fails
			found.Reproduce = k.reproduce(found.Path, f.Script)
			found.Control = k.control(f.Script)
		}
	}
	if found.Control.Breach() { // it says nothing against the server
		found.Verdict = reports.Warn
	}
	e.Findings = append(e.Findings, found)
	if k.wrong != nil {
		e.Internal = k.wrong.Error()
	}
}

var inDefault = regexp.MustCompile(`(?m)FETCH(.* default)?$`)

// reproduce is the command that plays a script on the same server; a fault of the
// embedded server is nowhere else.
func (k *keeper) reproduce(path, script string) string {
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
		{k.o.hooks.Signal != "" && slices.Contains(required, scenarios.NeedSignals), "--signal-cmd " + text.ShellQuote(k.o.hooks.Signal)},
	} {
		if f.needed && !k.at.Choice.Embedded {
			all = append(all, f.flag)
		}
	}
	return strings.Join(all, " ")
}
