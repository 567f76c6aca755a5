package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// LoadCapacitySchema is the value of the key "schema" of the JSON of every LoadCapacity. Its number grows when a key is
// removed, renamed or changes its meaning.
const LoadCapacitySchema = "fwpbench-capacity/1"

// LoadCapacity is the result of a search for the highest rate that a target sustains. Durations are nanoseconds in
// JSON, in keys that end in _ns; rates are a second. It is plain data without locks.
type LoadCapacity struct {
	// Schema is LoadCapacitySchema; WriteJSON sets it, whatever is here.
	Schema string `json:"schema"`
	// Exit is the exit code, and Words what it stands for; WriteJSON sets them.
	Exit    int        `json:"exit_code"`
	Words   string     `json:"outcome"`
	Version string     `json:"version,omitempty"`
	Target  LoadTarget `json:"target"`
	// Machine is what the generator ran on.
	Machine Machine `json:"machine"`
	// Plan is the load of a step, in words.
	Plan string `json:"plan,omitempty"`
	// Started is when it began, by the clock of the machine that runs the generator.
	Started time.Time     `json:"started,omitzero"`
	Took    time.Duration `json:"took_ns"`
	// Seed is what the loads were drawn from: a string of decimal digits in JSON.
	Seed uint64 `json:"seed,string"`
	// Thresholds holds what a rate has to meet to hold, beside that it is achieved.
	Thresholds []string `json:"thresholds"`
	// Precision is how near Rate and Above were to be, as a share.
	Precision float64 `json:"precision"`
	// Rate is the highest rate that held, 0 if none did; Confirmed is set if it held twice.
	Rate      float64 `json:"rate_per_s"`
	Confirmed bool    `json:"confirmed"`
	// Above is the lowest rate that did not hold; 0 if all did.
	Above float64 `json:"above_per_s,omitempty"`
	// Limited is set if that was because of the generator: the target may sustain more than Rate.
	Limited bool `json:"generator_limited,omitempty"`
	// Steps holds what was tried, in its order.
	Steps       []CapacityStep `json:"steps"`
	Interrupted bool           `json:"interrupted,omitempty"`
	Internal    string         `json:"internal,omitempty"`
	Unreachable string         `json:"unreachable,omitempty"`
}

// CapacityStep is a run at one rate.
type CapacityStep struct {
	// Rate is the target rate.
	Rate float64 `json:"rate_per_s"`
	// Result is "held", "failed" or "generator-limited".
	Result string `json:"result"`
	// Why is why it did not hold; empty if it did.
	Why string `json:"why,omitempty"`
	Run string `json:"run"`
	// Took is how long it took, with its drain.
	Took     time.Duration `json:"took_ns"`
	Achieved float64       `json:"achieved_per_s"`
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
)

// StepOf returns a run at a rate as a step. The rate held if the run is valid, achieved 99 % of it, emptied its queues,
// and missed no threshold. Evaluate comes first.
func StepOf(l *Load, rate float64) CapacityStep {
	s := CapacityStep{
		Rate: rate, Result: StepHeld, Run: l.Run, Took: l.Took, Achieved: l.Rate.Achieved, Op: l.Rate.Op,
		Findings: len(l.Findings),
	}
	if op := l.op(l.Rate.Op); op != nil {
		s.Response, s.Service, s.Lateness = op.Response, op.Service, op.Lateness
		s.Response.Curve, s.Service.Curve, s.Lateness.Curve = nil, nil, nil
	}
	switch code, words := l.Outcome(); {
	case !l.Validity.Valid:
		s.Result, s.Why = StepFailed, l.invalid()
		if l.limitedByGenerator() {
			s.Result = StepLimited
		}
	case code != ExitWell:
		s.Result, s.Why = StepFailed, words
	case l.Rate.Achieved < achievedEnough*l.Rate.Target:
		s.Result, s.Why = StepFailed, l.achieved()
	}
	return s
}

// limitedByGenerator reports whether a run is INVALID because of the generator or its machine, and not because the
// target refused what it was sent.
func (l *Load) limitedByGenerator() bool {
	ofTarget := []string{"empty", "errors", "aborted", "connections"}
	return !slices.ContainsFunc(l.Validity.Reasons, func(r Reason) bool { return slices.Contains(ofTarget, r.ID) })
}

// Outcome returns the exit code and what it stands for in one line of words.
func (c *LoadCapacity) Outcome() (code int, words string) {
	decided := c.decide()
	return decided.code, decided.words
}

func (c *LoadCapacity) decide() outcome {
	findings := 0
	for _, s := range c.Steps {
		findings += s.Findings
	}
	sum := "capacity " + digits(c.Rate) + " /s"
	above := fmt.Sprintf("; %s /s did not hold", digits(c.Above))
	if s := find(c.Steps, func(s *CapacityStep) bool { return s.Rate == c.Above && s.Why != "" }); s != nil {
		above += ": " + text.OneLine(s.Why)
	}
	found := "nothing was found"
	if c.Rate > 0 {
		found = "at least " + digits(c.Rate) + " /s"
	}
	return decide(append(
		trouble{c.Interrupted, c.Internal, c.Unreachable, ""}.claims(found, "the target could not be loaded"),
		claimed(ExitLoss, findings > 0,
			text.Count(findings, "finding")+" in the steps: run that rate by itself for the details; "+found),
		claimed(ExitInconclusive, c.Limited, "inconclusive: the generator was the limit; "+found+above),
		claimed(ExitFindings, c.Rate == 0 && len(c.Steps) > 0, "no rate held"+above),
		claimed(ExitInconclusive, !c.Confirmed, "inconclusive: "+found+", but it did not hold twice"),
		claimed(ExitWell, c.Above == 0, found+", which was the highest rate to be tried"),
		claimed(ExitWell, true, sum+above),
	))
}

