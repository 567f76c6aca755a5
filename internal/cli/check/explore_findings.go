package check

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/fwp/crowd"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// findingStore reports the findings of an exploration as soon as they are found, and saves them if the user wants that.
type findingStore struct {
	p       process
	o       *exploreOptions
	at      shared.Endpoint
	control func(script string) reports.Verdict // plays a script on a conforming server

	server     printing       // of the first exploration and the load; nil if what it prints is not known
	printed    map[int]ending // of it when findings were found, by their number
	runs       map[int]string // files of whole runs, by the number of the finding
	history    string         // the file of the history of many clients
	notStarted error          // why the server did not start again after a disruption
	kinds      []string       // of the findings in the report: those of a kind may have the same reason
	folder                    // of all files
}

// saveRun saves the exploration up to a finding, before it is shrunk.
func (k *findingStore) saveRun(f explore.Finding) {
	if k.runs == nil {
		k.runs = map[int]string{}
	}
	k.runs[f.Number] = k.save(k.p, f.Name(), ".run.json", f.Whole.Save)
	k.p.Logf("%s after %s: %s%s", f.Name(), text.Count(f.Commands, "command"), summary(f),
		savedAs("the run", k.runs[f.Number]))
}

// printing is a server that was started, of which it is known what it prints and how it ends.
type printing interface {
	Ended() (how string, output []string, ended bool)
	Printed(from, to time.Time) []string
}

// printingOf returns a target as one that was started; nil if it was not.
func printingOf(t play.Target) printing {
	var server *target.Server
	switch of := t.(type) {
	case *target.Server:
		server = of
	case disruptable:
		server = of.Server
	case mortal:
		server = of.Server
	}
	if server == nil {
		return nil
	}
	of, _ := server.Operator.(printing)
	return of
}

// ending is what a server printed when something was found, and how its process ended, if it did.
type ending struct {
	printed []string
	words   string
	died    string
}

// justNow is how long before a finding a server may have printed why it closed a connection.
const justNow = time.Second

// found keeps what the server printed behind the command of a finding, and saves the run.
func (k *findingStore) found(f explore.Finding) {
	k.listen(f)
	k.saveRun(f)
}

// listen keeps what the server printed where it died, was silent or closed a connection just now.
func (k *findingStore) listen(f explore.Finding) {
	if k.printed == nil {
		k.printed = map[int]ending{}
	}
	since := time.Now().Add(-justNow)
	switch rule, _, _ := strings.Cut(f.Rule, ":"); {
	case k.server == nil:
	case f.Crash:
		words, died := run.EndingOf(k.server.Ended())
		k.printed[f.Number] = ending{words: words, died: died}
	case rule == explore.RuleSilent || rule == explore.RuleUnheard:
		since = since.Add(-k.o.timeout)
		fallthrough
	case f.Got == scenarios.Closed.String():
		k.printed[f.Number] = ending{printed: k.server.Printed(since, time.Now())}
	}
}

// savedAs returns the end of a message about what was saved in a file, "" if it was not.
func savedAs(what, file string) string {
	if file == "" {
		return ""
	}
	return "; " + what + " is saved as " + file
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
	name := cmp.Or(registry.Default().ClauseOf(breach), breach)
	k.history = k.save(k.p, name, ".history.jsonl", h.Save)
	k.p.Logf("%s among concurrent workers: %s%s", name, found[0].What, savedAs("the history", k.history))
}

