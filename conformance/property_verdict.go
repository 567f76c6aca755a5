package conformance

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// try tries a property once. What it saw is kept beside a run without lines, so that a
// limit of connections and a dead server are dealt with as for scripts.
func (s *session) try(ctx context.Context, t *task) {
	on := Trial{Password: t.server.Password, Alone: t.host == nil, Seed: s.Seed, Timeout: s.Timeout, Patience: s.Patience}
	if on.Timeout == 0 {
		on.Timeout = 10 * time.Second
	}
	door := &gate{Target: t.server.Target, host: t.server, patience: on.Timeout, start: time.Now()}
	if s.Watch != nil {
		door.watch = func(l scenarios.Line) { s.Watch(t.script.Name, l) }
	}
	on.Target = door
	if fresh := t.server.Fresh; fresh != nil {
		on.Fresh = func() (scenarios.Target, func(), error) {
			other, end, err := fresh()
			return other.Target, end, err
		}
	}
	sight := t.property.Run(ctx, on)
	refused := door.refusal()
	if sight.Dead && refused != nil && refused.All > 0 && door.served(ctx) { // it was at its limit
		sight.Dead = false
		sight.Findings = slices.DeleteFunc(sight.Findings, func(f explore.Finding) bool { return f.Crash })
		sight.Open = "the target refused a connection: " + refused.Got
	}
	run := &scenarios.Run{Script: t.script, Took: time.Since(door.start), Left: sight.Left, Refused: refused, Err: context.Cause(ctx)}
	if sight.Dead && sight.Served { // what served nobody has not died of it
		run.Dead, run.Amid = "no new connection is served", t.server.open()
	}
	if len(sight.Findings) > 0 || sight.why() != "" {
		run.Results = []scenarios.Result{{Outcome: scenarios.Unsure}} // it did not hold
	}
	t.run, t.sights[run] = run, sight
}

// seen turns what a property saw into what its check says; again means that another
// try, alone, may decide what lag kept this one from deciding.
func (s *session) seen(t *task) (check reports.Check, again bool) {
	run, sight := t.run, t.sights[t.run]
	v := &verdicts{session: s, run: run, host: t.server, check: reports.Check{
		ID: run.Script.Name, Title: run.Script.Title, Took: run.Took, Left: run.Left, Verdict: reports.Pass}}
	if sight.Open = sight.why(); sight.Open == "" && run.Err != nil {
		sight.Open = run.Err.Error()
	}
	if r := run.Refused; r != nil && r.All > 0 && sight.Open != "" { // others had all connections
		sight.Open = "the target has too few connections for this check and those beside it: it refused one: " + r.Got
	}
	lagged := s.meter.Lag(t.began) > lateness/4
	for _, f := range sight.Findings {
		if lagged && slices.Contains(clocked, f.Rule) {
			sight.Open, again = "this machine was too busy to tell whether a reply was late", true
			continue
		}
		v.explored(f, sight.Served)
	}
	if sight.Open != "" {
		v.check.Verdict, v.check.Why = reports.Worst(v.check.Verdict, reports.Inconclusive), sight.Open
	}
	v.conclude()
	if v.tooMany() {
		return v.check, false
	}
	return v.check, again && v.check.Verdict == reports.Inconclusive
}

// explored tells one finding of a property.
func (v *verdicts) explored(f explore.Finding, served bool) {
	m := scenarios.Mark{Clause: f.Clause}
	if f.Should {
		m.Level = string(reports.LevelShould)
	}
	verdict := reports.Fail
	if _, known := ClauseByID(f.Clause); known {
		verdict = breachOf(m)
	}
	if f.Crash && served {
		if !v.crash() {
			return
		}
		verdict = reports.Crash
	}
	got := f.Got
	if got == "" {
		got = f.What
	}
	cv := reports.ClauseVerdict{ID: f.Clause, Level: levelOf(m), Verdict: verdict, Why: got}
	switch i := slices.IndexFunc(v.check.Clauses, func(c reports.ClauseVerdict) bool { return c.ID == f.Clause }); {
	case f.Clause == "":
		v.check.Verdict = verdict
	case i < 0:
		v.check.Clauses = append(v.check.Clauses, cv)
	default:
		v.check.Clauses[i].Verdict = reports.Worst(v.check.Clauses[i].Verdict, verdict)
	}
	if !verdict.Breach() {
		return
	}
	v.finding(verdict, m, scenarios.Result{Expected: f.Expected, Got: f.Got, Cause: f.What})
	last := &v.check.Findings[len(v.check.Findings)-1]
	last.Got, last.Conversation = oneOrBoth(f.Got, f.What), shownBy(f)
}

// oneOrBoth joins what came and what is wrong with it.
func oneOrBoth(got, what string) string {
	if got == "" || what == "" {
		return got + what
	}
	return got + "; " + what
}

// shownBy is the script that shows a finding.
func shownBy(f explore.Finding) []reports.Line {
	if f.Script == "" {
		return nil
	}
	lines := []reports.Line{{From: reports.FromSuite, Text: "this script shows it:"}}
	for line := range strings.Lines(strings.TrimSpace(f.Script)) {
		lines = append(lines, reports.Line{From: reports.FromSuite, Text: strings.TrimRight(line, "\n")})
	}
	return lines
}
