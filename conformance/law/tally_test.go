package law_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
)

// TestTally plays events of a Watch, as TestWatch does, and counts what they decide.
func TestTally(t *testing.T) {
	t.Parallel()
	why := func(n int, why string) map[string]int { return map[string]int{why: n} }
	for events, want := range map[string]law.Tally{
		"":                       {},
		"a a<hi a>x a<x a>x a<x": {Judged: 3, Rules: map[string]law.Rate{"hi": {Kept: 1}, "x": {Kept: 2}}},
		"a a<hi a>x a<y": {Judged: 2, Rules: map[string]law.Rate{
			"hi": {Kept: 1}, "x": {Broken: 1, Clauses: map[string]int{"": 1}},
		}},
		"a a<hi a>open a<open": {Judged: 1, Open: why(1, "it is open"), Rules: map[string]law.Rate{
			"hi": {Kept: 1}, "open": {Open: why(1, "it is open")},
		}},
		"a a<hi a>x+y a<x a<y": {Judged: 1, Open: why(2, "bytes that are not a single command"), Rules: map[string]law.Rate{
			"hi": {Kept: 1},
		}},
	} {
		w := law.NewWatch(law.Definition{
			Start: func(law.Terms) law.Law { return &echo{asked: map[int]string{}} }, Greets: true,
		}, law.Terms{})
		conns := map[string]session.Observer{}
		for event := range strings.FieldsSeq(events) {
			play(w, conns, event)
		}
		assert.Equal(t, want, w.Tally(), events)
	}
}

// TestTalliesAreAdded adds what two plays have decided.
func TestTalliesAreAdded(t *testing.T) {
	t.Parallel()
	one := func() law.Tally {
		return law.Tally{Judged: 2, Open: map[string]int{"a": 1}, Rules: map[string]law.Rate{
			"x": {Kept: 1, Open: map[string]int{"b": 2}}, "y": {Broken: 1},
		}}
	}
	sum, other := one(), one()
	sum.Add(other)
	assert.Equal(t, law.Tally{Judged: 4, Open: map[string]int{"a": 2}, Rules: map[string]law.Rate{
		"x": {Kept: 2, Open: map[string]int{"b": 4}}, "y": {Broken: 2},
	}}, sum)
	assert.Equal(t, one(), other, "what is added does not change")
}
