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

// LoadComparisonSchema is the Schema of every LoadComparison.
const LoadComparisonSchema = "fwpbench-compare/1"

// LoadComparison is the result of comparing two loads, A and B, by blocks that were measured in pairs. Package
// load/search fills Ratios from Blocks. Durations are nanoseconds in JSON, in keys that end in _ns. It is plain data
// without locks.
type LoadComparison struct {
	reports.Head
	// Machine is what the generator ran on.
	Machine Machine      `json:"machine"`
	A       ComparedLoad `json:"a"`
	B       ComparedLoad `json:"b"`
	// AA is set if B is A: the ratios are the noise of this machine.
	AA bool `json:"aa,omitempty"`
	// Margin is how much worse B may be: with 0.05 a ratio from 1/1.05 to 1.05 is no change.
	Margin float64 `json:"margin"`
	// MarginTime is by how much longer a time of B may be where that is more; 0: no more than Margin.
	MarginTime time.Duration `json:"margin_ns,omitempty"`
	// Pairs is how many pairs of blocks were asked for.
	Pairs int `json:"pairs"`
	// Blocks holds the blocks in the order in which they were measured.
	Blocks []LoadBlock `json:"blocks"`
	// Ratios holds the ratio of B to A of each metric, the primary ones first.
	Ratios []LoadRatio `json:"ratios"`
	// NoVerdict is why the ratios decide nothing: the blocks were not measured in pairs. Empty if they were.
	NoVerdict string `json:"no_verdict,omitempty"`
	// Differences holds what differs between the loads of A and B, and between the machines on which they were measured.
	Differences []LoadDifference `json:"differs,omitempty"`
	// StopReason is why it ended before all pairs were measured: they would not have decided. Empty if it did not.
	StopReason string `json:"stopped,omitempty"`
}

// LoadDifference is something in which the loads of A and B differ: a setting of the workload, or what they ran on.
type LoadDifference struct {
	Name string `json:"what"`
	A    string `json:"a"`
	B    string `json:"b"`
	// Decides is set if figures of loads that differ in it cannot be compared, of a load or a machine.
	Decides bool `json:"decides,omitempty"`
}

// words returns the difference in a few words.
func (d *LoadDifference) words() string { return d.Name + " " + d.A + " and " + d.B }

// Unequal returns why A and B cannot be compared: what their loads or machines differ in; empty if they can.
func (c *LoadComparison) Unequal() string {
	var words []string
	for i := range c.Differences {
		if c.Differences[i].Decides {
			words = append(words, c.Differences[i].words())
		}
	}
	if words == nil {
		return ""
	}
	return "A and B are different loads, or of different machines: " + strings.Join(words, "; ")
}

// MarginOf returns the margin of a metric of which A has this median, as a share.
func (c *LoadComparison) MarginOf(metric string, a float64) float64 {
	if HigherIsBetter(metric) || a <= 0 {
		return c.Margin
	}
	return max(c.Margin, float64(c.MarginTime)/a)
}

// ComparedLoad is one side of a comparison.
type ComparedLoad struct {
	// Name is how the user named it.
	Name string `json:"name"`
	// Plan is its load, in words.
	Plan string `json:"plan,omitempty"`
	// Subject is the software that was loaded.
	Subject reports.Subject `json:"subject,omitzero"`
}

// LoadBlock is one run of a comparison.
type LoadBlock struct {
	// Side is "A" or "B".
	Side string `json:"side"`
	// Pair is the number of its pair, from 1; 0 for a block that was discarded because it was the first one of its side.
	Pair int `json:"pair"`
	// Run is the id of the run, and File the file that it was read from, if it was.
	Run     string        `json:"run"`
	File    string        `json:"file,omitempty"`
	Seed    uint64        `json:"seed,string"`
	Started time.Time     `json:"started,omitzero"`
	Took    time.Duration `json:"took_ns"`
	// VoidReason is why its pair does not count, the outcome of the run: that it is INVALID for example. Empty if it
	// counts.
	VoidReason string `json:"void,omitempty" from:"target"`
	// Findings is how many kinds of findings it has.
	Findings int `json:"findings,omitempty"`
	// Figures holds its metrics.
	Figures []LoadFigure `json:"figures"`
}

