package run

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
)

// With SeedNames two runs have the same names, whatever the order of their plays, and no two plays of a run have.
func TestNamesFollowFromTheSeed(t *testing.T) {
	t.Parallel()
	play := func(seed uint64, fixed bool, start time.Time, order ...string) map[string]string {
		s := &runState{
			runner: &Runner{Seed: seed, SeedNames: fixed}, start: start, played: map[string]int{},
			described: []conformance.Description{{ID: "a"}, {ID: "b"}},
		}
		names, seen := map[string]string{}, map[string]bool{}
		for i, id := range order {
			s.plays = i + 1
			name := s.namesOf(&task{about: conformance.Description{ID: id}})
			assert.False(t, seen[name], name)
			seen[name] = true
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
