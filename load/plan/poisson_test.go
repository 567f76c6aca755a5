package plan_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/plan"
)

// moments are mean and variance of a sample.
func moments(sample []float64) (mean, variance float64) {
	for _, x := range sample {
		mean += x
	}
	mean /= float64(len(sample))
	for _, x := range sample {
		variance += (x - mean) * (x - mean)
	}
	return mean, variance / float64(len(sample)-1)
}

// TestPoissonCounts: the counts of equal windows have a variance like their mean, and
// neighbours know nothing of each other. The seeds are fixed, so that the test says
// the same every time; the bounds are some five standard errors wide.
func TestPoissonCounts(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{0, 1, 2, math.MaxUint64} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p := &plan.Plan{Stages: stages{{100 * time.Second, 5000, 5000}}, Poisson: true, Seed: seed}
			windows := make([]float64, 10000) // of 10 ms: 50 each; no multiple of a block
			c := p.Cursor(0, 1)
			for _, at, ok := c.Next(); ok; _, at, ok = c.Next() {
				windows[at/(10*time.Millisecond)]++
			}
			mean, variance := moments(windows)
			assert.InDelta(t, 50, mean, 0.4)
			assert.InDelta(t, 50, variance, 4)
			covariance := 0.0
			for i := range len(windows) - 1 {
				covariance += (windows[i] - mean) * (windows[i+1] - mean)
			}
			assert.InDelta(t, 0, covariance/float64(len(windows)), 2.5)
		})
	}
}

// TestPoissonGaps: the gaps are exponential.
func TestPoissonGaps(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Stages: stages{{200 * time.Second, 1000, 1000}}, Poisson: true, Seed: 7}
	var gaps []float64
	c := p.Cursor(0, 1)
	last, longer := time.Duration(0), 0
	for _, at, ok := c.Next(); ok; _, at, ok = c.Next() {
		gaps = append(gaps, (at-last).Seconds()*1000)
		if at-last > time.Millisecond {
			longer++
		}
		last = at
	}
	mean, variance := moments(gaps)
	assert.InDelta(t, 1, mean, 0.012)
	assert.InDelta(t, 1, variance, 0.04)
	assert.InDelta(t, math.Exp(-1), float64(longer)/float64(len(gaps)), 0.006)
}

func TestPoissonFollowsTheRate(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Stages: stages{{100 * time.Second, 0, 2000}, {100 * time.Second, 2000, 0}}, Poisson: true, Seed: 3}
	c, quarter := p.Cursor(0, 1), [4]float64{}
	for _, at, ok := c.Next(); ok; _, at, ok = c.Next() {
		quarter[at/(50*time.Second)]++
	}
	for i, want := range []float64{25000, 75000, 75000, 25000} {
		assert.InDelta(t, want, quarter[i], 5*math.Sqrt(want))
	}
}

func TestSeedsDiffer(t *testing.T) {
	t.Parallel()
	seeds := map[time.Duration]uint64{}
	for seed := range uint64(1000) {
		p := &plan.Plan{Stages: stages{{time.Second, 1000, 1000}}, Poisson: true, Seed: seed}
		_, at, _ := p.Cursor(0, 1).Next()
		_, ok := seeds[at]
		assert.False(t, ok, "seed %d starts like %d", seed, seeds[at])
		seeds[at] = seed
	}
}

// TestSameForEver: what a seed means is part of the results that users keep.
func TestSameForEver(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Stages: stages{{10 * time.Second, 0, 1000}, {5 * time.Second, 1000, 300}}, Poisson: true, Burst: 2,
		Seed: 12345}
	hash := sha256.New()
	c := p.Cursor(0, 1)
	for k, at, ok := c.Next(); ok; k, at, ok = c.Next() {
		_, _ = fmt.Fprintln(hash, k, int64(at)) // a hash takes everything
	}
	assert.Equal(t, "12c6ee4c3449323e2cd7573eddddee8eb9b049e1f1f392064338d76ffe9321d2", hex.EncodeToString(hash.Sum(nil)))
}

func TestMix(t *testing.T) {
	t.Parallel()
	const rounds = 20000
	flips := 0.0
	for i := range uint64(rounds) {
		x := plan.Mix(99, i) ^ plan.Mix(99, i^1<<(i%64))
		for ; x != 0; x &= x - 1 {
			flips++
		}
	}
	assert.InDelta(t, 32, flips/rounds, 0.15, "one bit of the counter changes half of the bits")
}