// addResult adds the findings of an exploration to the report, and saves their scripts.
func (k *findingStore) addResult(e *reports.Exploration, r *explore.Result) {
	e.Commands, e.Judged, e.Limit = e.Commands+r.Commands, e.Judged+r.Coverage.Judged, max(e.Limit, r.Limit)
	switch k.lost(e, r.Lost, len(r.Findings)); {
	case r.Lost != "":
	case r.Silent:
		e.Silent = fmt.Sprintf("new connections got no reply in time (--timeout %v, --time %v); for a slow server, give "+
			"longer times", k.o.timeout, k.o.time)
	case r.Refused:
		e.Silent = "every new connection was refused; stop other clients of the server, or raise its connection limit"
	}
	if r.Refusing && r.Lost == "" {
		e.Outages = append(e.Outages, "new connections were not served at the end of the run")
	}
	e.Unread = cmp.Or(e.Unread, r.Coverage.Unread())
	k.leftover(e, r.Left)
	e.States, e.Transitions = plus(e.States, r.Coverage.States), plus(e.Transitions, r.Coverage.Transitions)
	e.Outcomes, e.Situations = plus(e.Outcomes, r.Coverage.Outcomes), plus(e.Situations, r.Coverage.Situations)
	for _, outage := range r.Outages {
		e.Outages = append(e.Outages, outage.String())
	}
	k.notStarted = cmp.Or(k.notStarted, r.NotStarted)
	if e.Unseen == "" && len(r.Unseen) > 0 {
		e.Unseen = fmt.Sprintf("%s had no visible effect and decided nothing: %s",
			text.Count(len(r.Unseen), "disruption"), text.OfError(r.Unseen[0]))
	}
	for _, f := range r.Findings {
		if _, told := k.runs[f.Number]; !told {
			k.saveRun(f)
		}
		k.addFinding(e, f, k.runs[f.Number])
	}
	clear(k.printed)
	clear(k.runs) // the next exploration numbers its findings itself
}

// lost adds to the report that a forwarder before the target may have ended. What was found counts nevertheless.
func (k *findingStore) lost(e *reports.Exploration, why string, found int) {
	if found+len(e.Findings) == 0 {
		e.Unreachable = cmp.Or(e.Unreachable, why)
	} else {
		e.Silent = cmp.Or(why, e.Silent)
	}
}

// unserved adds to the report that the server did not start again after it was stopped: there is no target any more,
// unless something was found before. A server that would serve in an empty folder does not start on its data.
func (k *findingStore) unserved(e *reports.Exploration) {
	if k.notStarted == nil {
		return
	}
	words := text.OfError(k.notStarted)
	if of, is := errors.AsType[*target.StartError](k.notStarted); is && of.OnlyEmpty {
		e.Findings = append(e.Findings, reports.Explored{
			After: e.Commands,
			Finding: reports.Finding{Verdict: reports.Fail, Evidence: reports.Evidence{
				Check: run.StartsCheck, Expected: "a server that serves again after it was stopped", Actual: words,
				Unscripted: "a script cannot express it",
			}},
		})
	}
	if !slices.ContainsFunc(e.Findings, func(f reports.Explored) bool { return f.Verdict.Breach() }) {
		e.Unreachable = words
		return
	}
	e.Outages = append(e.Outages, words)
}

// plus returns the sums of two maps.
func plus(a, b map[string]int) map[string]int {
	sum := map[string]int{}
	maps.Copy(sum, a)
	for name, n := range b {
		sum[name] += n
	}
	return sum
}

// addHistory adds the findings of many clients to the report.
func (k *findingStore) addHistory(e *reports.Exploration, r *crowd.Result) {
	e.Commands += r.Commands
	k.lost(e, r.Lost, len(r.Findings))
	if r.Unserved {
		e.Outages = append(e.Outages, "no connection could be opened after the load of many clients")
	}
	k.leftover(e, r.Left)
	for _, f := range r.Findings {
		if f.Crash { // it was the last that the load met
			k.listen(f)
		}
		k.addFinding(e, f, k.history)
	}
	if k.failed != nil {
		e.Internal = k.failed.Error()
	}
}

// leftover adds jobs that are still on a server to the report; one that was started for it no longer exists.
func (k *findingStore) leftover(e *reports.Exploration, jobs []string) {
	if !k.at.Ours() {
		e.Left = append(e.Left, jobs...)
	}
}

