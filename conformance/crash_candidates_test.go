package conformance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/scenarios"
)

// The line of a candidate is what was in flight, on whatever connection.
func TestWhatWasInFlight(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	line := func(at int, conn, from, text string) scenarios.Line {
		return scenarios.Line{At: time.Duration(at) * time.Millisecond, Conn: conn, From: from, Text: text}
	}
	cases := map[string]struct {
		lines []scenarios.Line
		want  lead
	}{
		"beside a later command that was answered": {
			[]scenarios.Line{
				line(1, "a", "C", "INFO"), line(2, "b", "C", "PUSH {}"), line(3, "b", "S", "+OK"), line(4, "b", "C", "END"),
			},
			lead{"INFO", began.Add(time.Millisecond), unreplied, true},
		},
		"two at a time": {
			[]scenarios.Line{line(1, "a", "C", "PUSH {}"), line(2, "b", "C", "INFO"), line(2, "c", "C", "INFO")},
			lead{"INFO, and C: PUSH {}", began.Add(2 * time.Millisecond), unreplied, true},
		},
		"only a FETCH": {[]scenarios.Line{line(1, "a", "C", "FETCH q")},
			lead{"FETCH q", began.Add(time.Millisecond), waiting, true}},
		"after the end": {[]scenarios.Line{line(1, "a", "C", "FETCH q"), line(99, "b", "C", "INFO")},
			lead{"FETCH q", began.Add(time.Millisecond), waiting, true}},
		"all was answered": {[]scenarios.Line{line(1, "a", "C", "INFO"), line(2, "a", "S", "${}")},
			lead{"INFO", began.Add(time.Millisecond), answered, false}},
		"nothing was sent": {nil, lead{rank: answered}},
		"a malformed one": {[]scenarios.Line{{At: time.Millisecond, From: "C", Text: "PUSH", Bad: true},
			line(2, "b", "C", "INFO")}, lead{"PUSH", began.Add(time.Millisecond), malformed, true}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &Evidence{Began: began, Conversation: test.lines}
			assert.Equal(t, test.want, leadOf(FWP().Dialect.Grammar(), &task{evidence: e}, began.Add(10*time.Millisecond)))
		})
	}
}

// TestReleasedCandidates: a candidate that has a result is played no more as one, also if lag has it played again
// later.
func TestReleasedCandidates(t *testing.T) {
	t.Parallel()
	h, other := newHost(Server{}), newHost(Server{})
	lagged, fresh := &task{host: h, suspect: true, filed: true}, &task{host: h, suspect: true}
	elsewhere := &task{host: other, suspect: true}
	h.first, other.first = 2, 1
	s := &runState{pending: []*task{lagged, elsewhere, fresh}, again: []*task{lagged}}
	s.release(h)
	assert.Equal(t, []*task{elsewhere, fresh}, s.pending)
	assert.False(t, lagged.suspect, "it waits for another try, for which there is no crash any more")
	assert.False(t, fresh.suspect)
	assert.True(t, elsewhere.suspect)
	assert.Equal(t, []int{0, 1}, []int{h.first, other.first})
}
