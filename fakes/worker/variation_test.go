package worker

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The queues of a FETCH are shuffled, and in each run alike.
func TestShuffledQueues(t *testing.T) {
	t.Parallel()
	all := Variations()
	i := slices.IndexFunc(all, func(v Variation) bool { return v.Name == "queues-shuffled" })
	draw := func() (orders [][]string) {
		var c Config
		all[i].Configure(&c)
		for range 20 {
			e := &Event{Point: Fetching, Queues: []string{"a", "b", "c"}}
			c.Hook(e)
			orders = append(orders, e.Queues)
		}
		return orders
	}
	first := draw()
	assert.Equal(t, first, draw())
	assert.True(t, slices.ContainsFunc(first, func(o []string) bool { return !slices.Equal(o, first[0]) }))
	assert.ElementsMatch(t, []string{"a", "b", "c"}, first[7])
}
