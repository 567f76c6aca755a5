package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/load/judge"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// Part is what one of several generators reported. Of Agent, the Name must be set, and Clock and Lost if there is
// anything to say; Join sets the rest.
type Part struct {
	Agent   results.LoadAgent
	Report  *results.Load
	Account []byte // where jobs cross: that of its Result; nil if it is lost
}

// Join returns the report of a load whose segments several generators put on a server: what one process would have
// reported that sent it all. Counts are added up and histograms bucket by bucket; a row for each generator has what is
// its own. It has no seconds, whose percentiles cannot be added: a caller that has the sets of each second can add
// them. The error is one of histograms that cannot be added up.
func Join(parts []Part) (*Result, error) {
	if len(parts) == 0 {
		return nil, errors.New("no reports to join")
	}
	first := parts[0].Report
	l := &results.Load{Version: first.Version, Seed: first.Seed, Target: first.Target, Plan: first.Plan}
	for i := range parts {
		addReport(l, &parts[i])
	}
	total, err := addHistograms(l, parts)
	if err != nil {
		return nil, err
	}
	l.Plan = joinedPlan(parts)
	l.Rate.Target = reports.PerSecond(l.Rate.Planned, l.Measured)
	l.Rate.Achieved = reports.PerSecond(l.Rate.Done, l.Measured)
	l.Jobs.InDoubt = min(l.Jobs.Missing, l.Jobs.InDoubt)
	judge.Evaluate(l)
	return &Result{Report: l, Total: total}, nil
}

// addReport adds the counts of a report.
func addReport(l *results.Load, part *Part) {
	one := part.Report
	part.Agent.Fill(one)
	l.Agents = append(l.Agents, part.Agent)
	l.Run = strings.TrimPrefix(l.Run+"+"+one.Run, "+")
	if l.Started.IsZero() || one.Started.Before(l.Started) {
		l.Started = one.Started
	}
	results.Join(l, one)
	results.Join(&l.Connections, &one.Connections)
	results.Join(&l.Health, &one.Health)
	l.Rate.Add(&one.Rate)
	for _, text := range []struct{ to, of *string }{
		{&l.Internal, &one.Internal}, {&l.Unreachable, &one.Unreachable}, {&l.Gone, &one.Gone},
		{&l.NotStarted, &one.NotStarted}, {&l.Usage, &one.Usage},
	} {
		if *text.to == "" && *text.of != "" {
			*text.to = "agent " + part.Agent.Name + ": " + *text.of
		}
	}
	addPhases(l, one)
	addJobs(l, part)
	for i := range one.Findings {
		addFinding(l, &one.Findings[i])
	}
}

// addPhases widens the phases so that they contain those of one.
func addPhases(l *results.Load, one *results.Load) {
	for _, p := range one.Phases {
		p.Note = ""
		i := slices.IndexFunc(l.Phases, func(known results.Phase) bool { return known.Name == p.Name })
		if i < 0 {
			l.Phases = append(l.Phases, p)
			continue
		}
		known := &l.Phases[i]
		until := max(known.From+known.Took, p.From+p.Took)
		known.From = min(known.From, p.From)
		known.Took = until - known.From
	}
}

// addJobs adds the account of a part. The sum is drained if all parts are.
func addJobs(l *results.Load, part *Part) {
	sum, one := &l.Jobs, &part.Report.Jobs
	results.Join(sum, one)
	sum.Drained = one.Drained && (sum.Drained || len(l.Agents) == 1)
	if sum.NotDrained == "" && one.NotDrained != "" {
		sum.NotDrained = "agent " + part.Agent.Name + ": " + one.NotDrained
	}
}

// addFinding adds a finding to those of its kind.
func addFinding(l *results.Load, one *results.LoadFinding) {
	i := slices.IndexFunc(l.Findings, func(known results.LoadFinding) bool {
		return known.Kind == one.Kind && known.Breach == one.Breach && known.Clause == one.Clause && known.What == one.What
	})
	if i < 0 {
		added := *one
		added.JIDs, added.Notes = slices.Clone(one.JIDs), slices.Clone(one.Notes)
		l.Findings = append(l.Findings, added)
		return
	}
	known := &l.Findings[i]
	room := max(0, results.FindingsKept-len(known.JIDs))
	known.JIDs = append(known.JIDs, one.JIDs[:min(room, len(one.JIDs))]...)
	known.Notes = append(known.Notes, one.Notes...)
	known.Notes = known.Notes[:min(len(known.Notes), results.FindingsKept)]
	known.Count += one.Count
	if known.More += one.More; len(one.JIDs) > room {
		known.More += int64(len(one.JIDs) - room)
	}
}

// addHistograms adds up the histograms of the parts, and makes the figures of the sum.
func addHistograms(l *results.Load, parts []Part) (*measure.Set, error) {
	var logs []*measure.LogReader
	var runs []string
	for _, part := range parts {
		if part.Report.Histograms != "" {
			logs = append(logs, measure.NewLogReader(part.Agent.Name, strings.NewReader(part.Report.Histograms)))
			runs = append(runs, part.Report.Run)
		}
	}
	if len(logs) == 0 {
		return nil, nil
	}
	total, err := measure.Merge(nil, logs...)
	if err != nil {
		return nil, fmt.Errorf("add up histograms: %w", err)
	}
	began := logs[0].Start()
	for _, log := range logs {
		if log.Start().Before(began) {
			began = log.Start()
		}
	}
	l.Ops, l.Flows = Figures(total)
	l.Histograms = Log(total, began, runs...)
	for i := range l.Ops {
		completeOp(l, &l.Ops[i], parts)
	}
	return total, nil
}

// completeOp sets what histograms do not have: the rate of a kind of command, and examples of its errors.
func completeOp(l *results.Load, o *results.LoadOp, parts []Part) {
	for _, part := range parts {
		i := slices.IndexFunc(part.Report.Ops, func(one results.LoadOp) bool { return one.Op == o.Op })
		if i < 0 {
			continue
		}
		one := &part.Report.Ops[i]
		if one.Rate > 0 {
			o.Rate = reports.PerSecond(o.Count, l.Measured)
		}
		for k := range o.Errors {
			for _, known := range one.Errors {
				if known.Kind == o.Errors[k].Kind && o.Errors[k].Example == "" {
					o.Errors[k].Example = known.Example
				}
			}
		}
	}
}

// joinedPlan returns the plan of the whole load.
func joinedPlan(parts []Part) results.LoadPlan {
	plan := parts[0].Report.Plan
	plan.Words = fmt.Sprintf("%d segments, the first of them: %s", len(parts), plan.Words)
	plan.Segment, plan.Producers, plan.Consumers, plan.Idle = "", 0, 0, 0
	settings := map[string]string{}
	sums := map[string]int{}
	for _, part := range parts {
		one := &part.Report.Plan
		results.Join(&plan, one)
		if json.Unmarshal(one.Workload, &settings) != nil {
			continue
		}
		for _, key := range shared {
			n, _ := strconv.Atoi(settings[key]) // what is not there is none
			sums[key] += n
		}
	}
	for key, n := range sums {
		settings[key] = strconv.Itoa(n)
	}
	if text, err := json.Marshal(settings); err == nil && len(sums) > 0 {
		plan.Workload = text
	}
	return plan
}

// shared are the settings of a workload of which each segment has a share.
var shared = [...]string{"producers", "consumers", "connections", "observers"}
