package results

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// LoadCapacitySchema is the Schema of every LoadCapacity.
const LoadCapacitySchema = "fwpbench-capacity/1"

// LoadCapacity is the result of a search for the highest rate that a target sustains. Durations are nanoseconds in
// JSON, in keys that end in _ns; rates are a second. It is plain data without locks.
type LoadCapacity struct {
	reports.Head
	Target LoadTarget `json:"target"`
	// Machine is what the generator ran on.
	Machine Machine `json:"machine"`
	// Plan is the load of a step, in words.
	Plan string `json:"plan,omitempty"`
	// Thresholds holds what a rate has to meet to hold, beside that it is achieved.
	Thresholds []string `json:"thresholds"`
	// Precision is how near Rate and FailedRate were to be, as a share.
	Precision float64 `json:"precision"`
	// Rate is the highest rate that held, 0 if none did; IsConfirmed is set if it held in the confirmation as well, which
	// is a step that lasts for Confirm.
	Rate        float64       `json:"rate_per_s"`
	IsConfirmed bool          `json:"confirmed"`
	Confirm     time.Duration `json:"confirm_ns,omitempty"`
	// WorkersFetched is set if workers fetched in the steps: then Rate is what they acknowledged, and else what was
	// accepted.
	WorkersFetched bool `json:"fetched,omitempty"`
	// FailedRate is the lowest rate that did not hold; 0 if all did.
	FailedRate float64 `json:"above_per_s,omitempty"`
	// ContraryRate is the highest rate that held although FailedRate, which is lower, did not; 0 if there is none.
	ContraryRate float64 `json:"contrary_per_s,omitempty"`
	// IsGeneratorLimited is set if the search ended because of the generator: the target may sustain more than Rate.
	IsGeneratorLimited bool `json:"generator_limited,omitempty"`
	// Steps holds what was tried, in its order.
	Steps []CapacityStep `json:"steps"`
}

// CapacityStep is a run at one rate.
type CapacityStep struct {
	// Rate is the target rate.
	Rate float64 `json:"rate_per_s"`
	// Result is "held", "failed", or what decides nothing about the rate: "generator-limited", or "stood still", after
	// which the rate is tried again.
	Result string `json:"result"`
	// Reason is why it did not hold; empty if it did.
	Reason string `json:"why,omitempty" from:"target"`
	Run    string `json:"run"`
	// Took is how long it took, with its drain.
	Took     time.Duration `json:"took_ns"`
	Achieved float64       `json:"achieved_per_s"`
	// WorkRate is how many jobs a second workers acknowledged or failed, and Growth by how many jobs a second the queues
	// grew; 0 where no worker fetched.
	WorkRate float64 `json:"worked_per_s,omitempty"`
	Growth   float64 `json:"growth_per_s,omitempty"`
	// Confirms is set for the confirmation of the result.
	Confirms bool `json:"confirms,omitempty"`
	// Op is the command whose times Response, Service and Lateness are.
	Op       string  `json:"op,omitempty"`
	Response Latency `json:"response"`
	Service  Latency `json:"service"`
	Lateness Latency `json:"lateness"`
	// Findings is how many kinds of findings it has.
	Findings int `json:"findings,omitempty"`
}

// The results of a step.
const (
	StepHeld    = "held"
	StepFailed  = "failed"
	StepLimited = "generator-limited"
	StepStill   = "stood still"
)

