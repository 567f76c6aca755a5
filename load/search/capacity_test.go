package search

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// searched returns what a search finds of a server, and the rates that it tried.
func searched(s *Capacity, at func(rate float64) Outcome) (Result, []float64) {
	var tried []float64
	for rate, more := s.Next(); more; rate, more = s.Next() {
		tried = append(tried, rate)
		s.Add(at(rate))
	}
	return s.Result(), tried
}

// below holds up to a rate.
func below(limit float64, beyond Outcome) func(float64) Outcome {
	return func(rate float64) Outcome {
		if rate <= limit {
			return Held
		}
		return beyond
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := &Capacity{From: 100, Most: 1e6, Precision: 0.05}
	result, tried := searched(s, below(1234, Failed))
	assert.Equal(t, []float64{100, 200, 400, 800, 1600, 1600, 1200, 1400, 1400, 1300, 1300, 1250, 1250, 1200, 1200}, tried)
	assert.True(t, s.Confirming(), "in the last step")
	assert.Equal(t, Result{Rate: 1200, Confirmed: true, Above: 1250}, result)
}

func TestSearchIsRightOfEveryServer(t *testing.T) {
	t.Parallel()
	for _, limit := range []float64{0.9, 1, 3, 99, 100, 101, 5000, 7777, 123_456, 999_999} {
		result, tried := searched(&Capacity{From: 100, Most: 1e6, Precision: 0.02}, below(limit, Failed))
		assert.True(t, result.Confirmed, limit)
		assert.LessOrEqual(t, result.Rate, limit)
		assert.Greater(t, result.Above, limit)
		assert.LessOrEqual(t, result.Above/result.Rate, 1.03, "%v: three digits of %v", limit, result.Rate)
		assert.Less(t, len(tried), 50)
	}
}

func TestSearchHasEnds(t *testing.T) {
	t.Parallel()
	result, tried := searched(&Capacity{From: 100, Most: 300, Precision: 0.05}, below(1e9, Failed))
	assert.Equal(t, Result{Rate: 300, Confirmed: true}, result)
	assert.Equal(t, []float64{100, 200, 300, 300, 300}, tried)
	result, _ = searched(&Capacity{From: 4, Most: 300, Precision: 0.05}, below(0, Failed))
	assert.Equal(t, Result{Above: 0.5}, result)
	result, _ = searched(&Capacity{From: 100, Most: 1e6, Precision: 0.05}, below(450, Limited))
	assert.Equal(t, Result{Rate: 400, Limited: true}, result)
	result, tried = searched(&Capacity{From: 100, Most: 1e6, Precision: 0.05}, below(0, Limited))
	assert.Equal(t, Result{Limited: true}, result, "what the generator could not do is nothing that did not hold")
	assert.Equal(t, []float64{100, 100, 200, 200}, tried)
	result, tried = searched(&Capacity{From: 100, Most: 1e6, Least: 40, Precision: 0.05}, below(0, Failed))
	assert.Equal(t, Result{Above: 40}, result)
	assert.Equal(t, []float64{100, 100, 50, 50, 40, 40}, tried)
	_, tried = searched(&Capacity{From: 10, Most: 60, Least: 40, Precision: 0.05}, below(1e9, Failed))
	assert.Equal(t, []float64{40, 60, 60, 60}, tried)
}

// A server that holds a rate only for as long as a step, as one with credits does, does not sustain it.
func TestTheResultIsConfirmed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		confirm []Outcome // the last one again and again
		want    Result
		tries   int
	}{
		"held":               {[]Outcome{Held}, Result{Rate: 1200, Confirmed: true, Above: 1250}, 1},
		"failed":             {[]Outcome{Failed}, Result{Rate: 1200, Above: 1250}, 2},
		"failed by a stall":  {[]Outcome{Failed, Held}, Result{Rate: 1200, Confirmed: true, Above: 1250}, 3},
		"not by the machine": {[]Outcome{Limited}, Result{Rate: 1200, Above: 1250, Limited: true}, 2},
	} {
		s, n := &Capacity{From: 100, Most: 1e6, Precision: 0.05}, 0
		result, _ := searched(s, func(rate float64) Outcome {
			if !s.Confirming() {
				return below(1234, Failed)(rate)
			}
			n++
			return test.confirm[min(n, len(test.confirm))-1]
		})
		assert.Equal(t, test.want, result, name)
		assert.Equal(t, test.tries, n, name)
	}
}

