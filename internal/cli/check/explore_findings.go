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

	server   outputSource   // of the first exploration and the load; nil if what it prints is not known
	printed  map[int]ending // of it when findings were found, by their number
	runs     map[int]string // files of whole runs, by the number of the finding
	history  string         // the file of the history of many clients
	startErr error          // why the server did not start again after a disruption
	kinds    []string       // of the findings in the report: those of a kind may have the same reason
	folder                  // of all files
}

// saveRun saves the exploration up to a finding, before it is shrunk.
func (k *findingStore) saveRun(f explore.Finding) {
	if k.runs == nil {
		k.runs = map[int]string{}
	}
	k.runs[f.Number] = k.save(k.p, f.Name(), ".run.json", f.Original.Save)
	k.p.Logf("%s after %s: %s%s", f.Name(), text.Count(f.Commands, "command"), summary(f),
		fileNote("the run", k.runs[f.Number]))
}

// outputSource is a started server whose output and end are known.
type outputSource interface {
	Ended() (words string, output []string, hasEnded bool)
	Output(from, to time.Time) []string
}

// outputSourceOf returns a target as one that was started; nil if it was not.
func outputSourceOf(t play.Target) outputSource {
	var server *target.Server
	switch s := t.(type) {
	case *target.Server:
		server = s
	case disruptTarget:
		server = s.Server
	case mortalServer:
		server = s.Server
	}
	if server == nil {
		return nil
	}
	s, _ := server.Operator.(outputSource)
	return s
}

// ending is what a server printed when something was found, and how its process ended, if it did.
type ending struct {
	output []string
	words  string
	death  string
}

// printWindow is how long before a finding a server may have printed why it closed a connection.
const printWindow = time.Second

// keep keeps what the server printed behind the command of a finding, and saves the run.
func (k *findingStore) keep(f explore.Finding) {
	k.keepOutput(f)
	k.saveRun(f)
}

// keepOutput keeps what the server printed where it died, was silent or closed a connection just now.
func (k *findingStore) keepOutput(f explore.Finding) {
	if k.printed == nil {
		k.printed = map[int]ending{}
	}
	from := time.Now().Add(-printWindow)
	switch rule, _, _ := strings.Cut(f.Rule, ":"); {
	case k.server == nil:
	case f.Crash:
		words, death := run.EndingOf(k.server.Ended())
		k.printed[f.Number] = ending{words: words, death: death}
		if words == "" { // it lives
			k.printed[f.Number] = ending{output: k.server.Output(from.Add(-k.o.timeout), time.Now())}
		}
	case rule == explore.RuleSilent || rule == explore.RuleNoGreeting:
		from = from.Add(-k.o.timeout)
		fallthrough
	case f.Got == scenarios.Closed.String():
		k.printed[f.Number] = ending{output: k.server.Output(from, time.Now())}
	}
}

// fileNote returns the end of a message about what was saved in a file, "" if it was not.
func fileNote(thing, file string) string {
	if file == "" {
		return ""
	}
	return "; " + thing + " is saved as " + file
}

// summary returns a finding in one line.
func summary(f explore.Finding) string {
	if f.Detail != "" {
		return f.Detail
	}
	return fmt.Sprintf("expected %.80q, got %.80q", f.Expected, f.Got)
}

// saveHistory saves the history of many clients.
func (k *findingStore) saveHistory(h *history.History, found []history.Finding) {
	breach := string(found[0].Breach)
	name := cmp.Or(registry.Default().ClauseOf(breach), breach)
	k.history = k.save(k.p, name, ".history.jsonl", h.Save)
	k.p.Logf("%s among concurrent workers: %s%s", name, found[0].Description, fileNote("the history", k.history))
}