// addFinding writes one finding into the report.
func (k *findingStore) addFinding(e *reports.Exploration, f explore.Finding, whole string) {
	found := reports.Explored{
		Finding: reports.Finding{Clause: f.Clause, Verdict: reports.Fail, Premises: f.Premises, Evidence: reports.Evidence{
			Check: "explore", Expected: f.Expected, Actual: f.Got, Seen: f.What, Script: f.Script,
			Unscripted: f.Unscripted, Unshrunk: f.Unshrunk}},
		After: f.Commands, Times: f.Times, Places: f.Places, Run: whole,
		Reproduced: f.Shown, Tried: f.Tried,
	}
	heard := k.printed[f.Number]
	if found.Printed = heard.printed; heard.words != "" {
		found.Actual += "\n" + heard.words
	}
	if f.Crash && found.Clause == "" {
		found.Statement = run.Death(heard.died, f.Behind, "")
	}
	judge(&found.Finding, f)
	if f.Script != "" {
		found.Path = k.saveScript(k.p, f.Name(), f.Script, e.Version, target.Redact(k.at.String()), k.o.seed, e.Started)
		found.Reproduce = k.reproduce(cmp.Or(found.Path, "-"), f.Script)
		found.Control = k.control(f.Script)
	}
	if f.Script == "" && len(f.Unshrunk) > 0 {
		found.Saved = k.saveScript(k.p, f.Name(), unplayed(f.Unshrunk), e.Version, target.Redact(k.at.String()), k.o.seed,
			e.Started)
		if found.Saved != "" {
			found.Reproduce = k.reproduce(found.Saved, strings.Join(f.Unshrunk, "\n"))
		}
	}
	if found.Control.Breach() { // it may be an error of fwpcheck
		found.Verdict = reports.Warn
	}
	e.Findings = append(e.Findings, found)
	k.kinds = append(k.kinds, kind(k.at.Peer.Subject(), f))
	if k.failed != nil {
		e.Internal = k.failed.Error()
	}
}

// judge gives a finding its level and verdict.
func judge(found *reports.Finding, f explore.Finding) {
	if c, ok := registry.Clause(f.Clause); ok {
		found.Level, found.Statement, found.Verdict = c.Level, c.Statement, c.Breach()
	}
	switch {
	case f.Should:
		found.Level, found.Verdict = reports.LevelShould, reports.Warn
	case f.Doubtful && !f.Crash:
		found.Verdict = reports.Warn
	case f.Crash:
		found.Verdict = reports.Crash
	}
}

// unplayed is the text of a script that was not played.
func unplayed(lines []string) string {
	const comment = "# not played: the last steps before the finding; they may not reproduce it"
	return comment + "\n" + strings.Join(lines, "\n") + "\n"
}

// kind returns one name for all findings that the same bug of a server may show as: a job that is delivered twice is
// delivered while it is held, after its ACK or after its FAIL.
func kind(s *explore.Subject, f explore.Finding) string {
	rule := f.Rule
	if rule == crowd.RuleHistory {
		rule = cmp.Or(moves.RuleOf(f.Clause), rule)
	}
	if s.Family == nil {
		return rule
	}
	return s.Family(rule)
}

// weigh makes a warning of each finding that rests on a clause which another one shows broken, and of each that was not
// reproduced, in more than half of its plays, if one of the same kind was, under another clause: that one may be the
// reason. A crash stays one.
func (k *findingStore) weigh(e *reports.Exploration) {
	for i := range e.Findings {
		f := &e.Findings[i]
		if f.Verdict != reports.Fail {
			continue
		}
		for j, other := range e.Findings {
			alike := !f.Confirmed() && k.kinds[i] == k.kinds[j] && other.Clause != f.Clause
			follows := alike || slices.Contains(f.Premises, other.Clause)
			if follows && other.Confirmed() && other.Verdict == reports.Fail {
				f.Verdict, f.Explained = reports.Warn, other.Clause
				break
			}
		}
	}
}

var inDefault = regexp.MustCompile(`(?m)FETCH(.* default)?$`)

// reproduce returns the command that plays a script on the same server. A script without a file is read from standard
// input.
func (k *findingStore) reproduce(path, script string) string {
	var required []scenarios.Need
	if parsed, err := scenarios.Parse(k.at.Peer.Dialect, path, []byte(script)); err == nil {
		required = parsed.Needs
	}
	flags := []string{"bug", "variation"}
	switch {
	case k.at.Ours():
	case k.o.allowFlush && strings.Contains(script, ": FLUSH"):
		flags = append(flags, "allow-flush")
	case !k.o.allowFlush && inDefault.MatchString(script):
		flags = append(flags, "exclusive")
	}
	operated := func(n scenarios.Need) bool {
		return n == scenarios.NeedRestart || n == scenarios.NeedKill || n == scenarios.NeedSignals
	}
	if slices.ContainsFunc(required, operated) {
		flags = append(flags, k.o.operatorFlags.Names()...)
	}
	all := slices.Concat([]string{"fwpcheck run", text.ShellQuote(path)}, k.at.Flags(), k.o.again(flags...))
	if path == "-" {
		all = append(all, "# with the script as standard input")
	}
	return strings.Join(all, " ")
}
