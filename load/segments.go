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

// apart is how much later than the first one a part may begin. With --start-at they begin within a few milliseconds.
const apart = time.Second

// arrange returns the parts, with a row for each that says what is wrong with it, and one more for each segment that is
// in no file. The plan is the one that most of them have. It is an error if no part has a segment.
func arrange(parts []Part) ([]Part, error) {
	of := mostCommon(parts)
	if of == nil {
		return nil, errors.New("none of the files is a report of a segment (fwpbench run --segment)")
	}
	var first time.Time // when a load of them began
	for i := range parts {
		if began := began(&parts[i]); !began.IsZero() && (first.IsZero() || began.Before(first)) {
			first = began
		}
	}
	have := map[int]string{}
	for i := range parts {
		p := &parts[i]
		p.row = results.LoadPart{Name: p.Name, LeftOut: true, Wrong: p.Problem}
		if p.Report == nil {
			continue
		}
		p.row.Fill(p.Report)
		own, err := planOf(p.Report)
		if err == nil {
			err = own.differs(of)
		}
		other := have[own.segment.Index]
		switch {
		case err != nil:
			p.row.Wrong = "it has another plan: " + err.Error()
		case other != "":
			p.row.Wrong = fmt.Sprintf("%s is segment %v already", other, own.segment)
		default:
			have[own.segment.Index] = p.Name
			p.row.LeftOut, p.row.Wrong = false, p.incomplete(first)
		}
	}
	for i := range of.segment.Of {
		if have[i] == "" {
			segment := plan.Segment{Index: i, Of: of.segment.Of}.String()
			missing := Part{row: results.LoadPart{Segment: segment, LeftOut: true, Wrong: "its report is missing"}}
			parts = append(parts, missing)
		}
	}
	return parts, nil
}

// incomplete returns why a part that is in the sum is not what was planned, empty if it is. first is when the load of
// the first part began.
func (p *Part) incomplete(first time.Time) string {
	l := p.Report
	late := began(p).Sub(first)
	switch {
	case l.Interrupted:
		return "it was interrupted"
	case l.Unreachable != "":
		return "its load did not begin: the target was not reached: " + l.Unreachable
	case l.NotStarted != "":
		return "its load did not begin: " + l.NotStarted
	case l.LoadFrom.IsZero() && len(l.Validity.Reasons) > 0:
		return "its load did not begin: " + l.Validity.Reasons[0].What
	case l.LoadFrom.IsZero():
		return "its load did not begin"
	case late > apart:
		return fmt.Sprintf("its load began %s after the first one", reports.Duration(late))
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

// unknown returns what the account of the parts does not have, empty if it is whole.
func unknown(parts []Part) string {
	var missing, left []string
	for i := range parts {
		switch row := &parts[i].row; {
		case row.Name == "":
			missing = append(missing, row.Segment)
		case row.LeftOut && parts[i].Report != nil:
			left = append(left, row.Name)
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
	if left != nil {
		words = reports.JoinWith(", and ", words, "the jobs of "+strings.Join(left, ", ")+" are not counted")
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

// planOf returns the plan of a report. It is an error if it is that of no segment.
func planOf(l *results.Load) (p segmentPlan, err error) {
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
	for _, key := range shared {
		delete(p.settings, key)
	}
	return p, err
}

// differs returns the first thing by which a plan differs from another, nil if there is none.
func (p *segmentPlan) differs(from *segmentPlan) error {
	different := func(what string, is, others any) error {
		return fmt.Errorf("its %s is %v, the others have %v", what, is, others)
	}
	switch {
	case p.segment.Of != from.segment.Of:
		return different("number of segments", p.segment.Of, from.segment.Of)
	case p.seed != from.seed:
		return different("seed", p.seed, from.seed)
	case p.version != from.version:
		return different("version", p.version, from.version)
	case p.overload != from.overload:
		return different("overload", p.overload, from.overload)
	}
	all := maps.Clone(from.settings)
	maps.Copy(all, p.settings)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if p.settings[key] != from.settings[key] {
			return different(key, p.settings[key], from.settings[key])
		}
	}
	return nil
}

// mostCommon returns the plan that most of the parts have, the first of several; nil if no part has one.
func mostCommon(parts []Part) (most *segmentPlan) {
	var plans []*segmentPlan
	var counts []int
	for i := range parts {
		if parts[i].Report == nil {
			continue
		}
		own, err := planOf(parts[i].Report)
		if err != nil {
			continue
		}
		at := slices.IndexFunc(plans, func(known *segmentPlan) bool { return own.differs(known) == nil })
		if at < 0 {
			plans, counts, at = append(plans, &own), append(counts, 0), len(plans)
		}
		if counts[at]++; counts[at] == slices.Max(counts) && (most == nil || counts[at] > 1) {
			most = plans[at]
		}
	}
	return most
}
