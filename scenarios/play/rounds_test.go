package play

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/scenarios"
)

// roundsOf plays a block whose rounds take a time each, and returns how many it had.
func roundsOf(r *rounds, b *scenarios.Block, each time.Duration) (n int) {
	for began := time.Now(); r.hasNext(b, n, began); n++ {
		time.Sleep(each)
	}
	r.end(b)
	return n
}

func TestASlowServerHasFewerRounds(t *testing.T) {
	t.Parallel()
	push := &scenarios.Block{Kind: scenarios.Repeat, Count: 500, Steps: make([]scenarios.Step, 2)}
	fetch := &scenarios.Block{Kind: scenarios.Repeat, Count: 500, Steps: make([]scenarios.Step, 4)}
	fewer := &scenarios.Block{Kind: scenarios.Repeat, Count: 400}
	other := &scenarios.Block{Kind: scenarios.Repeat, Count: 3, Steps: make([]scenarios.Step, 2)}
	s := &scenarios.Script{Steps: []scenarios.Step{push, fetch, other}}
	synctest.Test(t, func(t *testing.T) {
		quick, slow := newRounds(s, true), newRounds(s, true)
		assert.Equal(t, 500, roundsOf(quick, push, time.Millisecond))
		assert.Equal(t, 500, roundsOf(quick, fetch, time.Millisecond), "as many as there were in the first block")
		assert.Equal(t, 100, roundsOf(slow, push, 100*time.Millisecond), "a third of the time, by the lines")
		assert.Equal(t, 100, roundsOf(slow, fetch, time.Second), "no more and no fewer")
		assert.Equal(t, 80, roundsOf(slow, fewer, 0), "the same part")
		assert.Equal(t, 3, roundsOf(slow, other, time.Hour), "a few in any case")
	})
}

func TestABlockWithALimitHasFewerRoundsInAnyPlay(t *testing.T) {
	t.Parallel()
	before := &scenarios.Block{Kind: scenarios.Repeat, Count: 100}
	push := &scenarios.Block{Kind: scenarios.Repeat, Count: 100, Limit: 20 * time.Second}
	fetch := &scenarios.Block{Kind: scenarios.Repeat, Count: 200}
	s := &scenarios.Script{Steps: []scenarios.Step{before, push, fetch}}
	synctest.Test(t, func(t *testing.T) {
		r := newRounds(s, false)
		assert.Equal(t, 100, roundsOf(r, before, time.Second), "no limit is known yet")
		assert.Equal(t, 21, roundsOf(r, push, time.Second))
		assert.Equal(t, 42, roundsOf(r, fetch, time.Second), "the same part, without a limit of its own")
	})
}

// Workers that share the rounds are not at the same one when the time is over: what one has begun, the others play too.
func TestWorkersOfASlowServerPlayTheSameRounds(t *testing.T) {
	t.Parallel()
	b := &scenarios.Block{Kind: scenarios.Repeat, Count: 40, By: 2, Steps: make([]scenarios.Step, 2)}
	synctest.Test(t, func(t *testing.T) {
		r, began := newRounds(&scenarios.Script{Steps: []scenarios.Step{b}}, true), time.Now()
		assert.True(t, r.hasNext(b, 0, began))
		assert.True(t, r.hasNext(b, 9, began), "a worker that is quicker")
		time.Sleep(time.Hour)
		assert.True(t, r.hasNext(b, 6, began))
		assert.True(t, r.hasNext(b, 8, began))
		assert.False(t, r.hasNext(b, 10, began))
		assert.False(t, r.hasNext(b, 11, began))
	})
}
