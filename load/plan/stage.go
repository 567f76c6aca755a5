package plan

import (
	"math"
	"time"
)

// Stage is a part of a plan in which the rate changes linearly. Negative rates, infinite
// ones, NaN and rates below one in thirty years count as zero.
type Stage struct {
	Length   time.Duration // how long it lasts; a stage of zero or less is skipped
	From, To float64       // arrivals a second at its start and its end
}

// ramp is a stage in nanoseconds and arrivals a nanosecond.
type ramp struct {
	start, length        time.Duration
	from, to             float64
	count                float64 // arrivals due in the segment
	startCount, endCount float64 // arrivals due in the plan up to its start and its end
}

// minRate is the rate, in arrivals a second, below which a rate counts as zero: the
// integral would not increase from one nanosecond to the next.
const minRate = 1e-9

func perNanosecond(rate float64) float64 {
	if !(rate >= minRate) || math.IsInf(rate, 1) {
		return 0
	}
	return rate / 1e9
}

func (s *ramp) end() time.Duration { return s.start + s.length }

// arrivals returns the number of arrivals in the first x of the segment. It increases with x,
// in floating point too, so that timeOf is monotonic.
func (s *ramp) arrivals(x time.Duration) float64 {
	if s.to < s.from {
		return s.count - area(s.length-x, s.length, s.to, s.from)
	}
	return area(x, s.length, s.from, s.to)
}

// timeOf returns the last nanosecond at which no more than y arrivals are due. A falling
// segment is computed from its end, where the rate is low: from its start, subtraction
// would lose all digits.
func (s *ramp) timeOf(y float64) time.Duration {
	if s.to >= s.from {
		return invertArea(y, s.length, s.from, s.to)
	}
	rest := s.count - y
	back := invertArea(rest, s.length, s.to, s.from)
	if back < s.length && area(back, s.length, s.to, s.from) < rest {
		back++
	}
	return s.length - back
}

// area returns the integral from 0 to x of a rate that rises from low to high over
// length. The conversions keep the compiler from fusing operations, which would give
// other last digits on other machines; every operation increases with x.
func area(x, length time.Duration, low, high float64) float64 {
	t := float64(x)
	slope := (high - low) / float64(length) / 2
	return float64(low*t) + float64(float64(slope*t)*t)
}

// invertArea returns the largest x up to length with area(x) <= y. The quadratic formula
// is right within a nanosecond or two; the loops make it exact.
func invertArea(y float64, length time.Duration, low, high float64) time.Duration {
	slope := (high - low) / float64(length) / 2
	guess := 0.0
	if y > 0 {
		guess = 2 * y / (low + math.Sqrt(float64(low*low)+float64(4*slope*y)))
	}
	x := length
	if guess < float64(length) {
		x = max(0, time.Duration(guess))
	}
	for x > 0 && area(x, length, low, high) > y {
		x--
	}
	for x < length && area(x+1, length, low, high) <= y {
		x++
	}
	return x
}