// LoadFigure is a metric of a block: a rate a second, or a time in nanoseconds.
type LoadFigure struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	// IsLowerBound is set if it is a lower bound, because commands had no reply.
	IsLowerBound bool `json:"at_least,omitempty"`
}

// LoadRatio is how a metric of B relates to that of A.
type LoadRatio struct {
	Metric string `json:"metric"`
	// IsPrimary is set if it was declared beforehand that it decides.
	IsPrimary bool `json:"primary,omitempty"`
	// A and B are the medians of the blocks of the pairs that count.
	A float64 `json:"a"`
	B float64 `json:"b"`
	// Pairs is how many pairs count.
	Pairs int `json:"pairs"`
	// Ratio is the estimate of B to A (Hodges and Lehmann), and it lies between Low and High with the probability
	// Confidence. Low and High are 0 where there is no interval.
	Ratio      float64 `json:"ratio"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
	// P is that of the signed-rank test that the ratio is 1; Holm is P adjusted for the number of metrics, those that are
	// percentiles of the same times counted once. It is 0 for a primary metric, unless its Verdict is "differs".
	P    float64 `json:"p"`
	Holm float64 `json:"p_holm,omitempty"`
	// Verdict is "regression", "improvement", "no change", "not worse", "differs" (it is not 1, and whether it is beyond
	// the margin is not settled) or "inconclusive"; empty for a metric that is shown only.
	Verdict string `json:"verdict,omitempty"`
	// MorePairs is about how many more pairs an inconclusive ratio needs; -1 if too many.
	MorePairs int `json:"more_pairs,omitempty"`
	// NeededPairs is about how many pairs it takes until the interval is as narrow as the margin, from the noise alone.
	NeededPairs int `json:"needed_pairs,omitempty"`
	// Floor is, of A compared with itself, the smallest margin that can be told from noise.
	Floor float64 `json:"noise_floor,omitempty"`
}

// HigherIsBetter reports whether a metric of blocks is the better the greater it is: a rate, not a time.
func HigherIsBetter(metric string) bool { return metric == "rate" }

// HasNoVerdict reports whether a metric of blocks gets no verdict, because it is not about the target.
func HasNoVerdict(metric string) bool { return metric == "generator.cpu" }

// value writes a value of the metric.
func (r *LoadRatio) value(x float64) string {
	if r.Metric == "rate" {
		return reports.Digits(x) + " /s"
	}
	return reports.Time(time.Duration(x))
}

// BlockOf returns a run as a block of a comparison.
func BlockOf(l *Load, side string, pair int) LoadBlock {
	b := LoadBlock{Side: side, Pair: pair, Run: l.Run, Seed: l.Seed, Started: l.StartTime, Took: l.Took,
		Findings: len(l.Findings)}
	code, words := l.Outcome(reports.ExitOptions{}).Values()
	counts := code == reports.ExitWell || code == reports.ExitFindings || code == reports.ExitInconclusive &&
		l.isRefusing()
	if b.Figures = l.figuresOf(); !counts || len(b.Figures) == 0 {
		b.VoidReason = cmp.Or(words, "nothing was measured")
	}
	busiest := slices.Max(append([]float64{l.Health.CPUShare}, l.Health.Loops...))
	if !l.Plan.IsOpenLoop && busiest > busyClosed {
		b.VoidReason = cmp.Or(b.VoidReason, l.Validity.Limit)
	}
	return b
}

// isRefusing reports whether a run is INVALID only because the target refused what it was sent: that is its rate, then.
func (l *Load) isRefusing() bool {
	return l.hasOnlyReasons(ReasonRefused) && l.GivenUp == "" && !l.IsUndecided()
}

// busyClosed is the share of its CPUs from which on a generator is nearly the only limit of a closed loop: it would be
// compared with itself.
const busyClosed = 0.95

// MinComparedTail is how many values must be beyond a percentile that is compared.
const MinComparedTail = 20

// comparedPercentiles returns the percentiles of the command that a load is about: those of every report but for the
// last one, for which few runs have enough values.
func comparedPercentiles() []Percentile { all := Percentiles(); return all[:len(all)-1] }

// figuresOf returns the metrics of a run that can be compared: not percentiles with few values beyond them.
func (l *Load) figuresOf() (all []LoadFigure) {
	add := func(metric string, value float64) {
		if value > 0 {
			all = append(all, LoadFigure{Metric: metric, Value: value})
		}
	}
	rate := l.Rate.Achieved
	if l.Rate.Done == 0 && l.isRefusing() { // so that there is a ratio: less than one arrival
		rate = reports.PerSecond(1, 2*l.Measured)
	}
	add("rate", rate)
	if n := float64(l.Rate.Done); n > 0 {
		add("server.cpu", float64(l.Health.ServerCPU)/n)
		add("generator.cpu", float64(l.Health.CPUUser+l.Health.CPUSystem)/n)
	}
	times := func(name string, latency *Latency, percentiles ...Percentile) {
		for _, p := range append(percentiles, latency.extraPercentiles()...) {
			if latency.Count < p.Needs(MinComparedTail) {
				continue
			}
			before := len(all)
			if add(name+"."+p.String(), float64(latency.Stat(p.String()))); len(all) > before {
				all[before].IsLowerBound = slices.Contains(latency.AtLeast, p.String())
			}
		}
	}
	for i := range l.Ops {
		switch op := &l.Ops[i]; op.Op {
		case l.Rate.Op:
			times(op.Op+".response", &op.Response, comparedPercentiles()...)
		case "push", "ack", "fetch.found", "idle":
			times(op.Op+".response", &op.Response, 50, 99)
		}
	}
	if flow := l.Flow("job.fetched"); flow != nil && !l.HasPiledUp() {
		times(flow.Flow, &flow.Time, 50, 99)
	}
	return all
}

// ValidPairs returns how many pairs count.
func (c *LoadComparison) ValidPairs() int {
	isVoid, blocks, pairs := c.voidPairs(), map[int]int{}, 0
	for _, b := range c.Blocks {
		blocks[b.Pair]++
	}
	for pair, n := range blocks {
		if pair > 0 && n == 2 && !isVoid[pair] {
			pairs++
		}
	}
	return pairs
}

// voidPairs returns the pairs that have a block that does not count.
func (c *LoadComparison) voidPairs() map[int]bool {
	isVoid := map[int]bool{}
	for _, b := range c.Blocks {
		isVoid[b.Pair] = isVoid[b.Pair] || b.VoidReason != ""
	}
	return isVoid
}

// Outcome returns the exit code and what it stands for in one line of words.
func (c *LoadComparison) Outcome(reports.ExitOptions) reports.Outcome {
	findings := sumOf(c.Blocks, func(b *LoadBlock) int { return b.Findings })
	sum, primary, warning := text.Count(c.ValidPairs(), "valid pair"), c.selectRatios(isPrimary), c.noiseWarning()
	worse := c.selectRatios(func(r *LoadRatio) bool { return !c.AA && r.Verdict == "regression" })
	inconclusive := c.selectRatios(func(r *LoadRatio) bool { return !c.AA && r.Verdict == "inconclusive" && r.IsPrimary })
	differs := c.selectRatios(func(r *LoadRatio) bool { return !c.AA && r.Verdict == "differs" && r.IsPrimary })
	return reports.Decide(append(c.Claims(sum, "there is nothing to compare"),
		reports.NewClaim(reports.ExitLoss, findings > 0,
			fmt.Sprintf("%s in the blocks: use fwpbench run on each side for the details",
				text.Count(findings, "finding"))),
		reports.NewClaim(reports.ExitInconclusive, c.NoVerdict != "", "no verdict: "+c.NoVerdict),
		reports.NewClaim(reports.ExitInconclusive, c.ValidPairs() < minPairs,
			fmt.Sprintf("no verdict: %s, and %d are needed", sum, minPairs)),
		reports.NewClaim(reports.ExitInconclusive, len(primary) == 0,
			"no verdict: no block has a value for the primary metric"),
		reports.NewClaim(reports.ExitInconclusive, c.AA && warning != "", warning),
		reports.NewClaim(reports.ExitWell, c.AA, "the noise floor: "+c.floors()),
		reports.NewClaim(reports.ExitFindings, len(worse) > 0, "regression: "+changes(worse)),
		reports.NewClaim(reports.ExitInconclusive, len(differs) > 0,
			join("differs, size unclear: "+changes(differs), c.StopReason)),
		reports.NewClaim(reports.ExitInconclusive, len(inconclusive) > 0,
			join("inconclusive: "+changes(inconclusive), c.StopReason)),
		reports.NewClaim(reports.ExitWell, true, "no regression: "+changes(primary)),
	))
}

// minPairs is how many pairs a verdict needs: with five, all of them differ in one direction by chance too often.
const minPairs = 6

// selectRatios returns the ratios that match.
func (c *LoadComparison) selectRatios(match func(*LoadRatio) bool) (all []LoadRatio) {
	for i := range c.Ratios {
		if match(&c.Ratios[i]) {
			all = append(all, c.Ratios[i])
		}
	}
	return all
}

func isPrimary(r *LoadRatio) bool { return r.IsPrimary }

// noiseWarning says that the noise of the machine is greater than the margin, empty if it is not.
func (c *LoadComparison) noiseWarning() string {
	for _, r := range c.selectRatios(isPrimary) {
		if margin := c.MarginOf(r.Metric, r.A); r.Floor > margin {
			return fmt.Sprintf("%s: the noise floor of %s is above the margin of %s: use longer blocks, more pairs or a "+
				"wider margin", r.Metric, reports.Percent(r.Floor), reports.Percent(margin))
		}
	}
	return ""
}

// floors returns the noise floors of the primary metrics.
func (c *LoadComparison) floors() string {
	var parts []string
	for _, r := range c.selectRatios(isPrimary) {
		parts = append(parts, r.Metric+" "+reports.Percent(r.Floor))
	}
	return strings.Join(parts, ", ")
}

// changes returns ratios in words: "rate 0.91 (0.89 to 0.93)".
func changes(all []LoadRatio) string {
	var parts []string
	for i := range all {
		parts = append(parts, all[i].Metric+" "+all[i].words())
	}
	return strings.Join(parts, ", ")
}

// words returns the ratio and its interval.
func (r *LoadRatio) words() string {
	if r.High == 0 {
		return reports.Trimmed(r.Ratio, 3)
	}
	words := fmt.Sprintf("%s (%s)", reports.Trimmed(r.Ratio, 3), r.interval())
	switch {
	case r.Verdict == "differs":
		words += ", p = " + r.pValue()
	case r.MorePairs > 0:
		words += ", about " + text.Count(r.MorePairs, "more pair")
	case r.MorePairs < 0:
		words += ", too close to the margin"
	}
	return words
}

// openRatio is the ratio beyond which an interval has no end: see search.BoundFactor.
const openRatio = 30.0

// interval returns the interval, empty if there is none.
func (r *LoadRatio) interval() string {
	if r.High == 0 {
		return ""
	}
	low, high := reports.Trimmed(r.Low, 3), reports.Trimmed(r.High, 3)
	switch { // what had no reply may have taken for ever
	case r.Low < 1/openRatio && r.High > openRatio:
		return "any"
	case r.Low < 1/openRatio:
		return high + " or less"
	case r.High > openRatio:
		return low + " or more"
	}
	return low + " to " + high
}

// WriteJSON writes c as one indented JSON object and a final newline.
func (c *LoadComparison) WriteJSON(w io.Writer, o reports.ExitOptions) error {
	doc := *c
	doc.Head = c.WithOutcome(LoadComparisonSchema, c.Outcome(o))
	doc.Ratios, doc.Blocks = reports.EmptyIfNil(c.Ratios), reports.EmptyIfNil(slices.Clone(c.Blocks))
	for i := range doc.Blocks {
		b := &doc.Blocks[i]
		b.Started, b.Figures = b.Started.UTC().Round(0), reports.EmptyIfNil(b.Figures)
	}
	return reports.WriteJSON(w, &doc)
}
