package load

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
)

// Part is a file that should have the report of one of several generators.
type Part struct {
	Name    string
	Report  *results.Load // nil: it has none
	Problem string        // why not

	row results.LoadPart
}

// Join returns the report of a load whose segments several generators put on a server: what one process would have
// reported that sent it all. Counts are added up and histograms bucket by bucket; a row for each part has what is its
// own. It has no seconds, whose percentiles cannot be added. A part that is missing, there twice, late or of another
// plan is named, and the sum is INVALID. The thresholds of the parts, and further ones, are judged on the sum. It is an
// error if no part is a segment, or if histograms cannot be added up.
func Join(parts []Part, thresholds ...validity.Threshold) (*results.Load, error) {
	parts, err := arrange(slices.Clone(parts))
	if err != nil {
		return nil, err
	}
	l := new(results.Load)
	var counted []Part
	for i := range parts {
		if l.Parts = append(l.Parts, parts[i].row); !parts[i].row.LeftOut {
			addReport(l, &parts[i], len(counted) == 0)
			counted = append(counted, parts[i])
		}
	}
	if err := addHistograms(l, counted); err != nil {
		return nil, err
	}
	first := counted[0].Report
	l.Version, l.Seed, l.Target, l.Plan = first.Version, first.Seed, first.Target, joinedPlan(counted)
	l.Rate.Achieved = reports.PerSecond(l.Rate.Done, l.Measured)
	l.Jobs.InDoubt = min(l.Jobs.Missing, l.Jobs.InDoubt)
	l.Jobs.Unknown = unknown(parts)
	l.Jobs.Drained = l.Jobs.Drained && l.Jobs.Unknown == ""
	l.Interrupted = false // it is the part that was
	if !slices.ContainsFunc(counted, func(p Part) bool { return p.Report.Unreachable == "" }) {
		l.Unreachable = first.Unreachable
	}
	thresholds = thresholdsOf(counted, thresholds)
	if err := AddPercentiles(l, Wanted(thresholds, nil)...); err != nil {
		return nil, err
	}
	validity.Evaluate(l, thresholds...)
	return l, nil
}

// thresholdsOf returns some thresholds and those of all parts, each once.
func thresholdsOf(parts []Part, all []validity.Threshold) []validity.Threshold {
	all = slices.Clone(all)
	for _, part := range parts {
		for _, r := range part.Report.Thresholds {
			same := func(t validity.Threshold) bool { return t.Source == r.Threshold }
			t, err := validity.ParseThreshold(r.Threshold, Ops()...)
			if err == nil && !slices.ContainsFunc(all, same) {
				all = append(all, t)
			}
		}
	}
	return all
}

// addReport adds the counts of a part, to the sum of those before.
func addReport(l *results.Load, part *Part, first bool) {
	one := part.Report
	l.Run = strings.TrimPrefix(l.Run+"+"+one.Run, "+")
	if l.Started.IsZero() || one.Started.Before(l.Started) {
		l.Started = one.Started
	}
	if l.LoadFrom.IsZero() || !one.LoadFrom.IsZero() && one.LoadFrom.Before(l.LoadFrom) {
		l.LoadFrom = one.LoadFrom
	}
	results.Join(l, one)
	results.Join(&l.Connections, &one.Connections)
	results.Join(&l.Health, &one.Health)
	results.Join(&l.Rate, &one.Rate)
	for _, text := range []struct{ to, of *string }{
		{&l.Internal, &one.Internal}, {&l.Gone, &one.Gone}, {&l.GivenUp, &one.GivenUp}, {&l.Usage, &one.Usage},
		{&l.EndedEarly, &one.EndedEarly},
	} {
		if *text.to == "" && *text.of != "" {
			*text.to = part.row.Title() + ": " + *text.of
		}
	}
	addPhases(l, one)
	l.Gaps = commonGaps(l.Gaps, one.Gaps, first)
	l.Failed = commonFailures(l.Failed, one.Failed, first)
	if one.Due != nil {
		l.Due = cmp.Or(l.Due, new(results.JobsDue))
		results.Join(l.Due, one.Due)
		l.Due.Workers = one.Due.Workers && (l.Due.Workers || first)
	}
	addJobs(l, part, first)
	for i := range one.Findings {
		addFinding(l, &one.Findings[i])
	}
}

