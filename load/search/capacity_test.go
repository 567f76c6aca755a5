package search

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// runSearch returns what a search finds of a server, and the rates that it tried.
func runSearch(s *Capacity, at func(rate float64) Outcome) (Result, []float64) {
	var tried []float64
	for rate, ok := s.Next(); ok; rate, ok = s.Next() {
		tried = append(tried, rate)
		s.Add(at(rate))
	}
	return s.Result(), tried
}

// holdsUpTo holds up to a rate.
func holdsUpTo(limit float64, beyond Outcome) func(float64) Outcome {
	return func(rate float64) Outcome {
		if rate <= limit {
			return OutcomeHeld
		}
		return beyond
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := &Capacity{From: 100, MaxRate: 1e6, Precision: 0.05}
	result, tried := runSearch(s, holdsUpTo(1234, OutcomeFailed))
	assert.Equal(t, []float64{100, 200, 400, 800, 1600, 1600, 1200, 1400, 1400, 1300, 1300, 1250, 1250, 1200, 1200}, tried)
	assert.True(t, s.IsConfirming(), "in the last step")
	assert.Equal(t, Result{Rate: 1200, IsConfirmed: true, FailedRate: 1250}, result)
}

func TestSearchIsRightOfEveryServer(t *testing.T) {
	t.Parallel()
	for _, limit := range []float64{0.9, 1, 3, 99, 100, 101, 5000, 7777, 123_456, 999_999} {
		result, tried := runSearch(&Capacity{From: 100, MaxRate: 1e6, Precision: 0.02}, holdsUpTo(limit, OutcomeFailed))
		assert.True(t, result.IsConfirmed, limit)
		assert.LessOrEqual(t, result.Rate, limit)
		assert.Greater(t, result.FailedRate, limit)
		assert.LessOrEqual(t, result.FailedRate/result.Rate, 1.03, "%v: three digits of %v", limit, result.Rate)
		assert.Less(t, len(tried), 50)
	}
}

func TestSearchHasEnds(t *testing.T) {
	t.Parallel()
	result, tried := runSearch(&Capacity{From: 100, MaxRate: 300, Precision: 0.05}, holdsUpTo(1e9, OutcomeFailed))
	assert.Equal(t, Result{Rate: 300, IsConfirmed: true}, result)
	assert.Equal(t, []float64{100, 200, 300, 300, 300}, tried)
	result, _ = runSearch(&Capacity{From: 4, MaxRate: 300, Precision: 0.05}, holdsUpTo(0, OutcomeFailed))
	assert.Equal(t, Result{FailedRate: 0.5}, result)
	result, _ = runSearch(&Capacity{From: 100, MaxRate: 1e6, Precision: 0.05}, holdsUpTo(450, OutcomeLimited))
	assert.Equal(t, Result{Rate: 400, IsGeneratorLimited: true}, result)
	result, tried = runSearch(&Capacity{From: 100, MaxRate: 1e6, Precision: 0.05}, holdsUpTo(0, OutcomeLimited))
	assert.Equal(t, Result{IsGeneratorLimited: true}, result, "what the generator could not do is nothing that did not hold")
	assert.Equal(t, []float64{100, 100, 200, 200}, tried)
	result, tried = runSearch(&Capacity{From: 100, MaxRate: 1e6, MinRate: 40, Precision: 0.05}, holdsUpTo(0, OutcomeFailed))
	assert.Equal(t, Result{FailedRate: 40}, result)
	assert.Equal(t, []float64{100, 100, 50, 50, 40, 40}, tried)
	_, tried = runSearch(&Capacity{From: 10, MaxRate: 60, MinRate: 40, Precision: 0.05}, holdsUpTo(1e9, OutcomeFailed))
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
		"held":               {[]Outcome{OutcomeHeld}, Result{Rate: 1200, IsConfirmed: true, FailedRate: 1250}, 1},
		"failed":             {[]Outcome{OutcomeFailed}, Result{Rate: 1200, FailedRate: 1250}, 2},
		"failed by a stall":  {[]Outcome{OutcomeFailed, OutcomeHeld}, Result{Rate: 1200, IsConfirmed: true, FailedRate: 1250}, 3},
		"not by the machine": {[]Outcome{OutcomeLimited}, Result{Rate: 1200, FailedRate: 1250, IsGeneratorLimited: true}, 2},
	} {
		s, n := &Capacity{From: 100, MaxRate: 1e6, Precision: 0.05}, 0
		result, _ := runSearch(s, func(rate float64) Outcome {
			if !s.IsConfirming() {
				return holdsUpTo(1234, OutcomeFailed)(rate)
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
	result, _ := runSearch(&Capacity{From: 1200, MaxRate: 1e6, Precision: 0.05}, func(rate float64) Outcome {
		if rate == 19200 {
			return OutcomeHeld // once, while a cache was full
		}
		return holdsUpTo(12000, OutcomeFailed)(rate)
	})
	assert.Zero(t, result.ContraryRate, "9,600 held, and 19,200 twice")
	n := map[float64]int{}
	result, _ = runSearch(&Capacity{From: 1200, MaxRate: 1e6, Precision: 0.05}, func(rate float64) Outcome {
		if n[rate]++; rate == 19200 && n[rate] == 1 || rate < 12000 {
			return OutcomeHeld
		}
		return OutcomeFailed
	})
	assert.InDelta(t, 19200, result.ContraryRate, 1)
	assert.Less(t, result.Rate, 12000.0)
}

// A stall that makes single steps fail does not move the result, and a server that holds by chance only ends the search
// all the same.
func TestSearchOnANoisyServer(t *testing.T) {
	t.Parallel()
	n := 0
	result, _ := runSearch(&Capacity{From: 100, MaxRate: 1e6, Precision: 0.05}, func(rate float64) Outcome {
		if n++; n%3 == 0 {
			return OutcomeFailed
		}
		return holdsUpTo(1000, OutcomeFailed)(rate)
	})
	assert.InDelta(t, 1000, result.Rate, 60)
	random := rand.New(rand.NewPCG(1, 2))
	_, tried := runSearch(&Capacity{From: 100, MaxRate: 1e6, Precision: 0.01},
		func(float64) Outcome { return Outcome(random.IntN(2)) })
	assert.LessOrEqual(t, len(tried), maxSteps)
}

// What held once at the edge, and then not, is not the result.
func TestTheEdgeIsConfirmed(t *testing.T) {
	t.Parallel()
	counts := map[float64]int{}
	result, _ := runSearch(&Capacity{From: 100, MaxRate: 1e6, Precision: 0.05}, func(rate float64) Outcome {
		if counts[rate]++; rate > 1000 && counts[rate] > 1 {
			return OutcomeFailed
		}
		return holdsUpTo(1500, OutcomeFailed)(rate)
	})
	assert.LessOrEqual(t, result.Rate, 1000.0)
	assert.GreaterOrEqual(t, result.Rate, 900.0)
	assert.True(t, result.IsConfirmed)
}

// A generator that could not do what it should for a while is no reason to search below the rate at which that was: the
// server holds 2,000, wherever the search begins.
func TestTheGeneratorIsNoReasonToSearchBelow(t *testing.T) {
	t.Parallel()
	for _, from := range []float64{100, 500, 2000, 2100, 8000} {
		for disturbed := range 12 {
			steps := 0
			result, tried := runSearch(&Capacity{From: from, MaxRate: 1e6, Precision: 0.05}, func(rate float64) Outcome {
				if steps++; steps > disturbed && steps <= disturbed+2 {
					return OutcomeLimited
				}
				return holdsUpTo(2000, OutcomeFailed)(rate)
			})
			assert.LessOrEqual(t, result.Rate, 2000.0)
			assert.GreaterOrEqual(t, result.Rate, 1600.0, "from %v, %d: %v", from, disturbed, tried)
		}
	}
	_, tried := runSearch(&Capacity{From: 1000, MaxRate: 1e6, Precision: 0.05}, holdsUpTo(0, OutcomeLimited))
	for _, rate := range tried {
		assert.GreaterOrEqual(t, rate, 1000.0, tried)
	}
}
