package run

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/fwpsuite"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// The line of a candidate is what was in flight, on whatever connection.
func TestWhatWasInFlight(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	line := func(at int, conn, from, text string) play.Line {
		return play.Line{At: time.Duration(at) * time.Millisecond, Conn: conn, From: from, Text: text}
	}
	cases := map[string]struct {
		lines []play.Line
		want  lead
	}{
		"beside a later command that was answered": {
			[]play.Line{
				line(1, "a", "C", "INFO"), line(2, "b", "C", "PUSH {}"), line(3, "b", "S", "+OK"), line(4, "b", "C", "END"),
			},
			lead{"INFO", began.Add(time.Millisecond), unreplied, true},
		},
		"two at a time": {
			[]play.Line{line(1, "a", "C", "PUSH {}"), line(2, "b", "C", "INFO"), line(2, "c", "C", "INFO")},
			lead{"INFO, and C: PUSH {}", began.Add(2 * time.Millisecond), unreplied, true},
		},
		"only a FETCH": {[]play.Line{line(1, "a", "C", "FETCH q")},
			lead{"FETCH q", began.Add(time.Millisecond), waiting, true}},
		"after the end": {[]play.Line{line(1, "a", "C", "FETCH q"), line(99, "b", "C", "INFO")},
			lead{"FETCH q", began.Add(time.Millisecond), waiting, true}},
		"all was answered": {[]play.Line{line(1, "a", "C", "INFO"), line(2, "a", "S", "${}")},
			lead{"INFO", began.Add(time.Millisecond), answered, false}},
		"nothing was sent": {nil, lead{rank: answered}},
		"a malformed one": {[]play.Line{{At: time.Millisecond, From: "C", Text: "PUSH", Bad: true},
			line(2, "b", "C", "INFO")}, lead{"PUSH", began.Add(time.Millisecond), malformed, true}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &conformance.Evidence{Began: began, Conversation: test.lines}
			assert.Equal(t, test.want, leadOf(fwpsuite.Protocol().Dialect.Grammar(), &task{evidence: e},
				began.Add(10*time.Millisecond)))
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

// play is the evidence of commands that were sent, each by its connection.
func playScript(began time.Time, lines ...play.Line) *task {
	return &task{evidence: &conformance.Evidence{Began: began, Dead: "no new connection is served", Conversation: lines}}
}

func TestWhichCheckEndedTheServer(t *testing.T) {
	t.Parallel()
	now := time.Now()
	sent := func(at int, conn, text string) play.Line {
		return play.Line{At: time.Duration(at), Conn: conn, From: "C", Text: text}
	}
	came := func(at int, conn string) play.Line {
		return play.Line{At: time.Duration(at), Conn: conn, From: "S", Text: "+OK"}
	}
	ended := func(at int, conn string) play.Line {
		return play.Line{At: time.Duration(at), Conn: conn, From: "S", Ended: true}
	}
	tests := map[string]struct {
		plays []*task
		want  int
	}{
		"one": {[]*task{playScript(now)}, 0},
		"the last command": {[]*task{
			playScript(now, sent(1, "a", "INFO"), ended(9, "a")),
			playScript(now, sent(5, "a", "PUSH {}"), ended(9, "a")),
		}, 1},
		"not one that was later": {[]*task{
			playScript(now, sent(1, "a", "INFO"), ended(3, "a")),
			playScript(now, sent(5, "a", "PUSH {}"), ended(9, "a")),
		}, 0},
		"not one that was answered": {
			[]*task{
				playScript(now, sent(1, "a", "INFO"), ended(9, "a")),
				playScript(now, sent(5, "a", "PUSH {}"), came(6, "a"), ended(9, "a")),
			}, 0},
		"no end: the first": {
			[]*task{playScript(now, sent(5, "a", "INFO")), playScript(now, sent(1, "a", "PUSH {}"))}, 1,
		},
		"no end: FETCH may wait": {
			[]*task{playScript(now, sent(5, "a", "INFO")), playScript(now, sent(1, "a", "FETCH q"))}, 0,
		},
		"times count from the play": {[]*task{
			playScript(now, sent(5, "a", "INFO")),
			playScript(now.Add(-time.Second), sent(9, "a", "INFO")),
		}, 1},
	}
	for name, test := range tests {
		assert.Equal(t, test.want, likeliest(test.plays), name)
	}
	bystander := playScript(now, sent(1, "a", "PUSH {}"))
	bystander.evidence.Dead = ""
	assert.Equal(t, 1, likeliest([]*task{bystander, playScript(now, sent(5, "a", "INFO"))}), "it saw no death")
}

// likeliest returns the index of the play that most probably ended the server.
func likeliest(plays []*task) int {
	candidates, _ := candidatesOf(fwpsuite.Protocol().Dialect.Grammar(), plays, nil)
	return slices.Index(plays, candidates[0])
}

// TestPlaysBehindACertainCrash: what began on a server after it had died is played again.
func TestPlaysBehindACertainCrash(t *testing.T) {
	t.Parallel()
	r := &Runner{Protocol: fwpsuite.Protocol(), Checks: make([]conformance.Check, 2)}
	for i := range r.Checks {
		r.Checks[i] = conformance.Property{Name: fmt.Sprint("p", i)}
	}
	s, h, now := newRunState(r), newHost(Server{}), time.Now()
	deadly := playScript(now,
		play.Line{At: 1, Conn: "a", From: "C", Text: "PUSH {}"}, play.Line{At: 2, Conn: "a", From: "S", Ended: true})
	later := playScript(now.Add(time.Second))
	for i, of := range []*task{deadly, later} {
		of.host, of.place, of.about, of.check = h, i, s.described[i], r.Checks[i]
	}
	h.dying = []*task{deadly, later}
	s.died(t.Context(), h)
	assert.Equal(t, "p0", h.killer)
	assert.True(t, deadly.filed)
	assert.Equal(t, []*task{later}, s.pending)
}