// commonGaps returns the spans in which none of the generators was answered; those of the first are all.
func commonGaps(known, more []results.Gap, first bool) (common []results.Gap) {
	if first {
		return more
	}
	for _, a := range known {
		for _, b := range more {
			g := results.Gap{From: max(a.From, b.From), Until: min(a.Until, b.Until), Empties: a.Empties || b.Empties}
			if g.Until-g.From >= gapLeast {
				common = append(common, g)
			}
		}
	}
	return common
}

// commonFailures returns the spans in which the commands of a kind failed for all generators; those of the first are
// all.
func commonFailures(known, more []results.FailedSpan, first bool) (common []results.FailedSpan) {
	if first {
		return more
	}
	for _, a := range known {
		for _, b := range more {
			s := results.FailedSpan{Op: a.Op, From: max(a.From, b.From), Until: min(a.Until, b.Until)}
			if a.Op == b.Op && s.Until-s.From >= gapLeast {
				common = append(common, s)
			}
		}
	}
	return common
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
func addJobs(l *results.Load, part *Part, first bool) {
	sum, one := &l.Jobs, &part.Report.Jobs
	results.Join(sum, one)
	none := one.Pushed+one.Doubtful == 0 // nothing is left on the server
	sum.Drained = (one.Drained || none) && (sum.Drained || first)
	if sum.NotDrained == "" && one.NotDrained != "" {
		sum.NotDrained = part.row.Title() + ": " + one.NotDrained
	}
}

// addFinding adds a finding to those of its kind.
func addFinding(l *results.Load, one *results.LoadFinding) {
	i := slices.IndexFunc(l.Findings, func(known results.LoadFinding) bool {
		return known.Kind == one.Kind && known.Breach == one.Breach && known.Clause == one.Clause && known.What == one.What
	})
	if i < 0 {
		added := *one
		added.JIDs, added.Pushed, added.Notes = slices.Clone(one.JIDs), slices.Clone(one.Pushed), slices.Clone(one.Notes)
		l.Findings = append(l.Findings, added)
		return
	}
	known := &l.Findings[i]
	room := max(0, results.FindingsKept-len(known.JIDs))
	if len(known.Pushed) == len(known.JIDs) && len(one.Pushed) == len(one.JIDs) {
		known.Pushed = append(known.Pushed, one.Pushed[:min(room, len(one.Pushed))]...)
	} else {
		known.Pushed = nil // not of all
	}
	known.JIDs = append(known.JIDs, one.JIDs[:min(room, len(one.JIDs))]...)
	known.Notes = append(known.Notes, one.Notes...)
	known.Notes = known.Notes[:min(len(known.Notes), results.FindingsKept)]
	known.Count += one.Count
	if known.More += one.More; len(one.JIDs) > room {
		known.More += int64(len(one.JIDs) - room)
	}
}

// addHistograms adds up the histograms of the parts, and makes the figures of the sum.
func addHistograms(l *results.Load, parts []Part) error {
	var logs []*measure.Log
	for _, part := range parts {
		if part.Report.Histograms == "" {
			continue
		}
		log, err := measure.ReadLog(part.Name, strings.NewReader(part.Report.Histograms))
		if err != nil {
			return fmt.Errorf("add up histograms: %w", err)
		}
		logs = append(logs, log)
	}
	if len(logs) == 0 {
		return nil
	}
	sum, err := measure.Merge(logs...)
	if err != nil {
		return fmt.Errorf("add up histograms: %w", err)
	}
	l.Ops, l.Flows = Figures(sum.Total)
	l.Histograms = Log(sum.Total, sum.Start, sum.Runs...)
	for i := range l.Ops {
		completeOp(l, &l.Ops[i], parts)
	}
	return nil
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