// StepOf returns a run at a rate as a step. The rate held if the run achieved 99 % of it, its queues did not grow and
// were emptied, and it missed no threshold, whatever part of its times is the generator's delay. Evaluate comes first.
func StepOf(l *Load, rate float64) CapacityStep {
	s := CapacityStep{
		Rate: rate, Result: StepHeld, Run: l.Run, Took: l.Took, Achieved: l.Rate.Achieved, Op: l.Rate.Op,
		Findings: len(l.Findings),
	}
	if l.JobsDue != nil {
		s.WorkRate, s.Growth = l.WorkRate(), l.JobsDue.Growth
	}
	if op := l.Op(l.Rate.Op); op != nil {
		s.Response, s.Service, s.Lateness = op.Response, op.Service, op.Lateness
		s.Response.Curve, s.Service.Curve, s.Lateness.Curve = nil, nil, nil
	}
	switch code, words := l.Outcome(reports.ExitOptions{}).Values(); {
	case !l.Validity.IsValid:
		s.Result, s.Reason = l.invalidStep()
	case l.AbortReason != "" || l.deadSentence() != "":
		s.Result, s.Reason = StepFailed, cmp.Or(l.deadSentence(), "ended early: "+l.AbortReason)
	case code == reports.ExitFindings && l.Rate.IsAchieved() &&
		!slices.ContainsFunc(l.Thresholds, ThresholdResult.isMissedDespiteDelays):
		s.Result, s.Reason = StepLimited, "the generator's delays may be why "+words
	case code != reports.ExitWell:
		s.Result, s.Reason = StepFailed, cmp.Or(l.thresholdWords(l.thresholds((*ThresholdResult).isMissed), "missed"), words)
	case !l.Rate.IsAchieved():
		s.Result, s.Reason = StepFailed, l.rateWords()
	case l.JobsDue.Grew():
		s.Result, s.Reason = StepFailed, l.GrowthReport()
	}
	return s
}

// invalidStep returns what a run comes to that is INVALID.
func (l *Load) invalidStep() (result, reason string) {
	switch {
	case len(l.Health.Holes) > 0 && len(l.Findings) == 0:
		return StepStill, l.invalidWords()
	case l.IsDelayed() && !l.IsUndecided() && len(l.Findings) == 0:
		return l.delayedStep()
	case l.isGeneratorLimited():
		return StepLimited, l.invalidWords()
	}
	return StepFailed, l.invalidWords()
}

// IsDelayed reports whether a run is INVALID only because the generator or its machine delayed what it sent and
// received.
func (l *Load) IsDelayed() bool { return l.hasOnlyReasons("late", "saturated", "stolen", "throttled") }

// hasOnlyReasons reports whether a run is INVALID for no other reasons than these.
func (l *Load) hasOnlyReasons(ids ...string) bool {
	reasons := l.Validity.Reasons
	other := func(r Reason) bool { return !slices.Contains(ids, r.ID) }
	return len(reasons) > 0 && !slices.ContainsFunc(reasons, other)
}

// delayedStep returns the result of a step whose run IsDelayed. The rate was held if it was achieved and all thresholds
// are met with the delays in its times. A target that has done much less, while connections were not free, is over
// its limit. All else says nothing of the target: what has disturbed the generator may have disturbed it, too.
func (l *Load) delayedStep() (result, reason string) {
	undecidedThresholds := l.thresholds(func(t *ThresholdResult) bool { return t.DelayVerdict != DelayVerdictMet })
	switch {
	case l.Rate.isBelowTarget() && l.hasOnlyReasons("late"):
		return StepFailed, l.rateWords()
	case len(undecidedThresholds) > 0 || !l.Rate.IsAchieved() || l.JobsDue.Grew():
		return StepLimited, l.invalidWords()
	}
	return StepHeld, ""
}

// isMissedDespiteDelays reports whether the threshold is missed, and not because of delays of the generator.
func (t ThresholdResult) isMissedDespiteDelays() bool {
	return t.isMissed() && t.DelayVerdict != DelayVerdictOpen
}

// isGeneratorLimited reports whether a run is INVALID because of the generator or its machine, and not because the
// target refused what it was sent.
func (l *Load) isGeneratorLimited() bool {
	ofTarget := []string{"empty", "errors", ReasonRefused, "aborted", "connections"}
	return !slices.ContainsFunc(l.Validity.Reasons, func(r Reason) bool { return slices.Contains(ofTarget, r.ID) })
}

