package lag

import "time"

// Interval is when an event can have happened: not before Earliest and not after Latest.
type Interval struct{ Earliest, Latest time.Time }

// At is the interval of an event whose time is known exactly.
func At(t time.Time) Interval { return Interval{t, t} }

// To returns how long it can have been from the event to a later one.
func (i Interval) To(later Interval) Span {
	return Span{Shortest: later.Earliest.Sub(i.Latest), Longest: later.Latest.Sub(i.Earliest)}
}

// Span is how long something can have taken.
type Span struct{ Shortest, Longest time.Duration }

// Answer is what is known of a claim.
type Answer uint8

// The answers. The zero Answer decides nothing.
const (
	Open   Answer = iota // the span may keep the claim, and may break it
	Kept                 // whenever in their intervals the events happened
	Broken               // the same
)

func (a Answer) String() string { return [...]string{"open", "kept", "broken"}[a] }

// Claim is an answer, and the time between it and the next one: by how much a claim is kept or broken for certain, or
// by how much more it would have to be broken to be so for certain.
type Claim struct {
	Answer Answer
	By     time.Duration
}

// AtLeast claims that the span is not shorter than a limit.
func (s Span) AtLeast(limit time.Duration) Claim {
	return claim(limit-s.Longest, limit-s.Shortest)
}

// AtMost claims that the span is not longer than a limit.
func (s Span) AtMost(limit time.Duration) Claim {
	return claim(s.Shortest-limit, s.Longest-limit)
}

// claim returns the answer where a limit was passed by no less than least, and no more than most.
func claim(least, most time.Duration) Claim {
	switch {
	case least > 0:
		return Claim{Broken, least}
	case most <= 0:
		return Claim{Kept, -most}
	}
	return Claim{Open, -least}
}
