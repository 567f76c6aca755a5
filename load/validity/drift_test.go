package validity_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
)

// steadyFor returns a run of some seconds whose figures are noisy, and change by a factor until the end.
func steadyFor(seconds int, random *rand.Rand, rate, p99, memory float64) *results.Load {
	l := soundLoad()
	l.Series = nil
	for i := range seconds {
		at := float64(i) / float64(seconds-1)
		noisy := func(x, factor float64) float64 { return x * (1 + (factor-1)*at) * (1 + 0.1*random.NormFloat64()) }
		l.Series = append(l.Series, results.Second{
			At: time.Duration(i) * time.Second, Length: time.Second, Phase: "measure", Achieved: noisy(5000, rate),
			Server: &results.ServerSecond{MemoryBytes: int64(noisy(1e8, memory))},
			Ops: []results.SecondOp{{Op: "push", Count: 1, ResponseP50: time.Duration(noisy(1e6, 1)),
				ResponseP99: time.Duration(noisy(1e7, p99))}},
		})
	}
	validity.Evaluate(l)
	return l
}

func driftWords(l *results.Load) string {
	var found []string
	for _, r := range l.Validity.Remarks {
		if words, ok := strings.CutPrefix(r, "No steady state: "); ok {
			found = append(found, words)
		}
	}
	return strings.Join(found, " ")
}

func TestDriftIsTold(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	assert.Regexp(t, `^the p99 rose from 1\d(\.\d+)? ms to \d\d(\.\d+)? ms while measuring\.$`, driftWords(steadyFor(60, random, 1, 3, 1)))
	assert.Regexp(t, "^the achieved rate fell from .* the server's memory rose from", driftWords(steadyFor(60, random, 0.6, 1, 2)))
	assert.Empty(t, driftWords(steadyFor(15, random, 0.5, 4, 2)), "too short")
	ramp := steadyFor(60, random, 3, 3, 1)
	for i := range ramp.Series {
		ramp.Series[i].Target = float64(1000 + 10*i)
	}
	validity.Evaluate(ramp)
	assert.Empty(t, driftWords(ramp), "the plan changes")
}

// Noise alone is hardly ever taken for a trend: four figures are tested.
func TestNoiseIsNoDrift(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	count, runs := 0, golden.Sample(200, 2000)
	for range runs {
		if driftWords(steadyFor(30, random, 1, 1, 1)) != "" {
			count++
		}
	}
	assert.LessOrEqual(t, count, runs/100)
}
