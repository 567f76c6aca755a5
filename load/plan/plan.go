package plan

import (
	"math"
	"slices"
	"sort"
	"sync"
	"time"
)

// Plan is an arrival plan. Its zero value has no arrivals. Its fields must not change
// after the first call of a method; then all methods are safe for concurrent use. A Plan
// must not be copied.
type Plan struct {
	// Stages follow one another from instant 0.
	Stages []Stage
	// Poisson draws the arrivals independently of each other instead of spacing
	// them evenly.
	Poisson bool
	// Burst is how many arrivals have the same instant, at the same mean rate; 0 is 1.
	Burst int
	// MaxArrivals is the greatest number of arrivals; 0 or less is no limit.
	MaxArrivals int64
	// Seed determines a Poisson plan. An even plan does not use it.
	Seed uint64
	// Instants, unless they are nil, are the arrivals themselves, as they were recorded: ascending from 0. Then the plan
	// has no stages, and the other fields but MaxArrivals mean nothing.
	Instants []time.Duration

	prepareOnce sync.Once
	segments    []ramp // those that hold arrivals
	span        time.Duration
	expected    float64 // arrivals of all stages, by the integral
	counts      *counts

	indexOnce sync.Once
	index     index
}

// At returns the instant of arrival k, counted from 0, since the start of the plan, and
// false if the plan has no such arrival. It never decreases with k. An arrival is due in
// the last nanosecond in which the integral of the rate is not above its place, so
// none is in a stage of rate zero.
//
// On a Poisson plan the first call of At or Total counts the arrivals of the whole
// plan, about a tenth of a second for each 10^9 of them; then At takes some
// ten microseconds. [Plan.Cursor] does not need that.
func (p *Plan) At(k int64) (time.Duration, bool) {
	if k < 0 || k >= p.Total() {
		return 0, false
	}
	group := k / p.burst()
	if p.Instants != nil {
		return p.Instants[k], true
	}
	if p.Poisson {
		return p.invert(p.index.place(p, group)), true
	}
	return p.invert(float64(group * p.burst())), true
}

// CountBefore returns how many arrivals have an instant before t; see [Plan.At] for its cost.
func (p *Plan) CountBefore(t time.Duration) int64 {
	return int64(sort.Search(int(p.Total()), func(k int) bool {
		at, _ := p.At(int64(k))
		return at >= t
	}))
}

// Span returns the length of all stages. That of recorded arrivals ends after the last one by the mean time between
// two, as that of an even plan does, and is a second or more.
func (p *Plan) Span() time.Duration {
	p.prepare()
	return p.span
}

// End returns when the plan is over: at the end of its stages, or when the integral of the rate reaches MaxArrivals if
// that is earlier. Of recorded arrivals that is the one after the last within MaxArrivals.
func (p *Plan) End() time.Duration {
	p.prepare()
	switch {
	case p.MaxArrivals <= 0:
	case p.Instants != nil && p.MaxArrivals < int64(len(p.Instants)):
		return p.Instants[p.MaxArrivals]
	case p.Instants == nil && float64(p.MaxArrivals) < p.expected:
		return p.invert(float64(p.MaxArrivals))
	}
	return p.span
}

// Total returns the number of arrivals in the plan; see [Plan.At] for its cost. For an
// even plan that is the integral of its rate, rounded up.
func (p *Plan) Total() int64 {
	p.prepare()
	total := int64(len(p.Instants))
	switch {
	case p.Instants != nil:
	case p.Poisson:
		p.indexOnce.Do(func() { p.index = p.count() })
		total = p.index.total * p.burst()
	default:
		total = int64(math.Ceil(p.expected))
	}
	if p.MaxArrivals > 0 {
		return min(total, p.MaxArrivals)
	}
	return total
}

// Expected returns the integral of the rate from 0 to t: how many arrivals there should have
// been, and of recorded arrivals how many there are before t. It ignores MaxArrivals.
func (p *Plan) Expected(t time.Duration) float64 {
	p.prepare()
	if p.Instants != nil {
		n, _ := slices.BinarySearch(p.Instants, t)
		return float64(n)
	}
	i := sort.Search(len(p.segments), func(i int) bool { return p.segments[i].end() > t })
	if i == len(p.segments) {
		return p.expected
	}
	s := &p.segments[i]
	return s.startCount + s.arrivals(max(0, t-s.start))
}

func (p *Plan) burst() int64 { return int64(max(1, p.Burst)) }

// prepare computes the segments, once.
func (p *Plan) prepare() {
	p.prepareOnce.Do(func() {
		for _, stage := range p.Stages {
			if stage.Length <= 0 {
				continue
			}
			s := ramp{
				start: p.span, length: stage.Length, startCount: p.expected,
				from: perNanosecond(stage.From), to: perNanosecond(stage.To),
			}
			p.span += stage.Length
			s.count = area(s.length, s.length, min(s.from, s.to), max(s.from, s.to))
			if s.count > 0 {
				p.expected = snap(p.expected + s.count)
				s.endCount = p.expected
				p.segments = append(p.segments, s)
			}
		}
		if n := len(p.Instants); n > 0 {
			last := p.Instants[n-1]
			p.span = max(last+last/time.Duration(max(1, n-1)), time.Second)
		} else if p.Poisson {
			p.counts = newCounts()
		}
	})
}

// snap removes rounding errors, so that ten stages of a tenth of an arrival have one
// and not two.
func snap(x float64) float64 {
	rounded := math.Round(x)
	if math.Abs(x-rounded) < 1e-6 || math.Abs(x-rounded) < 1e-14*x {
		return rounded
	}
	return x
}

// invert returns the instant at which the integral of the rate exceeds u, which is less
// than expected.
func (p *Plan) invert(u float64) time.Duration {
	i := sort.Search(len(p.segments), func(i int) bool {
		return p.segments[i].endCount > u
	})
	return p.segments[min(i, len(p.segments)-1)].instant(u)
}

// instant returns when the integral of the whole plan exceeds u, which is in the segment.
func (s *ramp) instant(u float64) time.Duration {
	return s.start + s.timeOf(max(0, u-s.startCount))
}
