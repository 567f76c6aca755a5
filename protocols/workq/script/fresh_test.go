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
	seen := map[string]bool{}
	first := strings.Split(fresh("id", "p-id1-0"), "-")
	for n := range 30_000 {
		id := fresh("id", fmt.Sprint("p-id1-", n))
		assert.True(t, workq.IsID(id))
		differ := 0
		for i, group := range strings.Split(id, "-") {
			if group != first[i] {
				differ++
			}
		}
		if seen[id] || differ > 2 {
			t.Fatal(n, id)
		}
		seen[id] = true
	}
	assert.False(t, seen[fresh("id", "q-id1-0")], "another play")
	assert.False(t, seen[fresh("id", "id")], "no number")
	assert.Equal(t, "x", fresh("name", "x"))
}
