package suite_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPremises: a violation names the clause on which the expected reply rests. It names none if the server has kept
// that clause, or if the part of the reply that is wrong does not depend on it.
func TestPremises(t *testing.T) {
	t.Parallel()
	failed := []string{
		"a C: add $1 n-x 600000 3600000 1 -max-fails=3|x", okay, "a C: lease n-x 500", "a S: +OK 1|$1 n-x 600000 1|x",
		"a C: fail $1 1|y", okay,
	}
	job := func(name string, attempts, fails, state int) []string {
		return []string{"a C: inspect job $1", fmt.Sprintf("a S: +OK 1|$1 12|name %s|ttr 600000|ttl 3600000|payload-size 1"+
			"|payload x|max-attempts 0|attempts %d|max-fails 3|fails %d|priority 0|state %d|created 2000-01-01T00:00:00Z",
			name, attempts, fails, state)}
	}
	queue := func(x int) []string {
		return []string{
			"a C: add $2 n-y 600000 3600000 1|x", okay, "a C: inspect queues 0 9",
			fmt.Sprintf("a S: +OK 2|n-x 2|ready-len %d|scheduled-len 0|n-y 2|ready-len %d|scheduled-len 0", x, 1-x),
		}
	}
	retry := []string{"a C: lease n-x 500", "a S: +OK 1|$1 n-x 600000 1|x", "a C: fail $1 1|y", okay}
	for name, test := range map[string]struct {
		before, lines []string
		want          string
	}{
		"it has its result": {
			failed, []string{"a C: result $1 500", "a S: +OK 1|$1 0 1|y"}, "RESULT-02 reply after WORKQ-ADD-20",
		},
		"it has ended":            {failed, job("n-x", 1, 1, 2), "INSP-04 field after WORKQ-ADD-20"},
		"its fail does not count": {failed, job("n-x", 1, 0, 3), "INSP-03 field after WORKQ-ADD-20"},
		"it has another name":     {failed, job("n-z", 1, 1, 3), "INSP-01 field"},
		"it is not listed": {
			failed, []string{"a C: inspect jobs n-x 0 9", "a S: +OK 0"}, "INSP-06 listed after WORKQ-ADD-20",
		},
		"it is not counted":      {failed, queue(0), "INSP-10 field after WORKQ-ADD-20"},
		"another is not counted": {failed, queue(1), "INSP-10 field"},
		"it has come again":      {slices.Concat(failed, retry), job("n-x", 2, 2, 2), "INSP-04 field"},
	} {
		got := judge(t, slices.Concat(test.before, test.lines)...)
		assert.Equal(t, "WORKQ-"+test.want, got, name)
	}
}

// A time to live of more than a day that is refused is about its limit, unless one as large was taken.
func TestALongTimeToLiveIsRefused(t *testing.T) {
	t.Parallel()
	const refusal = "a S: -CLIENT-ERROR x"
	add := func(id int, ttl string) string { return fmt.Sprintf("a C: add $%d n-x 600000 %s 1|x", id, ttl) }
	for name, test := range map[string]struct {
		before []string
		ttl    string
		want   string
	}{
		"the first":           {nil, "8589934593", "WORKQ-ADD-09 reply"},
		"a shorter was taken": {[]string{add(2, "172800000"), okay}, "8589934593", "WORKQ-ADD-09 reply"},
		"one like it was":     {[]string{add(2, "8589934592"), okay}, "8589934593", "WORKQ-ADD-01 reply"},
		"an hour":             {nil, "3600000", "WORKQ-ADD-01 reply"},
	} {
		lines := append(slices.Clone(test.before), add(1, test.ttl), refusal)
		assert.Equal(t, test.want, judge(t, lines...), name)
	}
}
