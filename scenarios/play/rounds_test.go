package play

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/scenarios"
)

func TestASlowServerHasFewerRounds(t *testing.T) {
	t.Parallel()
	push := &scenarios.Block{Kind: scenarios.Repeat, Count: 500, Steps: make([]scenarios.Step, 2)}
	fetch := &scenarios.Block{Kind: scenarios.Repeat, Count: 500, Steps: make([]scenarios.Step, 4)}
	fewer := &scenarios.Block{Kind: scenarios.Repeat, Count: 400}
	other := &scenarios.Block{Kind: scenarios.Repeat, Count: 3, Steps: make([]scenarios.Step, 2)}
	s := &scenarios.Script{Steps: []scenarios.Step{push, fetch, other}}
	play := func(r *rounds, b *scenarios.Block, each time.Duration) (n int) {
		for began := time.Now(); r.more(b, n, began); n++ {
			time.Sleep(each)
		}
		r.over(b)
		return n
	}
	synctest.Test(t, func(t *testing.T) {
		quick, slow := newRounds(s), newRounds(s)
		assert.Equal(t, 500, play(quick, push, time.Millisecond))
		assert.Equal(t, 500, play(quick, fetch, time.Millisecond), "as many as there were in the first block")
		assert.Equal(t, 100, play(slow, push, 100*time.Millisecond), "a third of the time, by the lines")
		assert.Equal(t, 100, play(slow, fetch, time.Second), "no more and no fewer")
		assert.Equal(t, 80, play(slow, fewer, 0), "the same part")
		assert.Equal(t, 3, play(slow, other, time.Hour), "a few in any case")
	})
}

// Workers that share the rounds are not at the same one when the time is over: what one has begun, the others play too.
func TestWorkersOfASlowServerPlayTheSameRounds(t *testing.T) {
	t.Parallel()
	b := &scenarios.Block{Kind: scenarios.Repeat, Count: 40, By: 2, Steps: make([]scenarios.Step, 2)}
	synctest.Test(t, func(t *testing.T) {
		r, began := newRounds(&scenarios.Script{Steps: []scenarios.Step{b}}), time.Now()
		assert.True(t, r.more(b, 0, began))
		assert.True(t, r.more(b, 9, began), "a worker that is quicker")
		time.Sleep(time.Hour)
		assert.True(t, r.more(b, 6, began))
		assert.True(t, r.more(b, 8, began))
		assert.False(t, r.more(b, 10, began))
		assert.False(t, r.more(b, 11, began))
	})
}
