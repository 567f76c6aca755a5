package search

import (
	"maps"
	"math"
	"slices"
)

// Outcome is how a step went.
type Outcome uint8

// The outcomes.
const (
	OutcomeHeld    Outcome = iota // the server sustained the rate
	OutcomeFailed                 // it did not
	OutcomeLimited                // the generator could not sustain it: nothing is known of the server
)

// Capacity doubles the rate until it does not hold, and then halves the distance between the highest rate that held
// and the lowest that did not. A step that did not hold is tried once more, and a third time if that one held: a
// single stall of a machine ends no search. The highest rate that held counts if it holds twice. A step that was
// Limited decides nothing about its rate, and is no reason to search below it: the search goes on above, and tries it
// anew when it knows a rate that does not hold. After a few of them in a row it ends. Last, the rate that was found is
// confirmed by a longer step (IsConfirming), which is tried again like the others.
//
// Call Next for a rate, try it, and call Add with how it went, until Next returns false.
type Capacity struct {
	// From is the first rate to try, MaxRate the highest and MinRate the lowest; all are a second and above 0. A step
	// below MinRate would have too few arrivals for what it is judged by.
	From, MaxRate, MinRate float64
	// Precision is how near the two rates have to be, as a share of the lower one.
	Precision float64

	rate       float64
	steps      int
	limitedRow int  // of the latest steps were Limited
	isGivenUp  bool // it is given up: they are too many
	tries      map[float64]*tries

	isConfirming bool
	confirm      tries // of the rate that was found
}

// tries is how the steps of one rate went.
type tries struct {
	heldCount, failedCount, limitedCount int

	isRetried bool // it was Limited, and is tried anew
}

const (
	minAgreeing = 2   // steps that agree
	minRate     = 0.5 // a lower rate is none
	maxSteps    = 100 // a noisy server is given up
	maxLimited  = 4   // in a row: two rates
)

// holds and fails report what a rate came to; neither if it is to be tried again.
func (t *tries) holds() bool {
	return t.heldCount > 0 && t.failedCount == 0 || t.heldCount >= minAgreeing && t.failedCount < minAgreeing
}
func (t *tries) fails() bool { return t.failedCount >= minAgreeing }

// isUnknown reports whether enough steps of the rate were Limited, so that nothing is known of it.
func (t *tries) isUnknown() bool { return t.limitedCount >= minAgreeing && !t.holds() && !t.fails() }

func (t *tries) wasTried() bool { return t.heldCount+t.failedCount+t.limitedCount > 0 }

// needsRetry reports whether a rate was tried and is to be tried again.
func (t *tries) needsRetry() bool { return t != nil && !t.holds() && !t.fails() && !t.isUnknown() }

// Next returns the next rate, and whether there is one.
func (s *Capacity) Next() (rate float64, ok bool) {
	if s.tries == nil {
		s.tries = map[float64]*tries{}
	}
	if !s.isConfirming {
		s.rate = s.nextRate()
	}
	if low, _, _ := s.edges(); s.rate == 0 && low > 0 && !s.isGivenUp {
		s.rate, s.isConfirming = low, true
	}
	decided := s.isConfirming && s.confirm.wasTried() && !s.confirm.needsRetry()
	return s.rate, s.rate > 0 && !decided && s.steps < maxSteps
}

// IsConfirming reports whether the rate that Next returned is the result, to be confirmed by a longer step.
func (s *Capacity) IsConfirming() bool { return s.isConfirming }

func (s *Capacity) nextRate() float64 {
	if s.tries[s.rate].needsRetry() {
		return s.rate
	}
	low, high, limit := s.edges()
	base := max(low, limit)
	switch middle := round((base + high) / 2); {
	case s.isGivenUp:
	case limit > 0 && high > 0 && !s.tries[limit].isRetried: // what it was may have passed
		s.tries[limit].isRetried, s.tries[limit].limitedCount = true, 0
		return limit
	case base == 0:
		return s.rateBelow(high)
	case high == 0 && base < s.MaxRate:
		return min(2*base, s.MaxRate)
	case high > base*(1+s.Precision) && middle > base && middle < high:
		return middle
	}
	if low > 0 && s.tries[low].heldCount < minAgreeing && s.limitedRow <= maxLimited {
		return low
	}
	return 0
}

// rateBelow returns the rate to try as long as none has held, given the lowest that did not; 0 if there is none.
func (s *Capacity) rateBelow(high float64) float64 {
	floor := max(minRate, s.MinRate)
	switch {
	case high == 0:
		return min(max(s.From, s.MinRate), s.MaxRate)
	case high <= floor:
		return 0
	}
	return max(round(high/2), floor)
}

// lowestFailed returns the lowest rate that did not hold, 0 if there is none.
func (s *Capacity) lowestFailed() (lowest float64) {
	for rate, t := range s.tries {
		if t.fails() && (lowest == 0 || rate < lowest) {
			lowest = rate
		}
	}
	return lowest
}

// edges returns the highest rate that held below all that did not, the lowest that is not to be tried, and the
// highest between them of which nothing is known because of the generator; 0 if there is none.
func (s *Capacity) edges() (low, high, limit float64) {
	high = s.lowestFailed()
	for _, rate := range slices.Backward(slices.Sorted(maps.Keys(s.tries))) {
		if s.tries[rate].isUnknown() && rate < high && rate*(1+s.Precision) >= high {
			high = rate // the server does not hold right above it
		}
	}
	for rate, t := range s.tries {
		switch {
		case high > 0 && rate >= high:
		case t.holds():
			low = max(low, rate)
		case t.isUnknown():
			limit = max(limit, rate)
		}
	}
	if limit < low {
		limit = 0
	}
	return low, high, limit
}

// Add says how the rate that Next returned went.
func (s *Capacity) Add(o Outcome) {
	t := s.tries[s.rate]
	switch {
	case s.isConfirming:
		t = &s.confirm
	case t == nil:
		t = new(tries)
		s.tries[s.rate] = t
	}
	s.steps++
	s.limitedRow++
	switch o {
	case OutcomeHeld:
		t.heldCount++
		s.limitedRow = 0
	case OutcomeFailed:
		t.failedCount++
		s.limitedRow = 0
	default:
		t.limitedCount++
		s.isGivenUp = s.isGivenUp || s.limitedRow >= maxLimited
	}
}

// Result is what a search has found so far. Rates are a second, 0 where there is none.
type Result struct {
	Rate               float64 // the highest that held below those that did not
	IsConfirmed        bool    // it held in a longer step as well
	FailedRate         float64 // the lowest that did not hold
	IsGeneratorLimited bool    // the search ended because of the generator, and not of a rate that did not hold
	// ContraryRate is the highest rate that held although a lower one did not, if it is farther above that than the search
	// is precise; 0 if there is none.
	ContraryRate float64
}

// Result returns what was found so far.
func (s *Capacity) Result() Result {
	low, _, limit := s.edges()
	r := Result{
		Rate: low, FailedRate: s.lowestFailed(), IsGeneratorLimited: s.isGivenUp || limit > 0 || s.confirm.isUnknown(),
		IsConfirmed: s.confirm.holds(),
	}
	for rate, t := range s.tries {
		if t.heldCount > 0 && r.FailedRate > 0 && rate > r.FailedRate*(1+2*s.Precision) {
			r.ContraryRate = max(r.ContraryRate, rate)
		}
	}
	return r
}

// round returns a rate with three digits.
func round(rate float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(rate))-2)
	if unit < 1 { // 1/unit is whole, and unit is not
		return math.Round(rate*math.Round(1/unit)) / math.Round(1/unit)
	}
	return math.Round(rate/unit) * unit
}
