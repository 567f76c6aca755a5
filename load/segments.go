package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// startTolerance is how much later than the first one a part may begin. With --start-at they begin within a few
// milliseconds.
const startTolerance = time.Second

// arrange returns the parts, with a row for each that says what is wrong with it, and one more for each segment that is
// in no file. The plan is the one that most of them have. It is an error if no part has a segment.
func arrange(parts []Part) ([]Part, error) {
	common := commonPlan(parts)
	if common == nil {
		return nil, errors.New("none of the files is a report of a segment (fwpbench run --segment)")
	}
	var first time.Time // when a load of them began
	for i := range parts {
		if began := began(&parts[i]); !began.IsZero() && (first.IsZero() || began.Before(first)) {
			first = began
		}
	}
	files := map[int]string{}
	for i := range parts {
		p := &parts[i]
		p.row = results.LoadPart{Name: p.Name, IsLeftOut: true, Problem: p.Problem}
		if p.Report == nil {
			continue
		}
		p.row.Fill(p.Report)
		partPlan, err := segmentPlanOf(p.Report)
		if err == nil {
			err = partPlan.differs(common)
		}
		other := files[partPlan.segment.Index]
		switch {
		case err != nil:
			p.row.Problem = "it has another plan: " + err.Error()
		case other != "":
			p.row.Problem = fmt.Sprintf("%s is segment %v already", other, partPlan.segment)
		default:
			files[partPlan.segment.Index] = p.Name
			p.row.IsLeftOut, p.row.Problem = false, p.incomplete(first)
		}
	}
	for i := range common.segment.Count {
		if files[i] == "" {
			segment := plan.Segment{Index: i, Count: common.segment.Count}.String()
			missing := Part{row: results.LoadPart{Segment: segment, IsLeftOut: true, Problem: "its report is missing"}}
			parts = append(parts, missing)
		}
	}
	return parts, nil
}

// incomplete returns why a part that is in the sum is not what was planned, empty if it is. first is when the load of
// the first part began.
func (p *Part) incomplete(first time.Time) string {
	l := p.Report
	delay := began(p).Sub(first)
	switch {
	case l.Interrupted:
		return "it was interrupted"
	case l.Unreachable != "":
		return "its load did not begin: the target was not reached: " + l.Unreachable
	case l.StartFailure != "":
		return "its load did not begin: " + l.StartFailure
	case l.LoadFrom.IsZero() && len(l.Validity.Reasons) > 0:
		return "its load did not begin: " + l.Validity.Reasons[0].Description
	case l.LoadFrom.IsZero():
		return "its load did not begin"
	case delay > startTolerance:
		return fmt.Sprintf("its load began %s after the first one", reports.Duration(delay))
	}
	return ""
}

// began returns when the load of a part began, by the clock of the target if its jobs tell how far that is from the
// clock of the generator; zero if it did not.
func began(p *Part) time.Time {
	switch {
	case p.Report == nil || p.Report.LoadFrom.IsZero():
		return time.Time{}
	case p.Report.ServerClock != nil:
		return p.Report.LoadFrom.Add(p.Report.ServerClock.Ahead)
	}
	return p.Report.LoadFrom
}

// uncountedParts returns what the account of the parts does not have, empty if it is whole.
func uncountedParts(parts []Part) string {
	var missing, leftOut []string
	for i := range parts {
		switch row := &parts[i].row; {
		case row.Name == "":
			missing = append(missing, row.Segment)
		case row.IsLeftOut && parts[i].Report != nil:
			leftOut = append(leftOut, row.Name)
		}
	}
	words := ""
	switch len(missing) {
	case 0:
	case 1:
		words = "what segment " + missing[0] + " did is not known"
	default:
		words = "what segments " + strings.Join(missing, ", ") + " did is not known"
	}
	if leftOut != nil {
		words = reports.JoinWith(", and ", words, "the jobs of "+strings.Join(leftOut, ", ")+" are not counted")
	}
	return words
}

// segmentPlan is what all segments of a load have in common, and which of them one is.
type segmentPlan struct {
	segment  plan.Segment
	seed     uint64
	version  string
	overload string
	settings map[string]string
}

// segmentPlanOf returns the plan of a report. It is an error if it is that of no segment.
func segmentPlanOf(l *results.Load) (p segmentPlan, err error) {
	p = segmentPlan{seed: l.Seed, version: l.Version, overload: l.Plan.Overload, settings: map[string]string{}}
	if l.Plan.Segment == "" {
		return p, errors.New("it is not a segment")
	}
	if p.segment, err = plan.ParseSegment(l.Plan.Segment); err != nil {
		return p, err
	}
	if l.Plan.Workload != nil {
		err = json.Unmarshal(l.Plan.Workload, &p.settings)
	}
	for _, key := range sharedSettings {
		delete(p.settings, key)
	}
	return p, err
}

// differs returns the first thing by which a plan differs from another, nil if there is none.
func (p *segmentPlan) differs(other *segmentPlan) error {
	different := func(name string, value, others any) error {
		return fmt.Errorf("its %s is %v, the others have %v", name, value, others)
	}
	switch {
	case p.segment.Count != other.segment.Count:
		return different("number of segments", p.segment.Count, other.segment.Count)
	case p.seed != other.seed:
		return different("seed", p.seed, other.seed)
	case p.version != other.version:
		return different("version", p.version, other.version)
	case p.overload != other.overload:
		return different("overload", p.overload, other.overload)
	}
	all := maps.Clone(other.settings)
	maps.Copy(all, p.settings)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if p.settings[key] != other.settings[key] {
			return different(key, p.settings[key], other.settings[key])
		}
	}
	return nil
}

// commonPlan returns the plan that most of the parts have, the first of several; nil if no part has one.
func commonPlan(parts []Part) (common *segmentPlan) {
	var plans []*segmentPlan
	var counts []int
	for i := range parts {
		if parts[i].Report == nil {
			continue
		}
		partPlan, err := segmentPlanOf(parts[i].Report)
		if err != nil {
			continue
		}
		at := slices.IndexFunc(plans, func(other *segmentPlan) bool { return partPlan.differs(other) == nil })
		if at < 0 {
			plans, counts, at = append(plans, &partPlan), append(counts, 0), len(plans)
		}
		if counts[at]++; counts[at] == slices.Max(counts) && (common == nil || counts[at] > 1) {
			common = plans[at]
		}
	}
	return common
}
