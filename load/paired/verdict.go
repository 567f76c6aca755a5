package paired

import "math"

// Verdict is what an effect comes to.
type Verdict string

// The verdicts.
const (
	Regression   Verdict = "regression"   // the whole interval is worse than the margin
	Improvement  Verdict = "improvement"  // the whole interval is better than the margin
	NoChange     Verdict = "no change"    // the whole interval is within the margin
	NotWorse     Verdict = "not worse"    // no part of the interval is worse than the margin, and a part is better
	Inconclusive Verdict = "inconclusive" // the interval is on both sides of where it would be worse
)

// Judge returns what the effect comes to. A margin of 0.05 holds the ratios from 1/1.05 to 1.05. higher is set if a
// greater value is a better one.
func (e Effect) Judge(higher bool, margin float64) Verdict {
	low, high := math.Log(e.Low), math.Log(e.High)
	if higher { // from here on, more is worse
		low, high = -high, -low
	}
	limit := math.Log1p(margin)
	switch {
	case e.Pairs < Least:
		return Inconclusive
	case low > limit:
		return Regression
	case high < -limit:
		return Improvement
	case high > limit:
		return Inconclusive
	case low < -limit:
		return NotWorse
	}
	return NoChange
}

// More returns about how many more pairs a verdict needs that is Inconclusive: the width of an interval shrinks with
// the root of their number. It is -1 if they are more than most, because the ratio is too near to the margin.
func (e Effect) More(higher bool, margin float64, most int) int {
	if e.Pairs < Least {
		return Least - e.Pairs
	}
	centre, half := math.Log(e.Ratio), math.Log(e.High/e.Low)/2
	if higher {
		centre = -centre
	}
	room := math.Abs(math.Log1p(margin) - centre)
	need := float64(e.Pairs) * (half / room) * (half / room)
	if more := math.Ceil(need) - float64(e.Pairs); more <= float64(most) {
		return max(1, int(more))
	}
	return -1
}

// Floor returns the margin that an effect of A against A shows to be the smallest that can be told from noise: that of
// the end of the interval which is farther from 1.
func (e Effect) Floor() float64 { return max(e.High, 1/e.Low) - 1 }
