package lag

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestHowLongItCanHaveBeen(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(from, to time.Duration) Interval { return Interval{start.Add(from), start.Add(to)} }
	for name, test := range map[string]struct {
		from, to Interval
		want     Span
	}{
		"both are certain": {At(start), At(start.Add(time.Second)), Span{time.Second, time.Second}},
		"the first is not": {
			at(0, 300*time.Millisecond), At(start.Add(time.Second)), Span{700 * time.Millisecond, time.Second},
		},
		"the second is not":     {At(start), at(time.Second, 2*time.Second), Span{time.Second, 2 * time.Second}},
		"they can be reordered": {at(0, 2*time.Second), at(time.Second, 3*time.Second), Span{-time.Second, 3 * time.Second}},
	} {
		assert.Equal(t, test.want, test.from.To(test.to), name)
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, test := range map[string]struct {
		span            Span
		limit           time.Duration
		atLeast, atMost Answer
	}{
		"no BEAT for 63 s, and lag of 0.7 s": {
			Span{62300 * time.Millisecond, 63 * s}, 60 * s, Kept, Broken,
		},
		"2.4 s for 2 s, and lag of 0.7 s": {
			Span{1700 * time.Millisecond, 2400 * time.Millisecond}, 2 * s,
			Open, Open,
		},
		"shorter":           {Span{s, 2 * s}, 3 * s, Broken, Kept},
		"exactly the limit": {Span{3 * s, 3 * s}, 3 * s, Kept, Kept},
		"up to the limit":   {Span{2 * s, 3 * s}, 3 * s, Open, Kept},
		"from the limit on": {Span{3 * s, 4 * s}, 3 * s, Kept, Open},
	} {
		assert.Equal(t, test.atLeast, test.span.AtLeast(test.limit), name)
		assert.Equal(t, test.atMost, test.span.AtMost(test.limit), name)
	}
	assert.Equal(t, "open kept broken", Open.String()+" "+Kept.String()+" "+Broken.String())
}
