package crowd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
)

// RuleHistory is the rule of a finding in the history of many clients.
const RuleHistory = "history"

// report adds the findings of a load, one for each clause. gone: the server serves no more at the end.
func (l *Crowd) report(ctx context.Context, r *Result, done *load.Result, isGone bool) {
	findings := done.Examination.Findings
	var all []explore.Finding
	if isGone && r.ForwarderLoss == "" {
		f := crash(r.History)
		summary, _, _ := strings.Cut(f.Detail, ";")
		all = append(all, f)
		findings = append([]history.Finding{{Breach: history.Breach(f.Rule), Description: summary}}, findings...)
	}
	if l.OnHistory != nil && len(findings) > 0 {
		l.OnHistory(r.History, findings)
	}
	for _, f := range done.Examination.Findings {
		all = append(all, explore.Finding{
			Finding: conformance.Finding{Clause: fwpsuite.ClauseOf(string(f.Breach)), Detail: f.Description},
			Rule:    RuleHistory, Commands: slices.Max(f.Events) + 1,
		})
	}
	for _, f := range done.Report.Findings { // a server that ends leaves replies unfinished
		if !isGone && (f.Kind == results.FindingReply || f.Kind == results.FindingGrammar) {
			all = append(all, explore.Finding{
				Finding: conformance.Finding{
					Clause: fwpsuite.ClauseOf(f.Breach), Detail: f.Description, Got: strings.Join(f.Notes, "; "),
				},
				Rule: rules[f.Kind], Commands: r.Commands,
			})
		}
	}
	all = append(all, l.lawFindings(r, len(all) > 0)...)
	pool := explore.NewPool(l.Explorer.Shrinking)
	ctx, cancel := pool.Begin(ctx)
	defer cancel()
	for i, f := range all {
		e := l.Explorer
		e.Shrinking = pool.Share(len(all)-i, l.isKindKnown(f))
		l.add(ctx, &e, r, f)
	}
}

// lawFindings returns what the law found in the conversations. What follows a departure may follow from it, but for the
// values of a message.
func (l *Crowd) lawFindings(r *Result, hasDeparted bool) (all []explore.Finding) {
	for _, v := range r.Law {
		if !l.ExcludesLaw && (v.IsAboutValue || !hasDeparted) {
			all = append(all, explore.Finding{
				Finding: conformance.FindingOf(&v.Violation), Rule: v.Rule, Commands: r.Commands, IsDoubtful: v.IsUnproven(),
			})
		}
	}
	return all
}

// isKindKnown reports whether a finding of a history is of a kind that was reproduced already.
func (l *Crowd) isKindKnown(f explore.Finding) bool {
	rule := moves.RuleOf(f.Clause)
	return f.Rule == RuleHistory && rule != "" &&
		slices.ContainsFunc(l.ReproducedClauses, func(clause string) bool { return moves.RuleOf(clause) == rule })
}

// rules are the rules of the law that the findings of a load break.
var rules = map[results.FindingKind]string{results.FindingReply: "foreign", results.FindingGrammar: explore.RuleGrammar}

// add adds a finding that e shrinks, unless its clause is reported already or there are enough.
func (l *Crowd) add(ctx context.Context, e *explore.Explorer, r *Result, f explore.Finding) {
	reported := slices.Clone(l.ReportedClauses)
	for _, o := range r.Findings {
		reported = append(reported, o.Clause)
	}
	if !f.Crash && slices.Contains(reported, f.Clause) || len(r.Findings) >= max(1, e.Findings) {
		return
	}
	before := f.Clause
	switch {
	case e.SkipsShrinking:
		f.UnscriptedReason = "it was not shrunk"
	case r.IsDead && e.StartTarget == nil:
		f.UnscriptedReason = "the server is gone and cannot be restarted"
	default:
		Shorten(ctx, e, &f, reported...)
	}
	if f.IsDoubtful && f.Hits == 0 {
		return
	}
	if f.Clause != before && slices.Contains(reported, f.Clause) { // it is another finding after shrinking
		return
	}
	f.Number = len(r.Findings) + 1
	r.Findings = append(r.Findings, f)
}

// manyCommands is the number of commands after which a bug probably needs thousands of
// jobs to be reproduced.
const manyCommands = 2000

// Shorten looks for a short conversation that reproduces a finding of a load, and adds it
// to f if there is one; see [explore.Explorer.Shorten] for the clauses that are reported already.
// It blocks, no longer than e.Shrinking or until ctx is done.
func Shorten(ctx context.Context, e *explore.Explorer, f *explore.Finding, reported ...string) {
	if f.Crash {
		e.ShortenCrash(ctx, f)
		return
	}
	rule := f.Rule
	if rule == RuleHistory {
		rule = moves.RuleOf(f.Clause)
	}
	if rule == "" {
		f.UnscriptedReason = "it needs the calls of many clients, so no single conversation shows it"
		return
	}
	var start []explore.Step
	if f.Commands > manyCommands || f.Rule != RuleHistory || rule == "field" {
		start = moves.OneJob(rule)
	}
	e.Shorten(ctx, f, rule, start, reported...)
}

// crash returns the finding that the server crashed under load. It is not known which
// command was the cause; so it breaks no clause, and lists the commands without a reply.
func crash(h *history.History) explore.Finding {
	clients := map[int]bool{}
	var pending []string
	for _, e := range h.Events {
		clients[e.Client] = true
		if e.Outcome == history.NoReply {
			pending = append(pending, fmt.Sprintf("c%d: %s %s", e.Client, e.Op, e.JID))
		}
	}
	text := fmt.Sprintf("the server crashed while %d connections were in use", len(clients))
	if len(pending) > 0 {
		text += "; without a reply: " + strings.Join(pending[max(0, len(pending)-maxPending):], "; ")
	}
	return explore.Finding{
		Finding: conformance.Finding{
			Crash: true, Expected: "a server that serves", Got: "no new connection is served", Detail: text,
		},
		Rule: explore.RuleCrash, Commands: len(h.Events),
	}
}

const maxPending = 20 // calls that a crash lists