// Steps that contradict each other are told.
func TestStepsThatContradictEachOther(t *testing.T) {
	t.Parallel()
	result, _ := searched(&Capacity{From: 1200, Most: 1e6, Precision: 0.05}, func(rate float64) Outcome {
		if rate == 19200 {
			return Held // once, while a cache was full
		}
		return below(12000, Failed)(rate)
	})
	assert.Zero(t, result.Contrary, "9,600 held, and 19,200 twice")
	n := map[float64]int{}
	result, _ = searched(&Capacity{From: 1200, Most: 1e6, Precision: 0.05}, func(rate float64) Outcome {
		if n[rate]++; rate == 19200 && n[rate] == 1 || rate < 12000 {
			return Held
		}
		return Failed
	})
	assert.InDelta(t, 19200, result.Contrary, 1)
	assert.Less(t, result.Rate, 12000.0)
}

// A stall that makes single steps fail does not move the result, and a server that holds by chance only ends the search
// all the same.
func TestSearchOnANoisyServer(t *testing.T) {
	t.Parallel()
	n := 0
	result, _ := searched(&Capacity{From: 100, Most: 1e6, Precision: 0.05}, func(rate float64) Outcome {
		if n++; n%3 == 0 {
			return Failed
		}
		return below(1000, Failed)(rate)
	})
	assert.InDelta(t, 1000, result.Rate, 60)
	random := rand.New(rand.NewPCG(1, 2))
	_, tried := searched(&Capacity{From: 100, Most: 1e6, Precision: 0.01},
		func(float64) Outcome { return Outcome(random.IntN(2)) })
	assert.LessOrEqual(t, len(tried), mostSteps)
}

// What held once at the edge, and then not, is not the result.
func TestTheEdgeIsConfirmed(t *testing.T) {
	t.Parallel()
	seen := map[float64]int{}
	result, _ := searched(&Capacity{From: 100, Most: 1e6, Precision: 0.05}, func(rate float64) Outcome {
		if seen[rate]++; rate > 1000 && seen[rate] > 1 {
			return Failed
		}
		return below(1500, Failed)(rate)
	})
	assert.LessOrEqual(t, result.Rate, 1000.0)
	assert.GreaterOrEqual(t, result.Rate, 900.0)
	assert.True(t, result.Confirmed)
}

// A generator that could not do what it should for a while is no reason to search below the rate at which that was: the
// server holds 2,000, wherever the search begins.
func TestTheGeneratorIsNoReasonToSearchBelow(t *testing.T) {
	t.Parallel()
	for _, from := range []float64{100, 500, 2000, 2100, 8000} {
		for disturbed := range 12 {
			steps := 0
			result, tried := searched(&Capacity{From: from, Most: 1e6, Precision: 0.05}, func(rate float64) Outcome {
				if steps++; steps > disturbed && steps <= disturbed+2 {
					return Limited
				}
				return below(2000, Failed)(rate)
			})
			assert.LessOrEqual(t, result.Rate, 2000.0)
			assert.GreaterOrEqual(t, result.Rate, 1600.0, "from %v, %d: %v", from, disturbed, tried)
		}
	}
	_, tried := searched(&Capacity{From: 1000, Most: 1e6, Precision: 0.05}, below(0, Limited))
	for _, rate := range tried {
		assert.GreaterOrEqual(t, rate, 1000.0, tried)
	}
}
