package explore

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/scenarios"
)

// showsAs says as what a finding of a history may show in a conversation that is short:
// the rule of the model that it would break there.
var showsAs = map[string]string{
	"FWP-STATE-05": "delivered", "FWP-STATE-06": "delivered", "FWP-ACK-02": "delivered",
	"FWP-RETRY-01": "delivered", "FWP-RETRY-03": "delivered",
	"FWP-PUSH-01": "missing", "FWP-PUSH-04": "missing", "FWP-STATE-04": "missing", "FWP-STATE-09": "missing",
	"FWP-FETCH-01": "swapped", "FWP-FETCH-04": "swapped", "FWP-RESP-06": "swapped",
	"FWP-WU-03": "field", "FWP-WU-04": "field",
}

// tell makes the findings of the history, and those that came up beside it, small. Each
// clause is told once.
func (m *crowd) tell(ctx context.Context, h *History) {
	shown := h.Report.Findings
	var first []Finding
	if h.Dead {
		f := m.crash(h)
		briefly, _, _ := strings.Cut(f.What, ";")
		first, shown = []Finding{f}, append([]history.Finding{{Breach: history.Breach(f.Rule), What: briefly}}, shown...)
	}
	if m.Recorded != nil && len(shown) > 0 {
		m.Recorded(h.History, shown)
	}
	for _, f := range first {
		m.add(ctx, h, f)
	}
	for _, f := range h.Report.Findings {
		m.add(ctx, h, Finding{Clause: model.ClauseOf(string(f.Breach)), Rule: inHistory, What: f.What, Commands: slices.Max(f.Events) + 1})
	}
	for _, key := range slices.Sorted(maps.Keys(m.others)) {
		f := m.others[key]
		if f.crash || h.Dead && slices.Contains(ofDeath, f.Rule) { // which is told
			continue
		}
		m.add(ctx, h, Finding{
			Clause: f.Clause, Rule: f.Rule, Expected: f.Expected, Got: f.Got, What: f.What, Commands: h.Commands,
		})
	}
}

// ofDeath are the rules of the model that a server breaks that dies: it leaves answers out,
// or ends amid them.
var ofDeath = []string{"grammar", "closed", "silent", "lingers"}

// add adds a finding, unless it is told already or there are enough.
func (m *crowd) add(ctx context.Context, h *History, f Finding) {
	told := func(clause string) bool {
		return slices.Contains(m.Known, clause) || slices.ContainsFunc(h.Findings, func(o Finding) bool { return o.Clause == clause })
	}
	if !f.Crash && told(f.Clause) || len(h.Findings) >= m.enough() {
		return
	}
	was := f.Clause
	switch {
	case m.Unshrunk:
		f.Unscripted = "it was not made small"
	case m.dead && m.Fresh == nil:
		f.Unscripted = "the server is gone, and nobody could be asked to start it again"
	default:
		m.Shorten(ctx, &f)
	}
	if f.Clause != was && told(f.Clause) { // it turned out to be another one that is known
		return
	}
	h.keep(f)
}

// keep takes a finding into what is told.
func (h *History) keep(f Finding) {
	f.Number = len(h.Findings) + 1
	h.Findings = append(h.Findings, f)
}

// inHistory is the rule of what breaks none of the model's by itself.
const inHistory = "history"

// manyCommands is after how many a fault is one that counts by the thousand, for which
// it takes thousands of jobs to see it again.
const manyCommands = 2000

// Shorten looks for a short conversation that shows what a crowd has found, and fills it
// in if there is one. It blocks, no longer than Shrinking says or until ctx is done.
func (e *Explorer) Shorten(ctx context.Context, f *Finding) {
	f.Unscripted = ""
	if f.Crash {
		e.outlive(ctx, f)
		return
	}
	rule := f.Rule
	if rule == inHistory {
		rule = showsAs[f.Clause]
	}
	switch {
	case rule == "":
		f.Unscripted = "it shows only in what many clients did, which is no conversation"
		return
	case ctx.Err() != nil:
		f.Unscripted = "there was no time to make it small"
		return
	}
	var start []Step
	if f.Commands > manyCommands || rule == "field" {
		start = oneJob(rule)
	}
	s := &shrinker{config: e.config(), fresh: e.Fresh, limit: e.Shrinking, target: found{
		Violation: &Violation{Clause: f.Clause, Rule: rule, JID: "-jid1"}, step: max(len(start)-1, 0),
	}}
	f.Whole.Steps = start
	s.shrink(ctx, f)
	f.Whole = Trace{} // what many clients did is no conversation
}

// oneJob is what a crowd does with a job: what shows with every job, or with every so
// many, shows there. Where jobs come too often it asks for one more; else that would wait
// for nothing, each time.
func oneJob(rule string) []Step {
	args := "[]"
	if rule == "field" {
		args = "[9007199254740993]" // as the args of a crowd
	}
	steps := []Step{
		{Kind: Open, Conn: firstFree, Role: scenarios.Consumer, Worker: 1},
		Line(firstFree, `PUSH {"jid":"$jid1","jobtype":"t","args":%s,"queue":"$queue1"}`, args),
		Line(firstFree, "FETCH $queue1"), Line(firstFree, `ACK {"jid":"$jid1"}`),
	}
	switch rule {
	case "delivered":
		return append(steps, Line(firstFree, "FETCH $queue1"))
	case "field":
		return steps[:3]
	}
	return steps
}
