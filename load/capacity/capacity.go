// Package capacity searches for the highest rate that a server sustains: it says which rate to try next, given how the
// last one went. It runs nothing.
package capacity

import "math"

// Outcome is how a step went.
type Outcome uint8

// The outcomes.
const (
	Held    Outcome = iota // the server sustained the rate
	Failed                 // it did not
	Limited                // the generator could not sustain it: nothing is known of the server
)

// Search doubles the rate until it does not hold, and then halves the distance between the highest rate that held and
// the lowest that did not. A step that did not hold is tried once more, and a third time if that one held: a single
// stall of a machine ends no search. The highest rate that held counts if it holds twice. A step that was Limited
// decides nothing about its rate, but a higher one is not tried either. After a few of them in a row the search ends.
//
// Call Next for a rate, try it, and call Add with how it went, until Next returns false.
type Search struct {
	// From is the first rate, and Most the highest; both are a second and above 0. Least is the lowest: a step of a lower
	// one would have too few arrivals for what it is judged by.
	From, Most, Least float64
	// Precision is how near the two rates have to be, as a share of the lower one.
	Precision float64

	now   float64
	steps int
	row   int // of the latest steps were Limited
	tries map[float64]*tries
}

// tries is how the steps of one rate went.
type tries struct {
	held, not, limited int
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

// undecided reports whether a rate was tried and is to be tried again.
func (t *tries) undecided() bool { return t != nil && !t.holds() && !t.fails() && !t.open() }

// Next returns the next rate, and whether there is one.
func (s *Search) Next() (rate float64, more bool) {
	if s.tries == nil {
		s.tries = map[float64]*tries{}
	}
	s.now = s.next()
	return s.now, s.now > 0 && s.steps < mostSteps
}

func (s *Search) next() float64 {
	if s.tries[s.now].undecided() {
		return s.now
	}
	low, high, limit := s.edges()
	if limit > 0 && (high == 0 || limit < high) {
		high = limit
	}
	switch {
	case s.row >= mostLimited:
		return 0
	case low == 0:
		return s.lower(high)
	case high == 0 && low < s.Most:
		return min(2*low, s.Most)
	}
	if middle := round((low + high) / 2); high > low*(1+s.Precision) && middle > low && middle < high {
		return middle
	}
	if s.tries[low].held < enough {
		return low
	}
	return 0
}

// lower returns the rate to try as long as none has held, given the lowest that did not; 0 if there is none.
func (s *Search) lower(high float64) float64 {
	floor := max(least, s.Least)
	switch {
	case high == 0:
		return min(max(s.From, s.Least), s.Most)
	case high <= floor:
		return 0
	}
	return max(round(high/2), floor)
}

// edges returns the highest rate that held below all that did not, the lowest that did not, and the lowest of which
// nothing is known because of the generator; 0 if there is none.
func (s *Search) edges() (low, high, limit float64) {
	for rate, t := range s.tries {
		if t.fails() && (high == 0 || rate < high) {
			high = rate
		}
		if t.open() && (limit == 0 || rate < limit) {
			limit = rate
		}
	}
	for rate, t := range s.tries {
		if t.holds() && rate > low && (high == 0 || rate < high) {
			low = rate
		}
	}
	return low, high, limit
}

// Add says how the rate that Next returned went.
func (s *Search) Add(o Outcome) {
	t := s.tries[s.now]
	if t == nil {
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
	}
}

// Result is what a search has found so far. Rates are a second, 0 where there is none.
type Result struct {
	Rate      float64 // the highest that held
	Confirmed bool    // it held twice
	Above     float64 // the lowest that did not hold
	Limited   bool    // the search ended because of the generator, and not of a rate that did not hold
}

// Result returns what was found so far.
func (s *Search) Result() Result {
	low, high, limit := s.edges()
	r := Result{Rate: low, Above: high, Limited: s.row >= mostLimited || limit > 0 && (high == 0 || limit < high)}
	if t := s.tries[low]; t != nil {
		r.Confirmed = t.held >= enough
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
