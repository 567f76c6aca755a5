package run

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/scenarios/play"
)

func TestARefusedConnectionOfAnEndedServer(t *testing.T) {
	t.Parallel()
	refusal, matches := &play.Refusal{Got: "refused", AllConns: 3}, []play.Result{{Outcome: play.Matched}}
	mismatches := []play.Result{{Outcome: play.Mismatched}}
	for name, test := range map[string]struct {
		status       string
		e            conformance.Evidence
		dead, ending string
	}{
		"it runs": {e: conformance.Evidence{Refusal: refusal, Results: mismatches}},
		"it ended": {
			"exit 2", conformance.Evidence{Refusal: refusal, Results: mismatches}, "the server refused a connection: refused",
			"exit 2",
		},
		"it ended later":     {status: "exit 2", e: conformance.Evidence{Refusal: refusal, Results: matches}},
		"no one was refused": {status: "exit 2", e: conformance.Evidence{Results: mismatches}},
		"it was found dead": {
			"exit 2", conformance.Evidence{DeadReason: "dead", Refusal: refusal, Results: mismatches}, "dead", "exit 2",
		},
	} {
		addEnding(&test.e, test.status)
		assert.Equal(t, test.dead, test.e.DeadReason, name)
		assert.Equal(t, test.ending, test.e.Ending, name)
	}
}

// With SeedNames two runs have the same names, whatever the order of their plays, and no two plays of a run have.
func TestNamesFollowFromTheSeed(t *testing.T) {
	t.Parallel()
	play := func(seed uint64, fixed bool, start time.Time, order ...string) map[string]string {
		s := &runState{
			runner: &Runner{Seed: seed, SeedNames: fixed}, start: start, playCounts: map[string]int{},
			descriptions: []conformance.Description{{ID: "a"}, {ID: "b"}},
		}
		names, prefixes := map[string]string{}, map[string]bool{}
		for i, id := range order {
			s.plays = i + 1
			name := s.newNamePrefix(&task{description: conformance.Description{ID: id}})
			assert.False(t, prefixes[name], name)
			prefixes[name] = true
			names[id] += name + " "
		}
		return names
	}
	now := time.Date(2026, 3, 4, 5, 6, 7, 1234, time.UTC)
	first := play(7, true, now, "a", "b", "b", "a")
	assert.Equal(t, first, play(7, true, now.Add(time.Hour), "b", "a", "a", "b"))
	assert.Equal(t, "fwp00000000070000-1 fwp00000000070000-3 ", first["a"])
	assert.NotEqual(t, first, play(8, true, now, "a", "b", "b", "a"))
	assert.NotEqual(t, play(7, false, now, "a"), play(7, false, now.Add(time.Hour), "a"))
}

// TestDeath: a crash names the command that may be its cause, in the words of its protocol.
func TestDeath(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "the server died in push/accepted (exit status 2)", Death("exit status 2", "", "push/accepted"))
	assert.Equal(t, "the server died, perhaps after PUSH", Death("", `PUSH {"jid":"a"}`, ""))
	assert.Equal(t, `the server died, perhaps after ["", "eMQP/1.0", "REPLY"]`,
		Death("", `["", "eMQP/1.0", "REPLY"]`, ""))
	assert.Equal(t, "the server died", Death("", "", ""))
}