// addResult adds the findings of an exploration to the report, and saves their scripts.
func (k *findingStore) addResult(e *reports.Exploration, r *explore.Result) {
	e.Commands, e.Judged, e.ConnLimit = e.Commands+r.Commands, e.Judged+r.Coverage.Answers, max(e.ConnLimit, r.Limit)
	switch k.addLoss(e, r.LostReason, len(r.Findings)); {
	case r.LostReason != "":
	case r.IsSilent:
		e.SilenceReason = fmt.Sprintf("new connections got no reply in time (--timeout %v, --time %v); for a slow "+
			"server, give "+
			"longer times", k.o.timeout, k.o.time)
	case r.IsRefused:
		e.SilenceReason = "every new connection was refused; stop other clients of the server, or raise its connection limit"
	}
	if r.IsRefusing && r.LostReason == "" {
		k.addUnserved(e, r)
	}
	e.Unread = cmp.Or(e.Unread, r.Coverage.Unread())
	k.addLeftover(e, r.LeftoverJobs)
	e.States, e.Transitions = addCounts(e.States, r.Coverage.States), addCounts(e.Transitions, r.Coverage.Transitions)
	e.Outcomes, e.Situations = addCounts(e.Outcomes, r.Coverage.Outcomes), addCounts(e.Situations, r.Coverage.Situations)
	for _, outage := range r.Outages {
		e.Outages = append(e.Outages, outage.String())
	}
	k.startErr = cmp.Or(k.startErr, r.NotStarted)
	if e.MissReason == "" && len(r.UnseenErrs) > 0 {
		e.MissReason = fmt.Sprintf("%s had no visible effect and decided nothing: %s",
			text.Count(len(r.UnseenErrs), "disruption"), text.OfError(r.UnseenErrs[0]))
	}
	for _, f := range r.Findings {
		if _, isSaved := k.runs[f.Number]; !isSaved {
			k.saveRun(f)
		}
		k.addFinding(e, f, k.runs[f.Number])
	}
	clear(k.printed)
	clear(k.runs) // the next exploration numbers its findings itself
}

// addUnserved adds to the report that new connections were not served when the exploration was over: that is a finding
// where it was asked long enough.
func (k *findingStore) addUnserved(e *reports.Exploration, r *explore.Result) {
	if r.UnservedWords == "" {
		e.Outages = append(e.Outages, "new connections were not served at the end of the run")
		return
	}
	found := reports.ExplorationFinding{Finding: reports.Finding{
		Verdict: reports.Crash, Statement: r.UnservedWords, Evidence: reports.Evidence{
			Check: "explore", Expected: "a server that serves", Actual: r.UnservedWords,
			NoScriptReason: "it was seen when the exploration was over, and not which command is the reason",
		},
	}, AfterCommands: r.Commands, Times: 1}
	if k.server != nil {
		found.Printed = k.server.Output(e.StartTime, time.Now())
	}
	e.Findings, k.kinds = append(e.Findings, found), append(k.kinds, explore.RuleCrash)
}

// addLoss adds to the report that a forwarder before the target may have ended. What was found counts nevertheless.
func (k *findingStore) addLoss(e *reports.Exploration, reason string, findings int) {
	if findings+len(e.Findings) == 0 {
		e.Unreachable = cmp.Or(e.Unreachable, reason)
	} else {
		e.SilenceReason = cmp.Or(reason, e.SilenceReason)
	}
}

// addStartFailure adds to the report that the server did not start again after it was stopped: there is no target any
// more, unless something was found before. A server that would serve in an empty folder does not start on its data.
func (k *findingStore) addStartFailure(e *reports.Exploration) {
	if k.startErr == nil {
		return
	}
	words := text.OfError(k.startErr)
	if startErr, ok := errors.AsType[*target.StartError](k.startErr); ok && startErr.StartsEmpty {
		e.Findings = append(e.Findings, reports.ExplorationFinding{
			AfterCommands: e.Commands,
			Finding: reports.Finding{Verdict: reports.Fail, Evidence: reports.Evidence{
				Check: run.StartsCheck, Expected: "a server that serves again after it was stopped", Actual: words,
				NoScriptReason: "a script cannot express it",
			}},
		})
	}
	if !slices.ContainsFunc(e.Findings, func(f reports.ExplorationFinding) bool { return f.Verdict.IsBreach() }) {
		e.Unreachable = words
		return
	}
	e.Outages = append(e.Outages, words)
}

// addCounts returns the sums of two maps.
func addCounts(a, b map[string]int) map[string]int {
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
	k.addLoss(e, r.ForwarderLoss, len(r.Findings))
	if r.IsUnserved {
		e.Outages = append(e.Outages, "no connection could be opened after the load of many clients")
	}
	k.addLeftover(e, r.UnaccountedJobs)
	for _, f := range r.Findings {
		if f.Crash { // it was the last that the load met
			k.keepOutput(f)
		}
		k.addFinding(e, f, k.history)
	}
	if k.err != nil {
		e.Internal = k.err.Error()
	}
}

// addLeftover adds jobs that are still on a server to the report; one that was started for it no longer exists.
func (k *findingStore) addLeftover(e *reports.Exploration, jobs []string) {
	if !k.at.IsPrivate() {
		e.LeftoverJobs = append(e.LeftoverJobs, jobs...)
	}
}