// Outcome returns the exit code and what it stands for in one line of words.
func (c *LoadCapacity) Outcome(reports.ExitOptions) reports.Outcome {
	findings := sumOf(c.Steps, func(s *CapacityStep) int { return s.Findings })
	unit := " /s (accepted: no worker fetched)"
	if c.WorkersFetched {
		unit = " /s (acknowledged by workers)"
	}
	sum := "capacity " + reports.Digits(c.Rate) + unit
	failure := c.lastStepReason("; %s /s failed: ",
		func(s *CapacityStep) bool { return s.Rate == c.FailedRate && s.Result == StepFailed })
	if c.IsGeneratorLimited {
		failure = c.lastStepReason("; at %s /s ", func(s *CapacityStep) bool { return s.Result == StepLimited })
	}
	found := "no rate was found"
	if c.Rate > 0 {
		found = "at least " + reports.Digits(c.Rate) + unit
	}
	return reports.Decide(append(
		c.Claims(found, "the target could not be loaded"),
		reports.NewClaim(reports.ExitLoss, findings > 0,
			text.Count(findings, "finding")+" in the steps: use fwpbench run at that rate for the details; "+found),
		reports.NewClaim(reports.ExitInconclusive, c.IsGeneratorLimited,
			"inconclusive: the generator was the limit; "+found+failure),
		reports.NewClaim(reports.ExitFindings, c.Rate == 0 && c.FailedRate > 0 && !c.IsGeneratorLimited,
			"no rate passed"+failure),
		reports.NewClaim(reports.ExitInconclusive, c.inconclusiveRange() != "", "inconclusive: "+c.inconclusiveRange()),
		reports.NewClaim(reports.ExitInconclusive, !c.IsConfirmed, "inconclusive: "+found+", but that was not confirmed"),
		reports.NewClaim(reports.ExitWell, c.FailedRate == 0, found+", the highest rate that was tried"),
		reports.NewClaim(reports.ExitWell, true, sum+failure),
	))
}

// inconclusiveRange returns the range in which the result lies if it was not confirmed, or steps contradict each other;
// empty if neither is so.
func (c *LoadCapacity) inconclusiveRange() string {
	low, high, reason := c.Rate, c.Rate, ""
	for _, s := range c.Steps {
		if s.Confirms && s.Result == StepFailed && !c.IsConfirmed {
			low = min(low, s.Achieved)
			if c.WorkersFetched {
				low = min(low, s.WorkRate)
			}
			reason = fmt.Sprintf("%s /s passed in short steps, and not for %s: %s", reports.Digits(c.Rate),
				reports.Duration(c.Confirm), text.OneLine(s.Reason))
		}
	}
	if c.ContraryRate > 0 && c.Rate > 0 {
		high = c.ContraryRate
		reason = reports.JoinWith("; ", fmt.Sprintf("%s /s passed once, although %s /s failed",
			reports.Digits(c.ContraryRate),
			reports.Digits(c.FailedRate)), reason)
	}
	if reason == "" {
		return ""
	}
	return fmt.Sprintf("the server sustains %s to %s /s: %s", reports.Digits(low), reports.Digits(high), reason)
}

// lastStepReason returns the rate of the last step of a kind, and why it did not hold; empty if there is none.
func (c *LoadCapacity) lastStepReason(words string, match func(*CapacityStep) bool) string {
	for _, s := range slices.Backward(c.Steps) {
		if match(&s) {
			return fmt.Sprintf(words, reports.Digits(s.Rate)) + text.OneLine(s.Reason)
		}
	}
	return ""
}

// WriteJSON writes c as one indented JSON object and a final newline.
func (c *LoadCapacity) WriteJSON(w io.Writer, o reports.ExitOptions) error {
	doc := *c
	doc.Head = c.WithOutcome(LoadCapacitySchema, c.Outcome(o))
	doc.Steps, doc.Thresholds = reports.EmptyIfNil(c.Steps), reports.EmptyIfNil(c.Thresholds)
	return reports.WriteJSON(w, &doc)
}

// Hide replaces every text of c that comes from the target, or quotes what does, by what hide returns for it.
func (c *LoadCapacity) Hide(hide func(string) string) {
	reports.Hide(hide, c)
	c.Target.HI, c.Target.Info = nil, nil
}

