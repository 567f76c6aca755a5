package search

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The p-values were computed with scipy.stats.wilcoxon (1.10, mode exact), the others by hand from all Walsh averages
// and, for ties and zeros, from all signs.
func TestEffectIsThatOfOthers(t *testing.T) {
	t.Parallel()
	var twenty []Pair
	for i := range 20 {
		a := 100 + float64(i%7)*1.3
		twenty = append(twenty, Pair{a, a * (1.03 + 0.011*float64(i*37%11-5) + 0.0007*float64(i))})
	}
	for name, test := range map[string]struct {
		pairs []Pair
		want  Effect
	}{
		"six, all greater": {
			[]Pair{{100, 110}, {102, 111}, {98, 109}, {101, 113}, {99, 104}, {103, 119}},
			Effect{6, 1.10341768002, 1.05050505051, 1.15533980583, 0.96875, 0.03125},
		},
		"ten": {
			[]Pair{{812, 845}, {790, 801}, {803, 799}, {827, 860}, {799, 812}, {815, 809}, {808, 833}, {795, 820}, {820, 818.5},
				{801, 840}},
			Effect{10, 1.02027875002, 1.00442688655, 1.03603326915, 0.951171875, 0.02734375},
		},
		"twelve, near 1": {
			[]Pair{{10.2, 10.1}, {9.9, 10.05}, {10.4, 10.33}, {10.0, 10.21}, {9.7, 9.66}, {10.6, 10.45}, {10.1, 10.13},
				{9.8, 9.95}, {10.3, 10.28}, {9.95, 10.3}, {10.15, 10.02}, {10.05, 10.24}},
			Effect{12, 1.00418899864, 0.993032122156, 1.01644765195, 0.95751953125, 0.33935546875},
		},
		"twenty": {twenty, Effect{20, 1.03616109386, 1.01699641592, 1.05546467966, 0.951559066772, 0.000707626342773}},
		"one":    {[]Pair{{2, 3}}, Effect{1, 1.5, 1.5, 1.5, 0, 1}},
		"none":   {nil, Effect{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := EffectOf(test.pairs)
			assert.Equal(t, test.want.Pairs, got.Pairs)
			for _, pair := range [][2]float64{
				{test.want.Ratio, got.Ratio}, {test.want.Low, got.Low}, {test.want.High, got.High},
				{test.want.Confidence, got.Confidence}, {test.want.P, got.P},
			} {
				assert.InDelta(t, pair[0], pair[1], 1e-10)
			}
		})
	}
}

func TestTiesAndZerosAreExact(t *testing.T) {
	t.Parallel()
	assert.InDelta(t, 0.1640625, signedRank([]float64{.1, .1, -.1, .2, .2, .3, -.2, .4}), 1e-12)
	assert.InDelta(t, 0.0625, signedRank([]float64{0, 0, .1, .2, -.05, .3, .25, .15}), 1e-12)
	assert.InDelta(t, 1, signedRank([]float64{0, 0, 0}), 1e-12)
}

// The quantiles are those of the tables of the signed-rank test.
func TestDepth(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 15: 25, 20: 52, 30: 137, 50: 434} {
		k, confidence := depth(n, 0.05)
		assert.Equal(t, want, k, n)
		assert.GreaterOrEqual(t, confidence, 0.95)
	}
	k, confidence := depth(5, 0.05)
	assert.Zero(t, k)
	assert.InDelta(t, 1-2.0/32, confidence, 1e-12)
}

// A change of sides turns the effect over.
func TestSidesAreAlike(t *testing.T) {
	t.Parallel()
	pairs := []Pair{{3, 4}, {5, 5.5}, {2, 2.1}, {9, 8}, {4, 4.4}, {7, 7.9}, {6, 6.1}}
	var turned []Pair
	for _, p := range pairs {
		turned = append(turned, Pair{p.B, p.A})
	}
	a, b := EffectOf(pairs), EffectOf(turned)
	assert.InDelta(t, a.Ratio, 1/b.Ratio, 1e-12)
	assert.InDelta(t, a.Low, 1/b.High, 1e-12)
	assert.InDelta(t, a.P, b.P, 1e-12)
	assert.Equal(t, a.Judge(true, 0.01), b.Judge(false, 0.01))
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		low, high        float64
		ifHigherIsBetter Verdict // if more is better
		ifLowerIsBetter  Verdict
	}{
		"within the margin":   {0.98, 1.03, NoChange, NoChange},
		"below":               {0.80, 0.90, Regression, Improvement},
		"above":               {1.10, 1.20, Improvement, Regression},
		"over both ends":      {0.90, 1.10, Inconclusive, Inconclusive},
		"over the lower end":  {0.90, 1.01, Inconclusive, NotWorse},
		"over the upper end":  {0.99, 1.10, NotWorse, Inconclusive},
		"at the margin":       {1 / 1.05, 1.05, NoChange, NoChange},
		"just beyond it":      {1.0501, 1.2, Improvement, Regression},
		"nothing but a point": {1, 1, NoChange, NoChange},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := Effect{Pairs: 10, Low: test.low, High: test.high}
			assert.Equal(t, test.ifHigherIsBetter, e.Judge(true, 0.05+1e-12))
			assert.Equal(t, test.ifLowerIsBetter, e.Judge(false, 0.05+1e-12))
			e.Pairs = MinPairs - 1
			assert.Equal(t, Inconclusive, e.Judge(true, 0.05))
		})
	}
}

func TestMore(t *testing.T) {
	t.Parallel()
	e := Effect{Pairs: 10, Ratio: 1, Low: math.Exp(-0.1), High: math.Exp(0.1)}
	assert.Equal(t, 33, e.MorePairs(true, 0.05, 100)) // half the width has to shrink from 0.1 to ln 1.05
	e.Ratio = 1.05
	assert.Equal(t, -1, e.MorePairs(false, 0.05, 1000))
	e.Pairs = 2
	assert.Equal(t, 4, e.MorePairs(true, 0.05, 100))
	assert.InDelta(t, 0.2, Effect{Low: 1 / 1.2, High: 1.1}.Floor(), 1e-12)
	assert.InDelta(t, 0.25, Effect{Low: 0.9, High: 1.25}.Floor(), 1e-12)
}

func TestHolm(t *testing.T) {
	t.Parallel()
	assert.InDeltaSlice(t, []float64{0.03, 0.06, 0.06, 0.02}, Holm([]float64{0.01, 0.04, 0.03, 0.005}), 1e-12)
	assert.InDeltaSlice(t, []float64{1, 1}, Holm([]float64{0.9, 0.8}), 1e-12)
	assert.Empty(t, Holm(nil))
}
