package suite_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestChance leases jobs of two names, which all have one: a few leases do not show how the name is chosen.
func TestChance(t *testing.T) {
	t.Parallel()
	leases := func(names string, pick func(i int) string, count int) string {
		var lines []string
		for i := range count { // the job that was leased is deleted, and the other one stays
			if i == 0 {
				lines = append(lines, "a C: add $1 n-a 600000 3600000 1|x", okay, "a C: add $2 n-b 600000 3600000 1|x", okay)
			}
			id := map[string]string{"n-a": "$1", "n-b": "$2"}[pick(i)]
			lines = append(lines, "a C: lease "+names+" 1000", "a S: +OK 1|"+id+" "+pick(i)+" 600000 1|x", "a C: delete "+id, okay,
				"a C: add "+id+" "+pick(i)+" 600000 3600000 1|x", okay)
		}
		return judge(t, lines...)
	}
	always := func(name string) func(int) string { return func(int) string { return name } }
	alternate := func(names string) func(int) string { return func(i int) string { return strings.Fields(names)[i%2] } }
	assert.Empty(t, leases("n-b n-a", always("n-b"), 29))
	assert.Equal(t, "WORKQ-LEASE-03 chance", leases("n-b n-a", always("n-b"), 31))
	assert.Equal(t, "WORKQ-LEASE-03 chance", leases("n-b n-a", always("n-a"), 31))
	assert.Empty(t, leases("n-b n-a", alternate("n-b n-a"), 200))
	assert.Empty(t, leases("n-b", always("n-b"), 50))
}

// TestTheFullestName: a name of which there are more jobs is chosen no more often.
func TestTheFullestName(t *testing.T) {
	t.Parallel()
	judgeLeases := func(leases int, id, name string) string {
		lines := []string{"a C: add $1 n-a 600000 3600000 1|x", okay, "a C: add $2 n-b 600000 3600000 1|x", okay,
			"a C: add $3 n-b 600000 3600000 1|x", okay}
		for i := range leases {
			names := []string{"n-a n-b", "n-b n-a"}[i%2]
			lines = append(lines, "a C: lease "+names+" 1000", "a S: +OK 1|"+id+" "+name+" 600000 1|x", "a C: delete "+id, okay,
				"a C: add "+id+" "+name+" 600000 3600000 1|x", okay)
		}
		return judge(t, lines...)
	}
	assert.Empty(t, judgeLeases(29, "$2", "n-b"))
	assert.Equal(t, "WORKQ-LEASE-03 chance", judgeLeases(31, "$2", "n-b"))
	assert.Equal(t, "WORKQ-LEASE-03 chance", judgeLeases(31, "$1", "n-a"))
}
