package script

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/protocols/workq"
)

// TestFresh: the ids of a play are UUIDs of version 4 of which no two are one, and which differ in two groups at most.
func TestFresh(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	first := strings.Split(newName("id", "p-id1-0"), "-")
	for n := range 30_000 {
		id := newName("id", fmt.Sprint("p-id1-", n))
		assert.True(t, workq.IsID(id))
		differ := 0
		for i, group := range strings.Split(id, "-") {
			if group != first[i] {
				differ++
			}
		}
		if ids[id] || differ > 2 {
			t.Fatal(n, id)
		}
		ids[id] = true
	}
	assert.False(t, ids[newName("id", "q-id1-0")], "another play")
	assert.False(t, ids[newName("id", "id")], "no number")
	assert.Equal(t, "x", newName("name", "x"))
}
