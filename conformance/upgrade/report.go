package upgrade

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/text"
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
func (r *Result) Report(known func(id string) (conformance.Clause, bool)) *reports.Report {
	report := &reports.Report{Upgrade: &reports.Upgrade{How: r.How}}
	for i := range r.Steps {
		report.Upgrade.Steps = append(report.Upgrade.Steps, r.step(&r.Steps[i]))
	}
	index := r.index()
	for k, of := range stateWords {
		c := reports.Check{ID: checkPrefix + string(of.state), Title: of.words, Verdict: reports.NotApplicable}
		for i := range r.Steps {
			s := &report.Upgrade.Steps[i].States[k]
			if s.Jobs > 0 || s.Verdict.Breach() || !r.Steps[i].Done {
				c.Verdict = reports.Worst(c.Verdict, s.Verdict)
			}
			c.Findings = append(c.Findings, r.findings(i, of.state, index)...)
		}
		report.Checks = append(report.Checks, c)
	}
	report.Clauses = clauses(report.Checks, known)
	return report
}

// step returns a step with what became of the jobs of each state.
func (r *Result) step(s *Step) reports.UpgradeStep {
	step := reports.UpgradeStep{From: s.From, To: s.To, Back: s.Back, Down: s.Down}
	for _, of := range stateWords {
		state := reports.UpgradeState{
			State: string(of.state), Words: of.words, Jobs: s.Jobs[of.state], Fates: map[string]int{}, Verdict: reports.Pass,
		}
		kept, seen := state.Jobs, map[*Job]bool{}
		if !s.Done {
			kept, state.Verdict = 0, reports.Inconclusive
		}
		for i := range s.Facts {
			f := &s.Facts[i]
			if f.State != of.state {
				continue
			}
			state.Fates[string(f.Fate)]++
			state.Verdict = reports.Worst(state.Verdict, f.verdict(r.Killed))
			if f.Job != nil && f.Job.Step == s.number && !seen[f.Job] {
				kept--
				seen[f.Job] = true
			}
		}
		state.Fates[string(Kept)] = max(kept, 0)
		step.States = append(step.States, state)
	}
	return step
}

// index returns the events of each job that a fact is about, and those of the operator under "".
func (r *Result) index() map[string][]history.Event {
	all := map[string][]history.Event{"": nil}
	for _, s := range r.Steps {
		for _, f := range s.Facts {
			if f.Job != nil {
				all[f.Job.ID] = nil
			}
		}
	}
	for _, e := range r.History.Events {
		operated := e.Op == history.Restart || e.Op == history.Kill
		if events, wanted := all[e.JID]; wanted && (e.JID != "" || operated) {
			all[e.JID] = append(events, e)
		}
	}
	return all
}

// findings returns a finding for each fate that jobs of a state have in a step, with the conversation of the first one.
func (r *Result) findings(step int, state State, index map[string][]history.Event) (all []reports.Finding) {
	s := &r.Steps[step]
	for _, of := range rules {
		var same []*Fact
		for i := range s.Facts {
			if f := &s.Facts[i]; f.State == state && f.Fate == of.fate && f.verdict(r.Killed).Breach() {
				same = append(same, f)
			}
		}
		if len(same) == 0 {
			continue
		}
		first := same[0]
		f := reports.Finding{Clause: cmp.Or(first.Clause, r.clauses[of.fate]), Verdict: first.verdict(r.Killed)}
		f.Statement = fmt.Sprintf("upgrade: %s of %s that %s: %s", text.Count(len(same), "job"), state, of.words, s.name())
		f.Expected, f.Actual = first.Expected, first.Actual+named(same)
		if first.Job != nil {
			if r.Record != "" {
				f.Life = reports.LifeCommand(r.Record, first.Job.ID)
			}
			f.Conversation = conversation(first.Job, append(slices.Clone(index[""]), index[first.Job.ID]...))
		}
		all = append(all, f)
	}
	return all
}

func (s *Step) name() string { return s.From + " to " + s.To }

// named returns the names of the first jobs.
func named(facts []*Fact) string {
	const most = 3
	var jids []string
	for _, f := range facts[:min(most, len(facts))] {
		if f.Job != nil {
			jids = append(jids, f.Job.ID)
		}
	}
	if len(jids) == 0 {
		return ""
	}
	words := ": " + strings.Join(jids, ", ")
	if more := len(facts) - most; more > 0 {
		words += fmt.Sprintf(" and %d more", more)
	}
	return words
}

// answers stand for replies, of which a history has no more than the kind.
var answers = map[history.Outcome]string{history.OK: "+OK", history.Refused: "-ERR", history.Open: "(no reply)"}

// conversation returns the events of a job as lines.
func conversation(j *Job, events []history.Event) (lines []reports.Line) {
	slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.Call, b.Call) })
	for _, e := range events {
		if e.Op == history.Restart || e.Op == history.Kill {
			words := "the server is stopped, and the next one serves (" + e.Op.String() + ")"
			lines = append(lines, reports.Line{At: e.Call, From: reports.FromSuite, Text: words})
			continue
		}
		conn := cmp.Or(e.Worker, "client")
		jid, _ := json.Marshal(map[string]string{"jid": j.ID}) // a text always is JSON
		sent, answer := e.Op.String()+" "+string(jid), answers[e.Outcome]
		switch e.Op {
		case history.Push:
			sent = "PUSH " + string(j.Sent)
		case history.Fetch:
			sent, answer = "FETCH "+j.Queue, "$"+string(jid)
		default:
		}
		lines = append(lines,
			reports.Line{At: e.Call, Conn: conn, From: reports.FromClient, Text: text.Escape(text.Brief(sent, 300))},
			reports.Line{At: max(e.Return, e.Call), Conn: conn, From: reports.FromServer, Text: text.Escape(answer)})
	}
	return lines
}

// clauses returns the clauses that findings are about.
func clauses(checks []reports.Check, known func(id string) (conformance.Clause, bool)) (all []reports.Clause) {
	for _, c := range checks {
		for _, f := range c.Findings {
			i := slices.IndexFunc(all, func(c reports.Clause) bool { return c.ID == f.Clause })
			if of, is := known(f.Clause); i < 0 && is {
				i = len(all)
				all = append(all, reports.Clause{ID: of.ID, Level: of.Level, Section: of.Section, Statement: of.Statement,
					Verdict: f.Verdict})
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
