package validity_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
)

func TestParseAbort(t *testing.T) {
	t.Parallel()
	a, err := validity.ParseAbort("refused>50% for 10s", sampleOps()...)
	require.NoError(t, err)
	assert.Equal(t, 10*time.Second, a.Length)
	assert.Equal(t, "refused>50% for 10s", a.Source)
	for source, want := range map[string]string{
		"refused>50%":                 "column 12: a time",
		"refused>50% for x":           "a time",
		"refused>50% for 10ms":        "a time of a second",
		"refused>50 for 10s":          "a share",
		"refused<50% for 10s":         "> or >=",
		"lost>50% for 10s":            "it is about refused, errors or OP.errors",
		"push.response.p99>1s for 5s": "it is about",
		"refsed>50% for 10s":          "did you mean refused",
	} {
		_, err := validity.ParseAbort(source, sampleOps()...)
		assert.ErrorContains(t, err, want, source)
	}
}

func TestAbortIsDue(t *testing.T) {
	t.Parallel()
	seconds := func(done, errors int64, n int) (all []results.Second) {
		for range n {
			all = append(all, results.Second{Length: time.Second, Phase: "measure",
				Ops: []results.SecondOp{{Op: "push", Count: done, Errors: errors}}})
		}
		return all
	}
	for name, test := range map[string]struct {
		source  string
		seconds []results.Second
		want    bool
	}{
		"nothing fails":           {"refused>50% for 3s", seconds(100, 0, 10), false},
		"half":                    {"refused>50% for 3s", seconds(100, 100, 10), false},
		"more than half":          {"refused>50% for 3s", seconds(100, 101, 10), true},
		"not for long enough":     {"refused>50% for 3s", seconds(0, 9, 2), false},
		"few, with pauses":        {"refused>50% for 4s", append(seconds(1000, 0, 1), seconds(0, 3, 3)...), true},
		"any kind":                {"errors>=50% for 3s", seconds(0, 9, 3), true},
		"one kind":                {"push.errors>50% for 3s", seconds(0, 9, 3), true},
		"another kind":            {"ack.errors>50% for 3s", seconds(0, 9, 3), false},
		"the latest seconds only": {"refused>50% for 3s", append(seconds(0, 9, 9), seconds(1000, 0, 3)...), false},
	} {
		a, err := validity.ParseAbort(test.source, sampleOps()...)
		require.NoError(t, err, name)
		assert.Equal(t, test.want, a.IsMet(test.seconds), name)
	}
}
