package conformance

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

func TestEvidenceIsHeldOnlyIfNothingIsAmiss(t *testing.T) {
	t.Parallel()
	mark := []scenarios.Mark{{Clause: "FWP-ACK-01"}}
	result := func(o scenarios.Outcome, marks []scenarios.Mark) Evidence {
		return Evidence{Results: []scenarios.Result{{Outcome: scenarios.Matched}, {Outcome: o, Marks: marks}}}
	}
	tests := map[string]struct {
		evidence       Evidence
		complete, held bool
	}{
		"nothing":              {Evidence{}, true, true},
		"matched":              {result(scenarios.Matched, mark), true, true},
		"mismatched":           {result(scenarios.Mismatched, mark), true, false},
		"a set-up that failed": {result(scenarios.Mismatched, nil), false, false},
		"unsure":               {result(scenarios.Unsure, mark), false, false},
		"not reached":          {result(scenarios.NotReached, mark), false, false},
		"a breach":             {Evidence{Breaches: []scenarios.Breach{{}}}, true, false},
		"a finding":            {Evidence{Findings: []Finding{{}}}, true, false},
		"dead":                 {Evidence{Dead: "it is gone"}, false, false},
		"open":                 {Evidence{Open: "it cannot be said"}, false, false},
		"an error":             {Evidence{Err: errors.New("interrupted")}, false, false},
	}
	for name, test := range tests {
		assert.Equal(t, test.complete, test.evidence.complete(), name)
		assert.Equal(t, test.held, test.evidence.passed(), name)
	}
}

func TestHowScriptsShareAServer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Sharing{
		"connect as consumer\nC: INFO\nS: $\n":                  SharesAll,
		"needs: alone\nconnect as consumer\nC: FETCH\nS: $-1\n": SharesOneByOne,
		"needs: alone\nconnect as consumer\nC: INFO\nS: $\n":    SharesNothing,
		"needs: flush\nconnect as consumer\nC: FLUSH\nS: +OK\n": SharesNothing,
		"connect as consumer\nrestart\n":                        SharesNothing,
		"connect as consumer\nkill\n":                           SharesNothing,
		"connect as consumer\nC: FETCH $queue\nS: $-1\n":        SharesAll,
	} {
		script, err := scenarios.Parse(fwpdialect.Dialect{}, "x", []byte(text))
		require.NoError(t, err, text)
		d := ScriptCheck{Script: script}.Describe()
		assert.Equal(t, want, d.Sharing, text)
		assert.Equal(t, "x", d.ID)
		assert.Equal(t, "x", d.File)
		assert.Equal(t, script.Source, d.Source)
	}
	assert.Equal(t, SharesAtNeed, Property{}.Describe().Sharing)
}

func TestClausesOfADescription(t *testing.T) {
	t.Parallel()
	d := Description{Marks: []scenarios.Mark{{Clause: "B"}, {Clause: "A", Record: true}, {Clause: "B", Level: "SHOULD"}}}
	assert.Equal(t, []scenarios.Mark{{Clause: "B"}, {Clause: "A", Record: true}}, d.Clauses())
}

func TestTimesOfASetup(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		on    Setup
		limit time.Duration
		hasty bool
	}{
		"whatever it takes":   {Setup{}, 0, false},
		"a patience":          {Setup{Patience: time.Hour}, time.Hour, false},
		"quick":               {Setup{Quick: true}, QuickPatience, true},
		"quick, less time":    {Setup{Quick: true, Patience: time.Second}, time.Second, true},
		"quick, just as much": {Setup{Quick: true, Patience: QuickPatience}, QuickPatience, true},
		"quick, more time":    {Setup{Quick: true, Patience: time.Hour}, QuickPatience, true},
	} {
		limit, hasty := test.on.patience()
		assert.Equal(t, test.limit, limit, name)
		assert.Equal(t, test.hasty, hasty, name)
		ctx, cancel := test.on.limit(t.Context())
		_, ends := ctx.Deadline()
		assert.Equal(t, test.on.Quick, ends, name)
		cancel()
	}
}