// addFinding writes one finding into the report.
func (k *findingStore) addFinding(e *reports.Exploration, f explore.Finding, runFile string) {
	found := reports.ExplorationFinding{
		Finding: reports.Finding{Clause: f.Clause, Verdict: reports.Fail, Premises: f.Premises, Evidence: reports.Evidence{
			Check: "explore", Expected: f.Expected, Actual: f.Got, Frequency: f.Detail, Script: f.Script,
			NoScriptReason: f.UnscriptedReason, LastSteps: f.Unshrunk}},
		AfterCommands: f.Commands, Times: f.Times, Places: f.Places, RunPath: runFile,
		Reproduced: f.Hits, Attempts: f.Tries,
	}
	output := k.printed[f.Number]
	if found.Printed = output.output; output.words != "" {
		found.Actual += "\n" + output.words
	}
	if f.Crash && found.Clause == "" {
		found.Statement = run.Loss(f.Looks, output.death, f.LikelyCause, "")
	}
	judge(&found.Finding, f)
	if f.Script != "" {
		found.ScriptPath = k.saveScript(k.p, f.Name(), f.Script, e.Version, target.Redact(k.at.String()), k.o.seed,
			e.StartTime)
		found.Reproduce = k.reproduce(cmp.Or(found.ScriptPath, "-"), f.Script)
		found.Control = k.control(f.Script)
	}
	if f.Script == "" && len(f.Unshrunk) > 0 {
		found.Saved = k.saveScript(k.p, f.Name(), unplayedText(f.Unshrunk), e.Version, target.Redact(k.at.String()), k.o.seed,
			e.StartTime)
		if found.Saved != "" {
			found.Reproduce = k.reproduce(found.Saved, strings.Join(f.Unshrunk, "\n"))
		}
	}
	if found.Control.IsBreach() { // it may be an error of fwpcheck
		found.Verdict = reports.Warn
	}
	e.Findings = append(e.Findings, found)
	k.kinds = append(k.kinds, kind(k.at.Entry.Alphabet(), f))
	if k.err != nil {
		e.Internal = k.err.Error()
	}
}

// judge gives a finding its level and verdict.
func judge(found *reports.Finding, f explore.Finding) {
	if c, ok := registry.Clause(f.Clause); ok {
		found.Level, found.Statement, found.Verdict = c.Level, c.Statement, c.BreachVerdict()
	}
	switch {
	case f.IsRecommendation:
		found.Level, found.Verdict = reports.LevelShould, reports.Warn
	case f.IsDoubtful && !f.Crash:
		found.Verdict = reports.Warn
	case f.Crash:
		found.Verdict = reports.Crash
	}
}

// unplayedText is the text of a script that was not played.
func unplayedText(lines []string) string {
	const comment = "# not played: the last steps before the finding; they may not reproduce it"
	return comment + "\n" + strings.Join(lines, "\n") + "\n"
}

// kind returns one name for all findings that the same bug of a server may show as: a job that is delivered twice is
// delivered while it is held, after its ACK or after its FAIL.
func kind(s *explore.Alphabet, f explore.Finding) string {
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
			isAlike := !f.Confirmed() && k.kinds[i] == k.kinds[j] && other.Clause != f.Clause
			follows := isAlike || slices.Contains(f.Premises, other.Clause)
			if follows && other.Confirmed() && other.Verdict == reports.Fail {
				f.Verdict, f.ExplainedBy = reports.Warn, other.Clause
				break
			}
		}
	}
}

var defaultFetch = regexp.MustCompile(`(?m)FETCH(.* default)?$`)

// reproduce returns the command that plays a script on the same server. A script without a file is read from standard
// input.
func (k *findingStore) reproduce(path, script string) string {
	var needs []scenarios.Need
	if parsed, err := scenarios.Parse(k.at.Entry.Dialect, path, []byte(script)); err == nil {
		needs = parsed.Needs
	}
	flags := []string{"bug", "variation"}
	switch {
	case k.at.IsPrivate():
	case k.o.allowsFlush && strings.Contains(script, ": FLUSH"):
		flags = append(flags, "allow-flush")
	case !k.o.allowsFlush && defaultFetch.MatchString(script):
		flags = append(flags, "exclusive")
	}
	needsOperator := func(n scenarios.Need) bool {
		return n == scenarios.NeedRestart || n == scenarios.NeedKill || n == scenarios.NeedSignals
	}
	if slices.ContainsFunc(needs, needsOperator) {
		flags = append(flags, k.o.operatorFlags.Names()...)
	}
	all := slices.Concat([]string{"fwpcheck run", text.ShellQuote(path)}, k.at.Flags(), k.o.flagWords(flags...))
	if path == "-" {
		all = append(all, "# with the script as standard input")
	}
	return strings.Join(all, " ")
}
