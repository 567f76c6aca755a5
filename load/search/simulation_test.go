package search

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/proof/golden"
)

// machine is a machine on which blocks are measured: its speed drifts, each block has noise of its own, and some are
// disturbed. All are parts of a logarithm.
type machine struct {
	random               *rand.Rand
	drift, spread, noise float64
	spikes               float64
	state                float64
}

// block returns what a block measures whose true value is exp(effect).
func (m *machine) block(effect float64) float64 {
	m.state = m.drift*m.state + math.Sqrt(1-m.drift*m.drift)*m.spread*m.random.NormFloat64()
	x := effect + m.state + m.noise*m.random.NormFloat64()
	if m.random.Float64() < m.spikes {
		x += 0.3 * m.random.ExpFloat64()
	}
	return math.Exp(x)
}

// pairs measures pairs of blocks in random order.
func (m *machine) pairs(n int, effect float64) []Pair {
	all := make([]Pair, n)
	for i := range all {
		if m.random.IntN(2) == 0 {
			all[i].A = m.block(0)
			all[i].B = m.block(effect)
		} else {
			all[i].B = m.block(effect)
			all[i].A = m.block(0)
		}
	}
	return all
}

// TestFalseAlarmsAndPower simulates comparisons on a machine that drifts. A time is compared, so more is worse.
func TestFalseAlarmsAndPower(t *testing.T) {
	t.Parallel()
	trials := 400
	if golden.IsSlow() {
		trials = 20_000
	}
	const margin = 0.05
	slack := 3 * math.Sqrt(0.05*0.95/float64(trials)) // of a share that is 0.05 in truth
	for _, drift := range []float64{0, 0.9, 0.98} {
		for _, n := range []int{6, 10} {
			m := &machine{random: rand.New(rand.NewPCG(17, uint64(n))), drift: drift, spread: 0.08, noise: 0.02, spikes: 0.05}
			share := func(effect float64, match func(Effect) bool) float64 {
				count := 0
				for range trials {
					if match(EffectOf(m.pairs(n, effect))) {
						count++
					}
				}
				return float64(count) / float64(trials)
			}
			verdict := func(v Verdict) func(Effect) bool {
				return func(e Effect) bool { return e.Judge(false, margin) == v }
			}
			limit := math.Log1p(margin)
			assert.LessOrEqual(t, share(0, func(e Effect) bool { return e.P <= 0.05 }), 0.05+slack, "p of nothing")
			assert.GreaterOrEqual(t, share(0.03, func(e Effect) bool {
				return e.Low <= math.Exp(0.03) && math.Exp(0.03) <= e.High
			}), 0.95-slack, "coverage")
			assert.LessOrEqual(t, share(0, verdict(Regression)), 0.002+slack/4, "regressions reported where nothing differs")
			assert.LessOrEqual(t, share(limit, verdict(Regression)), 0.025+slack, "regressions reported at the margin")
			assert.LessOrEqual(t, share(limit, verdict(NoChange)), 0.025+slack, "changes of the margin that are overlooked")
			if n == 10 && drift == 0.98 {
				assert.GreaterOrEqual(t, share(0.25, verdict(Regression)), 0.85, "a regression of a quarter is found")
				assert.GreaterOrEqual(t, share(0.05, func(e Effect) bool { return e.P <= 0.05 }), 0.4, "power of p")
			}
		}
	}
}

// TestOneAfterTheOtherRaisesFalseAlarms shows why pairs are needed: with all blocks of A before all of B the drift of
// the machine is taken for a change.
func TestOneAfterTheOtherRaisesFalseAlarms(t *testing.T) {
	t.Parallel()
	const trials, n = 400, 10
	alarms := 0
	for trial := range trials {
		m := &machine{random: rand.New(rand.NewPCG(23, uint64(trial))), drift: 0.98, spread: 0.08, noise: 0.02, spikes: 0.05}
		pairs := make([]Pair, n)
		for i := range pairs {
			pairs[i].A = m.block(0)
		}
		for i := range pairs {
			pairs[i].B = m.block(0)
		}
		if EffectOf(pairs).P <= 0.05 {
			alarms++
		}
	}
	assert.Greater(t, float64(alarms)/trials, 0.2)
}