// Page returns c for people: what was found, each rate that was tried with its times, and why those that did not hold
// did not.
func (c *LoadCapacity) Page(o reports.PageOptions) reports.Page {
	p := page{hasPictures: o.Figures}
	decided := c.Outcome(o.Exit)
	p.Add(reports.Prose{Lines: []reports.Text{decided.Text()}})
	holds := strings.Join(append([]string{"99 % of it is achieved", "the queues do not grow"}, c.Thresholds...), ", ")
	p.Add(reports.Fields{LabelWidth: 10, Fields: append(c.Target.fields(),
		reports.NewField("plan", c.Plan),
		reports.NewField("a rate passes", "if "+holds),
		reports.NewField("generator", reports.JoinWith(", ", c.Version, c.Machine.words())),
	)})
	p.AddTroubles(c.Trouble)
	if len(c.Steps) > 0 {
		p.Add(c.tiles())
		p.curve(c)
		p.Add(reports.Figure{Title: "Times against rate", Drawing: c.chart(),
			Description: "The response times at each rate; for a repeated rate those of the last step. Where the curves " +
				"rise, the target is at its limit."})
	}
	p.Conclude(fmt.Sprintf("seed %d, took %s%s", c.Seed, reports.Duration(c.Took), reports.StartWords(c.StartTime)),
		decided)
	return p.Page
}

// sortedSteps returns the steps by their rate.
func (c *LoadCapacity) sortedSteps() []CapacityStep {
	return slices.SortedStableFunc(slices.Values(c.Steps),
		func(a, b CapacityStep) int { return cmp.Compare(a.Rate, b.Rate) })
}

// curve appends the steps, and why some did not hold.
func (p *page) curve(c *LoadCapacity) {
	p.Section("RATES", "each step, with the response times of its arrivals")
	t := reports.Table{Wrap: true}
	for _, title := range []string{"rate", "achieved", "workers", "p50", "p99", "p99.9", "late p99"} {
		t.Columns = append(t.Columns, reports.Column{Title: title, AlignRight: true})
	}
	t.Columns = append(t.Columns, reports.Column{Title: "result"})
	styles := map[string]reports.Style{StepFailed: reports.Bad, StepLimited: reports.Unclear, StepStill: reports.Unclear}
	t.Rows = reports.RowsOf(c.sortedSteps(), func(s *CapacityStep) reports.Row {
		worked := ""
		if c.WorkersFetched {
			worked = reports.Rate(s.WorkRate)
		}
		return reports.Cells(reports.Rate(s.Rate), reports.Rate(s.Achieved), worked, s.Response.words("p50"),
			s.Response.words("p99"), s.Response.words("p99.9"),
			reports.Time(s.Lateness.P99)).With(reports.StyledText(cmp.Or(styles[s.Result], reports.Good), s.Words()))
	})
	p.Add(t)
}

// Words returns the result of the step, and why it did not hold.
func (s *CapacityStep) Words() string {
	result := s.Result
	if s.Confirms {
		result += " (the confirmation)"
	}
	return reports.JoinWith(": ", result, text.OneLine(s.Reason))
}

// chart returns the times against the rate.
func (c *LoadCapacity) chart() *reports.Chart {
	chart := &reports.Chart{X: axis("target rate", reports.Linear, reports.PerSec),
		Y: axis("response time", reports.Log, reports.Nanoseconds)}
	for _, stat := range []string{"p50", "p99", "p99.9"} {
		curve := reports.Curve{Name: stat}
		for _, s := range c.sortedSteps() {
			if s.Response.Count == 0 {
				continue
			}
			if n := len(curve.Points); n > 0 && curve.Points[n-1].X == s.Rate {
				curve.Points = curve.Points[:n-1]
			}
			curve.Points = append(curve.Points,
				reports.Point{X: s.Rate, Y: max(float64(s.Response.Stat(stat)), minTime)})
		}
		chart.Curves = append(chart.Curves, curve)
	}
	if c.Rate > 0 {
		chart.Bands = []reports.Band{{Name: "held", Until: c.Rate}}
	}
	return chart
}

// Suite returns c as cases: the search itself.
func (c *LoadCapacity) Suite(o reports.ExitOptions) reports.Suite {
	s := c.Target.suite("fwpbench capacity", &c.Head, c.Outcome(o))
	s.AddRun("the search", s.Code == reports.ExitInconclusive)
	if s.Code == reports.ExitFindings || s.Code == reports.ExitLoss {
		s.Cases[0].State, s.Cases[0].Kind = reports.CaseFailed, "failed"
	}
	return s
}
