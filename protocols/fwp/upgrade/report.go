package upgrade

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/reports"
)

// checkPrefix is how the ids of the checks begin: upgrade/enqueued.
const checkPrefix = "upgrade/"

// Checks returns the ids of the checks of a report.
func Checks() (ids []string) {
	for _, s := range stateWords {
		ids = append(ids, checkPrefix+string(s.state))
	}
	return ids
}

// Report returns what was found as a report, which has a check for each state. known returns the clause of an id.
func (r *Result) Report(clauseByID func(id string) (conformance.Clause, bool)) *reports.Report {
	report := &reports.Report{Upgrade: &reports.Upgrade{Method: r.StopMode}}
	for i := range r.Steps {
		r.setStates(&r.Steps[i])
		report.Upgrade.Steps = append(report.Upgrade.Steps, r.Steps[i].UpgradeStep)
	}
	for k, row := range stateWords {
		c := reports.Check{ID: checkPrefix + string(row.state), Title: row.words, Verdict: reports.NotApplicable}
		for i := range r.Steps {
			c.Verdict = reports.Worst(c.Verdict, report.Upgrade.Steps[i].States[k].Verdict)
			if c.Verdict == reports.Inconclusive && r.Steps[i].isLost[row.state] {
				c.Cause = lossReason
			}
			c.Findings = append(c.Findings, r.findings(i, row.state)...)
		}
		if c.Verdict == reports.Inconclusive && r.Err != nil && c.Cause == "" {
			c.Cause = text.OneLine(text.FirstLine(r.Err.Error()))
		}
		report.Checks = append(report.Checks, c)
	}
	report.Clauses = clauses(report.Checks, clauseByID)
	return report
}

// lossReason is why nothing is known of a state all of whose jobs are lost after a kill.
const lossReason = "the kill lost all of these jobs, so they do not show what the next server does; use --stop " +
	"order, or a server that stores jobs before it answers"

// setStates sets what became of the jobs of each state in a step, as far as it is known.
func (r *Result) setStates(s *Step) {
	s.findLosses()
	s.States = nil
	for _, row := range stateWords {
		state := reports.UpgradeState{State: string(row.state), Words: row.words, Verdict: reports.Inconclusive}
		if s.Jobs != nil {
			state.Jobs = new(s.Jobs[row.state])
		}
		state.Fates = r.fates(s, row.state, &state.Verdict)
		s.States = append(s.States, state)
	}
}

// fates returns how many jobs of a state have each fate, and sets the verdict to the worst one.
func (r *Result) fates(s *Step, state State, verdict *reports.Verdict) map[string]int {
	fates, other := map[string]int{}, map[*Job]bool{}
	if s.IsDone {
		*verdict = reports.Pass
		for _, row := range rules {
			fates[string(row.fate)] = 0
		}
	}
	for i := range s.Facts {
		f := &s.Facts[i]
		if f.State != state {
			continue
		}
		*verdict = reports.Worst(*verdict, r.verdict(s, f))
		if f.Fate == FateUnknown && f.Job == nil { // it is about the reply only
			continue
		}
		fates[string(f.Fate)]++
		if f.Job != nil && f.Job.Step == s.number {
			other[f.Job] = true
		}
	}
	if s.IsDone && fates[string(FateCount)] == 0 { // else no more is known of jobs that no command shows
		fates[string(FateKept)] = max(s.Jobs[state]-len(other), 0)
	}
	*verdict = s.stateVerdict(state, *verdict)
	return fates
}

// stateVerdict returns the verdict on a state: there is none without jobs, and none where a kill lost all of them.
func (s *Step) stateVerdict(state State, v reports.Verdict) reports.Verdict {
	switch {
	case s.IsDone && s.Jobs[state] == 0 && v == reports.Pass:
		return reports.NotApplicable
	case s.isLost[state] && v == reports.Warn:
		return reports.Inconclusive
	}
	return v
}

