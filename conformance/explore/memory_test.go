package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const mib = 1 << 20

// levels makes the memory after each of n rounds.
func levels(n int, level func(round int64) int64) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = 40*mib + level(int64(i))
	}
	return all
}

// collected is a heap that holds what is kept, and garbage up to as much as was kept when
// it was collected last, but 4 MiB at least, as a doubling heap with pages that it keeps.
func collected(kept, garbage func(round int64) int64) func(int64) int64 {
	return func(round int64) int64 {
		goal, drainUnjudged, top := int64(8*mib), int64(0), int64(0)
		for i := range round + 1 {
			drainUnjudged += garbage(i)
			if kept(i)+drainUnjudged > goal {
				drainUnjudged, goal = 0, max(8*mib, 2*kept(i))
			}
			top = max(top, kept(i)+drainUnjudged)
		}
		return top
	}
}

func TestOnlyWhatIsKeptIsGrowth(t *testing.T) {
	t.Parallel()
	type shape = func(int64) int64
	steady := func(by int64) shape { return func(i int64) int64 { return i * by } }
	noise := func(i int64) int64 { return ((i*7919)%13 - 6) * mib / 4 }
	sawtooth := func(n, by int64) shape { return func(i int64) int64 { return i % n * by } }
	flat := steady(0)
	tests := map[string]struct {
		fed, control shape
		want         bool
	}{
		"nothing":                              {flat, flat, false},
		"a steady leak":                        {steady(3 * mib), flat, true},
		"a small steady leak":                  {steady(800 << 10), noise, true},
		"a leak with noise":                    {func(i int64) int64 { return 2*i*mib + noise(i) }, noise, true},
		"a leak in a heap that is collected":   {collected(steady(2*mib), steady(0)), noise, true},
		"a leak among garbage":                 {collected(steady(2*mib), func(int64) int64 { return 3 * mib }), noise, true},
		"a leak under a sawtooth":              {func(i int64) int64 { return 2*i*mib + sawtooth(5, 3*mib)(i) }, noise, true},
		"too little to tell":                   {steady(300 << 10), flat, false},
		"noise":                                {noise, noise, false},
		"garbage in a heap that is collected":  {collected(flat, func(int64) int64 { return 3 * mib }), noise, false},
		"sawtooth, short":                      {sawtooth(4, 9*mib), noise, false},
		"sawtooth, half as long as the rounds": {sawtooth(12, 3*mib), noise, false},
		"sawtooth, longer than the rounds":     {steady(3 * mib), steady(3 * mib), false},
		"garbage that nobody has collected":    {steady(2 * mib), steady(mib), false},
		"plateau":                              {func(i int64) int64 { return 60*mib - 60*mib>>i }, flat, false},
		"heap doubled twice":                   {func(i int64) int64 { return 20 * mib << (i / 12) }, flat, false},
		"one jump":                             {func(i int64) int64 { return i / 13 * 40 * mib }, flat, false},
		"falling":                              {steady(-mib), flat, false},
	}
	for name, test := range tests {
		assert.Equal(t, test.want, growth(levels(memoryRounds, test.fed), levels(memoryRounds, test.control)), name)
	}
	assert.False(t, growth(nil, nil))
}

func TestGrowthGoesOnAfterThePause(t *testing.T) {
	t.Parallel()
	leak := levels(memoryRounds, func(i int64) int64 { return 2 * i * mib })
	for name, test := range map[string]struct {
		level func(int64) int64
		want  bool
	}{
		"as before":                 {func(i int64) int64 { return (48 + 2*i) * mib }, true},
		"a part of it came back":    {func(i int64) int64 { return (40 + 2*i) * mib }, true},
		"what was kept for a while": {func(int64) int64 { return 48 * mib }, false},
		"it came back":              {func(i int64) int64 { return 2 * i * mib }, false},
		"a little":                  {func(i int64) int64 { return 46*mib + 100<<10*i }, false},
	} {
		assert.Equal(t, test.want, stillGrows(leak, levels(memoryAgain, test.level)), name)
	}
	assert.False(t, stillGrows(leak, nil))

	slow := func(i int64) int64 { return 60 * mib * (576 - max(0, 24-i)*(24-i)) / 576 } // a plateau
	assert.False(t, stillGrows(levels(memoryRounds, slow),
		levels(memoryAgain, func(i int64) int64 { return slow(memoryRounds + i) })))
}
