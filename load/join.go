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
		if l.Parts = append(l.Parts, parts[i].row); !parts[i].row.IsLeftOut {
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
	l.Jobs.UncountedParts = uncountedParts(parts)
	l.Jobs.IsDrained = l.Jobs.IsDrained && l.Jobs.UncountedParts == ""
	l.Interrupted = false // it is the part that was
	if !slices.ContainsFunc(counted, func(p Part) bool { return p.Report.Unreachable == "" }) {
		l.Unreachable = first.Unreachable
	}
	thresholds = thresholdsOf(counted, thresholds)
	if err := AddPercentiles(l, ExtraPercentiles(thresholds, nil)...); err != nil {
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
func addReport(l *results.Load, part *Part, isFirst bool) {
	report := part.Report
	l.Run = strings.TrimPrefix(l.Run+"+"+report.Run, "+")
	if l.StartTime.IsZero() || report.StartTime.Before(l.StartTime) {
		l.StartTime = report.StartTime
	}
	if l.LoadFrom.IsZero() || !report.LoadFrom.IsZero() && report.LoadFrom.Before(l.LoadFrom) {
		l.LoadFrom = report.LoadFrom
	}
	results.Join(l, report)
	results.Join(&l.Connections, &report.Connections)
	results.Join(&l.Health, &report.Health)
	results.Join(&l.Rate, &report.Rate)
	for _, text := range []struct{ to, from *string }{
		{&l.Internal, &report.Internal}, {&l.GoneReason, &report.GoneReason}, {&l.GivenUp, &report.GivenUp},
		{&l.Usage, &report.Usage},
		{&l.AbortReason, &report.AbortReason},
	} {
		if *text.to == "" && *text.from != "" {
			*text.to = part.row.Title() + ": " + *text.from
		}
	}
	addPhases(l, report)
	l.Gaps = commonGaps(l.Gaps, report.Gaps, isFirst)
	l.FailedSpans = commonFailures(l.FailedSpans, report.FailedSpans, isFirst)
	if report.JobsDue != nil {
		l.JobsDue = cmp.Or(l.JobsDue, new(results.JobsDue))
		results.Join(l.JobsDue, report.JobsDue)
		l.JobsDue.WorkersAreBusy = report.JobsDue.WorkersAreBusy && (l.JobsDue.WorkersAreBusy || isFirst)
	}
	addJobs(l, part, isFirst)
	for i := range report.Findings {
		addFinding(l, &report.Findings[i])
	}
}

// commonGaps returns the spans in which none of the generators was answered; those of the first are all.
func commonGaps(sum, part []results.Gap, isFirst bool) (common []results.Gap) {
	if isFirst {
		return part
	}
	for _, a := range sum {
		for _, b := range part {
			g := results.Gap{From: max(a.From, b.From), Until: min(a.Until, b.Until), HasEmptyFetches: a.HasEmptyFetches ||
				b.HasEmptyFetches}
			if g.Until-g.From >= minGap {
				common = append(common, g)
			}
		}
	}
	return common
}

// commonFailures returns the spans in which the commands of a kind failed for all generators; those of the first are
// all.
func commonFailures(sum, part []results.FailedSpan, isFirst bool) (common []results.FailedSpan) {
	if isFirst {
		return part
	}
	for _, a := range sum {
		for _, b := range part {
			s := results.FailedSpan{Op: a.Op, From: max(a.From, b.From), Until: min(a.Until, b.Until)}
			if a.Op == b.Op && s.Until-s.From >= minGap {
				common = append(common, s)
			}
		}
	}
	return common
}

// addPhases widens the phases so that they contain those of one.
func addPhases(l *results.Load, report *results.Load) {
	for _, p := range report.Phases {
		p.Note = ""
		i := slices.IndexFunc(l.Phases, func(phase results.Phase) bool { return phase.Name == p.Name })
		if i < 0 {
			l.Phases = append(l.Phases, p)
			continue
		}
		phase := &l.Phases[i]
		until := max(phase.From+phase.Took, p.From+p.Took)
		phase.From = min(phase.From, p.From)
		phase.Took = until - phase.From
	}
}

// addJobs adds the account of a part. The sum is drained if all parts are.
func addJobs(l *results.Load, part *Part, isFirst bool) {
	sum, jobs := &l.Jobs, &part.Report.Jobs
	results.Join(sum, jobs)
	isEmpty := jobs.Pushed+jobs.Doubtful == 0 // nothing is left on the server
	sum.IsDrained = (jobs.IsDrained || isEmpty) && (sum.IsDrained || isFirst)
	if sum.DrainFailure == "" && jobs.DrainFailure != "" {
		sum.DrainFailure = part.row.Title() + ": " + jobs.DrainFailure
	}
}

// addFinding adds a finding to those of its kind.
func addFinding(l *results.Load, f *results.LoadFinding) {
	i := slices.IndexFunc(l.Findings, func(sum results.LoadFinding) bool {
		return sum.Kind == f.Kind && sum.Breach == f.Breach && sum.Clause == f.Clause && sum.Description == f.Description
	})
	if i < 0 {
		added := *f
		added.JIDs, added.Pushed, added.Notes = slices.Clone(f.JIDs), slices.Clone(f.Pushed), slices.Clone(f.Notes)
		l.Findings = append(l.Findings, added)
		return
	}
	sum := &l.Findings[i]
	room := max(0, results.MaxJIDs-len(sum.JIDs))
	if len(sum.Pushed) == len(sum.JIDs) && len(f.Pushed) == len(f.JIDs) {
		sum.Pushed = append(sum.Pushed, f.Pushed[:min(room, len(f.Pushed))]...)
	} else {
		sum.Pushed = nil // not of all
	}
	sum.JIDs = append(sum.JIDs, f.JIDs[:min(room, len(f.JIDs))]...)
	sum.Notes = append(sum.Notes, f.Notes...)
	sum.Notes = sum.Notes[:min(len(sum.Notes), results.MaxJIDs)]
	sum.Count += f.Count
	if sum.MoreJIDs += f.MoreJIDs; len(f.JIDs) > room {
		sum.MoreJIDs += int64(len(f.JIDs) - room)
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
		i := slices.IndexFunc(part.Report.Ops, func(op results.LoadOp) bool { return op.Op == o.Op })
		if i < 0 {
			continue
		}
		op := &part.Report.Ops[i]
		if op.Rate > 0 {
			o.Rate = reports.PerSecond(o.Count, l.Measured)
		}
		for k := range o.Errors {
			for _, e := range op.Errors {
				if e.Kind == o.Errors[k].Kind && o.Errors[k].Example == "" {
					o.Errors[k].Example = e.Example
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
		partPlan := &part.Report.Plan
		results.Join(&plan, partPlan)
		if json.Unmarshal(partPlan.Workload, &settings) != nil {
			continue
		}
		for _, key := range sharedSettings {
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

// sharedSettings are the settings of a workload of which each segment has a share.
var sharedSettings = [...]string{"producers", "consumers", "connections", "observers"}