// A finding about time is taken back if this machine lagged.
func TestLagExcuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		late, plain := Finding{Clause: "FWP-FETCH-05", Clocked: true}, Finding{Clause: "FWP-ACK-01"}
		calm := Evidence{Began: time.Now(), Findings: []Finding{late, plain}}
		calm.excuse(new(scenarios.Meter))
		assert.Equal(t, []Finding{late, plain}, calm.Findings)
		assert.Empty(t, calm.Open)
		calm.excuse(nil)
		assert.Len(t, calm.Findings, 2)
	})
}

// play is the evidence of commands that were sent, each by its connection.
func play(began time.Time, lines ...scenarios.Line) *task {
	return &task{evidence: &Evidence{Began: began, Dead: "no new connection is served", Conversation: lines}}
}

func TestWhichCheckEndedTheServer(t *testing.T) {
	t.Parallel()
	now := time.Now()
	sent := func(at int, conn, text string) scenarios.Line {
		return scenarios.Line{At: time.Duration(at), Conn: conn, From: "C", Text: text}
	}
	came := func(at int, conn string) scenarios.Line {
		return scenarios.Line{At: time.Duration(at), Conn: conn, From: "S", Text: "+OK"}
	}
	ended := func(at int, conn string) scenarios.Line {
		return scenarios.Line{At: time.Duration(at), Conn: conn, From: "S", Ended: true}
	}
	tests := map[string]struct {
		plays []*task
		want  int
	}{
		"one": {[]*task{play(now)}, 0},
		"the last command": {[]*task{
			play(now, sent(1, "a", "INFO"), ended(9, "a")),
			play(now, sent(5, "a", "PUSH {}"), ended(9, "a")),
		}, 1},
		"not one that was later": {[]*task{
			play(now, sent(1, "a", "INFO"), ended(3, "a")),
			play(now, sent(5, "a", "PUSH {}"), ended(9, "a")),
		}, 0},
		"not one that was answered": {
			[]*task{
				play(now, sent(1, "a", "INFO"), ended(9, "a")),
				play(now, sent(5, "a", "PUSH {}"), came(6, "a"), ended(9, "a")),
			}, 0},
		"no end: the first":      {[]*task{play(now, sent(5, "a", "INFO")), play(now, sent(1, "a", "PUSH {}"))}, 1},
		"no end: FETCH may wait": {[]*task{play(now, sent(5, "a", "INFO")), play(now, sent(1, "a", "FETCH q"))}, 0},
		"times count from the play": {[]*task{
			play(now, sent(5, "a", "INFO")),
			play(now.Add(-time.Second), sent(9, "a", "INFO")),
		}, 1},
	}
	for name, test := range tests {
		assert.Equal(t, test.want, likeliest(test.plays), name)
	}
	bystander := play(now, sent(1, "a", "PUSH {}"))
	bystander.evidence.Dead = ""
	assert.Equal(t, 1, likeliest([]*task{bystander, play(now, sent(5, "a", "INFO"))}), "it saw no death")
}

// likeliest returns the index of the play that most probably ended the server.
func likeliest(plays []*task) int {
	candidates, _ := candidatesOf(FWP().Dialect.Grammar(), plays, nil)
	return slices.Index(plays, candidates[0])
}

// refusing is a target that refuses every connection.
type refusing struct{ scenarios.Target }

func TestAPropertyThatIsRefusedEachConnection(t *testing.T) {
	t.Parallel()
	target := refusing{}
	p := Property{Name: "x", Run: func(context.Context, Setup) Evidence {
		return Evidence{Dead: "no new connection is served", Findings: []Finding{{Crash: true, What: "it ended"}}}
	}}
	e := p.Play(t.Context(), Setup{Target: target})
	assert.Empty(t, e.Dead, "what was never served did not die")
	assert.Equal(t, "no connection got as far as being identified", e.Open)
	assert.Equal(t, []Finding{{What: "it ended"}}, e.Findings)
	assert.False(t, e.Began.IsZero())
}
