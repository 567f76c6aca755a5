package fakes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestChance: what a server leaves to chance follows from its seed, the job and the connection, in whatever order.
func TestChance(t *testing.T) {
	t.Parallel()
	var differences int
	for i := range 100 {
		jid := string(rune('a' + i))
		first, second := backOff(1, jid, 1), backOff(1, jid, 1)
		assert.Equal(t, first, second, jid)
		assert.GreaterOrEqual(t, first, 16*time.Second, jid)
		assert.Less(t, first, 26*time.Second, jid)
		if first != backOff(2, jid, 1) {
			differences++
		}
	}
	assert.Greater(t, differences, 90, "another seed, other delays")
	salts := map[string]bool{}
	for conn := range int64(1000) {
		value, repetition := salt(1, conn), salt(1, conn)
		assert.Len(t, value, 16)
		assert.Equal(t, value, repetition)
		salts[value] = true
	}
	assert.Len(t, salts, 1000, "each connection has its own salt")
	assert.NotEqual(t, salt(1, 1), salt(2, 1))
}
