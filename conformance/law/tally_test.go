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
	reasons := func(n int, reasons string) map[string]int { return map[string]int{reasons: n} }
	for events, want := range map[string]law.Tally{
		"":                       {},
		"a a<hi a>x a<x a>x a<x": {Messages: 3, Rules: map[string]law.Rate{"hi": {Passes: 1}, "x": {Passes: 2}}},
		"a a<hi a>x a<y": {Messages: 2, Rules: map[string]law.Rate{
			"hi": {Passes: 1}, "x": {Breaches: 1, Clauses: map[string]int{"": 1}},
		}},
		"a a<hi a>open a<open": {Messages: 1, OpenReasons: reasons(1, "it is open"), Rules: map[string]law.Rate{
			"hi": {Passes: 1}, "open": {OpenReasons: reasons(1, "it is open")},
		}},
		"a a<hi a>x+y a<x a<y": {Messages: 1, OpenReasons: reasons(2, "bytes that are not a single command"), Rules: map[string]law.Rate{
			"hi": {Passes: 1},
		}},
	} {
		w := law.NewWatch(law.Definition{
			Start: func(law.Terms) law.Law { return &echo{sent: map[int]string{}} }, Greets: true,
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
	newTally := func() law.Tally {
		return law.Tally{Messages: 2, OpenReasons: map[string]int{"a": 1}, Rules: map[string]law.Rate{
			"x": {Passes: 1, OpenReasons: map[string]int{"b": 2}}, "y": {Breaches: 1},
		}}
	}
	sum, other := newTally(), newTally()
	sum.Add(other)
	assert.Equal(t, law.Tally{Messages: 4, OpenReasons: map[string]int{"a": 2}, Rules: map[string]law.Rate{
		"x": {Passes: 2, OpenReasons: map[string]int{"b": 4}}, "y": {Breaches: 2},
	}}, sum)
	assert.Equal(t, newTally(), other, "what is added does not change")
}