// findings returns a finding for each fate that jobs of a state have in a step, with the conversation of the first one.
func (r *Result) findings(step int, state State) (all []reports.Finding) {
	s := &r.Steps[step]
	for _, row := range rules {
		var facts []*Fact
		for i := range s.Facts {
			if f := &s.Facts[i]; f.State == state && f.Fate == row.fate && r.verdict(s, f).IsBreach() {
				facts = append(facts, f)
			}
		}
		if len(facts) == 0 {
			continue
		}
		first := facts[0]
		f := reports.Finding{
			Clause: cmp.Or(first.Clause, row.clause), Verdict: r.verdict(s, first), Statement: r.statement(step, row),
		}
		f.Step = step + 1
		f.Expected, f.Actual = first.Expected, first.Actual+jidText(facts)
		if first.Job != nil {
			if r.Record != "" {
				f.Life = reports.LifeCommand(r.Record, first.Job.ID)
			}
			f.Conversation = r.conversation(first.Job)
		}
		all = append(all, f)
	}
	return all
}

// statement returns how many jobs have a fate in a step, and their states.
func (r *Result) statement(step int, row rule) string {
	s, n, states := &r.Steps[step], 0, []string(nil)
	for i := range s.Facts {
		if f := &s.Facts[i]; f.Fate == row.fate && r.verdict(s, f).IsBreach() {
			if n++; !slices.Contains(states, string(f.State)) {
				states = append(states, string(f.State))
			}
		}
	}
	return fmt.Sprintf("step %d: %s %s (%s): %s to %s", step+1, text.Count(n, "job"), row.words,
		strings.Join(states, ", "), s.From, s.To)
}

// jidText returns the names of the first jobs.
func jidText(facts []*Fact) string {
	const limit = 3
	var jids []string
	for _, f := range facts[:min(limit, len(facts))] {
		if f.Job != nil {
			jids = append(jids, f.Job.ID)
		}
	}
	if len(jids) == 0 {
		return ""
	}
	words := ": " + strings.Join(jids, ", ")
	if rest := len(facts) - limit; rest > 0 {
		words += fmt.Sprintf(" and %d more", rest)
	}
	return words
}

// answers stand for replies, of which a history has no more than the kind.
var answers = map[history.Outcome]string{history.OK: "+OK", history.Refused: "-ERR", history.NoReply: "(no reply)"}

// conversation returns the events of a job, and those of the operator, as lines.
func (r *Result) conversation(j *Job) (lines []reports.Line) {
	jid, _ := json.Marshal(map[string]string{"jid": j.ID}) // a text always is JSON
	for _, e := range r.History.Events {
		if e.Op.IsOperatorAction() {
			words := "the server is stopped, and the next one is ready (" + e.Op.String() + ")"
			lines = append(lines, reports.Line{At: e.Call, From: reports.FromSuite, Text: words})
		}
		if e.JID != j.ID {
			continue
		}
		sent, answer := e.Op.String()+" "+string(jid), answers[e.Outcome]
		switch e.Op {
		case history.Push:
			sent = "PUSH " + string(j.Unit)
		case history.Fetch:
			sent, answer = "FETCH "+j.Queue, "$"+string(jid)
		default:
		}
		conn := cmp.Or(e.Worker, "client")
		lines = append(lines,
			reports.Line{At: e.Call, Conn: conn, From: reports.FromClient, Text: text.Escape(text.Brief(sent, 300))},
			reports.Line{At: max(e.Return, e.Call), Conn: conn, From: reports.FromServer, Text: text.Escape(answer)})
	}
	return lines
}

// clauses returns the clauses that findings are about.
func clauses(checks []reports.Check, clauseByID func(id string) (conformance.Clause, bool)) (all []reports.Clause) {
	for _, c := range checks {
		for _, f := range c.Findings {
			i := slices.IndexFunc(all, func(c reports.Clause) bool { return c.ID == f.Clause })
			if clause, ok := clauseByID(f.Clause); i < 0 && ok {
				i = len(all)
				all = append(all, reports.Clause{ID: clause.ID, Level: clause.Level, Section: clause.Section,
					Statement: clause.Statement,
					Verdict:   f.Verdict})
			}
			if i >= 0 {
				all[i].Verdict = reports.Worst(all[i].Verdict, f.Verdict)
				if !slices.Contains(all[i].Checks, c.ID) {
					all[i].Checks = append(all[i].Checks, c.ID)
				}
			}
		}
	}
	return all
}