// WriteJSON writes c as one indented JSON object and a final newline.
func (c *LoadCapacity) WriteJSON(w io.Writer) error {
	whole := *c
	whole.Exit, whole.Words = c.Outcome()
	whole.Schema, whole.Started = LoadCapacitySchema, c.Started.UTC().Round(0)
	whole.Steps, whole.Thresholds = list(c.Steps), list(c.Thresholds)
	return writeJSON(w, &whole)
}

// Hide replaces every text of c that comes from the target, or quotes what does, by what hide returns for it.
func (c *LoadCapacity) Hide(hide func(string) string) {
	each(hide, &c.Internal, &c.Unreachable)
	c.Target.HI, c.Target.Info = nil, nil
	for i := range c.Steps {
		each(hide, &c.Steps[i].Why)
	}
}

// Page returns c for people: what was found, each rate that was tried with its times, and why those that did not hold
// did not.
func (c *LoadCapacity) Page(o PageOptions) Page {
	var p Page
	decided := c.decide()
	result := Styled(exitOf(decided.code).style, decided.words)
	p.add(Prose{[]Text{result}})
	holds := strings.Join(append([]string{"99 % of it is achieved"}, c.Thresholds...), ", ")
	p.add(Fields{LabelWidth: 10, Fields: []Field{
		field("target", named(c.Target.URL, c.Target.Chosen)), field("plan", c.Plan), field("a rate holds", "if "+holds),
		field("generator", join2(", ", c.Version, c.Machine.words())),
	}})
	p.troubles(trouble{c.Interrupted, c.Internal, c.Unreachable, ""})
	if len(c.Steps) > 0 {
		p.curve(c)
		if o.Figures {
			p.add(Figure{Title: "Times against rate", Of: c.chart(),
				Description: "The response times at each rate that was tried; of a rate that was tried several times those " +
					"of the last step. Where the curves rise, the target is at its limit."})
		}
	}
	facts := fmt.Sprintf("seed %d, took %s%s, exit code %d", c.Seed, short(c.Took), began(c.Started), decided.code)
	p.add(Conclusion{facts, result})
	return p
}

// sorted returns the steps by their rate.
func (c *LoadCapacity) sorted() []CapacityStep {
	return slices.SortedStableFunc(slices.Values(c.Steps),
		func(a, b CapacityStep) int { return cmp.Compare(a.Rate, b.Rate) })
}

// curve appends the steps, and why some did not hold.
func (p *Page) curve(c *LoadCapacity) {
	p.section("RATES", "each step that was tried, with the response times of its arrivals")
	t := Table{Wrap: true}
	for _, title := range []string{"rate", "achieved", "p50", "p99", "p99.9", "late p99"} {
		t.Columns = append(t.Columns, Column{Title: title, Right: true})
	}
	t.Columns = append(t.Columns, Column{Title: "result"})
	for _, s := range c.sorted() {
		row := Cells(digits(s.Rate)+" /s", digits(s.Achieved)+" /s", s.time("p50"), s.time("p99"), s.time("p99.9"),
			measured(s.Lateness.P99), "")
		style := Good
		switch s.Result {
		case StepFailed:
			style = Bad
		case StepLimited:
			style = Unclear
		}
		row.Cells[6] = Styled(style, s.Words())
		t.Rows = append(t.Rows, row)
	}
	p.add(t)
}

// Words returns the result of the step, and why it did not hold.
func (s *CapacityStep) Words() string {
	if s.Why == "" {
		return s.Result
	}
	return s.Result + ": " + text.OneLine(s.Why)
}

// time returns a percentile of the response times, which may be a lower bound.
func (s *CapacityStep) time(stat string) string {
	switch {
	case s.Response.Count == 0:
		return ""
	case slices.Contains(s.Response.AtLeast, stat):
		return ">= " + measured(s.Response.stat(stat))
	}
	return measured(s.Response.stat(stat))
}

// chart returns the times against the rate.
func (c *LoadCapacity) chart() *Chart {
	chart := &Chart{X: Axis{"target rate", Linear, PerSec}, Y: Axis{"response time", Log, Nanoseconds}}
	for _, stat := range []string{"p50", "p99", "p99.9"} {
		curve := Curve{Name: stat}
		for _, s := range c.sorted() {
			if s.Response.Count == 0 {
				continue
			}
			at := Point{s.Rate, max(float64(s.Response.stat(stat)), 1000)}
			if n := len(curve.Points); n > 0 && curve.Points[n-1].X == s.Rate {
				curve.Points[n-1] = at
			} else {
				curve.Points = append(curve.Points, at)
			}
		}
		chart.Curves = append(chart.Curves, curve)
	}
	if c.Rate > 0 {
		chart.Bands = []Band{{"held", 0, c.Rate}}
	}
	return chart
}

// Suite returns c as cases: the search itself.
func (c *LoadCapacity) Suite(ExitOptions) Suite {
	s := Suite{
		Name: "fwpbench capacity", Version: c.Version, Target: named(c.Target.URL, c.Target.Chosen), Started: c.Started,
		Took: c.Took, Seed: c.Seed,
	}
	s.Code, s.Words = c.Outcome()
	s.troubles(trouble{c.Interrupted, c.Internal, c.Unreachable, ""})
	s.whole("the search", s.Code == ExitInconclusive)
	if s.Code == ExitFindings || s.Code == ExitLoss {
		s.Cases[0].State, s.Cases[0].Kind = CaseFailed, "failed"
	}
	return s
}
