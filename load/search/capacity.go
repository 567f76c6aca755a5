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
	Held    Outcome = iota // the server sustained the rate
	Failed                 // it did not
	Limited                // the generator could not sustain it: nothing is known of the server
)

// Capacity doubles the rate until it does not hold, and then halves the distance between the highest rate that held
// and the lowest that did not. A step that did not hold is tried once more, and a third time if that one held: a
// single stall of a machine ends no search. The highest rate that held counts if it holds twice. A step that was
// Limited decides nothing about its rate, and is no reason to search below it: the search goes on above, and tries it
// anew when it knows a rate that does not hold. After a few of them in a row it ends. Last, the rate that was found is
// confirmed by a step that is longer (Confirming), which is tried again like the others.
//
// Call Next for a rate, try it, and call Add with how it went, until Next returns false.
type Capacity struct {
	// From is the first rate, and Most the highest; both are a second and above 0. Least is the lowest: a step of a lower
	// one would have too few arrivals for what it is judged by.
	From, Most, Least float64
	// Precision is how near the two rates have to be, as a share of the lower one.
	Precision float64

	now   float64
	steps int
	row   int  // of the latest steps were Limited
	over  bool // it is given up: they are too many
	tries map[float64]*tries

	confirming bool
	confirm    tries // of the rate that was found
}

// tries is how the steps of one rate went.
type tries struct {
	held, not, limited int

	again bool // it was Limited, and is tried anew
}

const (
	enough      = 2   // steps that agree
	least       = 0.5 // a lower rate is none
	mostSteps   = 100 // a noisy server is given up
	mostLimited = 4   // in a row: two rates
)

// holds and fails report what a rate came to; neither if it is to be tried again.
func (t *tries) holds() bool { return t.held > 0 && t.not == 0 || t.held >= enough && t.not < enough }
func (t *tries) fails() bool { return t.not >= enough }

// open reports whether enough steps of the rate were Limited, so that nothing is known of it.
func (t *tries) open() bool { return t.limited >= enough && !t.holds() && !t.fails() }

func (t *tries) tried() bool { return t.held+t.not+t.limited > 0 }

// undecided reports whether a rate was tried and is to be tried again.
func (t *tries) undecided() bool { return t != nil && !t.holds() && !t.fails() && !t.open() }

// Next returns the next rate, and whether there is one.
func (s *Capacity) Next() (rate float64, more bool) {
	if s.tries == nil {
		s.tries = map[float64]*tries{}
	}
	if !s.confirming {
		s.now = s.next()
	}
	if low, _, _ := s.edges(); s.now == 0 && low > 0 && !s.over {
		s.now, s.confirming = low, true
	}
	decided := s.confirming && s.confirm.tried() && !s.confirm.undecided()
	return s.now, s.now > 0 && !decided && s.steps < mostSteps
}

// Confirming reports whether the rate that Next returned is the result, to be confirmed by a longer step.
func (s *Capacity) Confirming() bool { return s.confirming }

func (s *Capacity) next() float64 {
	if s.tries[s.now].undecided() {
		return s.now
	}
	low, high, limit := s.edges()
	base := max(low, limit)
	switch middle := round((base + high) / 2); {
	case s.over:
	case limit > 0 && high > 0 && !s.tries[limit].again: // what it was may have passed
		s.tries[limit].again, s.tries[limit].limited = true, 0
		return limit
	case base == 0:
		return s.lower(high)
	case high == 0 && base < s.Most:
		return min(2*base, s.Most)
	case high > base*(1+s.Precision) && middle > base && middle < high:
		return middle
	}
	if low > 0 && s.tries[low].held < enough && s.row <= mostLimited {
		return low
	}
	return 0
}

// lower returns the rate to try as long as none has held, given the lowest that did not; 0 if there is none.
func (s *Capacity) lower(high float64) float64 {
	floor := max(least, s.Least)
	switch {
	case high == 0:
		return min(max(s.From, s.Least), s.Most)
	case high <= floor:
		return 0
	}
	return max(round(high/2), floor)
}

// failing returns the lowest rate that did not hold, 0 if there is none.
func (s *Capacity) failing() (lowest float64) {
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
	high = s.failing()
	for _, rate := range slices.Backward(slices.Sorted(maps.Keys(s.tries))) {
		if s.tries[rate].open() && rate < high && rate*(1+s.Precision) >= high {
			high = rate // the server does not hold right above it
		}
	}
	for rate, t := range s.tries {
		switch {
		case high > 0 && rate >= high:
		case t.holds():
			low = max(low, rate)
		case t.open():
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
	t := s.tries[s.now]
	switch {
	case s.confirming:
		t = &s.confirm
	case t == nil:
		t = new(tries)
		s.tries[s.now] = t
	}
	s.steps++
	s.row++
	switch o {
	case Held:
		t.held++
		s.row = 0
	case Failed:
		t.not++
		s.row = 0
	default:
		t.limited++
		s.over = s.over || s.row >= mostLimited
	}
}

// Result is what a search has found so far. Rates are a second, 0 where there is none.
type Result struct {
	Rate      float64 // the highest that held below those that did not
	Confirmed bool    // it held in a longer step as well
	Above     float64 // the lowest that did not hold
	Limited   bool    // the search ended because of the generator, and not of a rate that did not hold
	// Contrary is the highest rate that held although a lower one did not, if it is farther above that than the search is
	// precise; 0 if there is none.
	Contrary float64
}

// Result returns what was found so far.
func (s *Capacity) Result() Result {
	low, _, limit := s.edges()
	r := Result{
		Rate: low, Above: s.failing(), Limited: s.over || limit > 0 || s.confirm.open(), Confirmed: s.confirm.holds(),
	}
	for rate, t := range s.tries {
		if t.held > 0 && r.Above > 0 && rate > r.Above*(1+2*s.Precision) {
			r.Contrary = max(r.Contrary, rate)
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
