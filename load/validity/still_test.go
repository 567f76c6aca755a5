package validity

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/results"
)

func TestStillnessIsAHoleBetweenLooks(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(after, asleep, cpuTime time.Duration) look { return look{start.Add(after), asleep, cpuTime} }
	for name, test := range map[string]struct {
		last, now time.Duration
		asleep    time.Duration // in between
		cpuTime   time.Duration
		want      []results.Hole
	}{
		"punctual":                  {last: 4 * time.Second, now: 4020 * time.Millisecond},
		"as late as schedulers are": {last: 4 * time.Second, now: 4200 * time.Millisecond},
		"stopped": {last: 4 * time.Second, now: 6 * time.Second,
			want: []results.Hole{{At: 4 * time.Second, Length: 2 * time.Second}}},
		"asleep, and its clock with it": {last: 4 * time.Second, now: 4020 * time.Millisecond, asleep: time.Hour,
			want: []results.Hole{{At: 4 * time.Second, Length: time.Hour + 20*time.Millisecond}}},
		"busy itself": {last: 4 * time.Second, now: 6 * time.Second, cpuTime: 1500 * time.Millisecond},
		"with next to no CPU": {last: 4 * time.Second, now: 6 * time.Second, cpuTime: 300 * time.Millisecond,
			want: []results.Hole{{At: 4 * time.Second, Length: 2 * time.Second}}},
	} {
		s := &stillness{start: start, last: at(test.last, time.Second, time.Second)}
		s.asleep = func() time.Duration { return time.Second + test.asleep }
		s.cpuTime = func() time.Duration { return time.Second + test.cpuTime }
		s.compare(at(test.now, s.asleep(), s.cpuTime()))
		assert.Equal(t, test.want, s.holes, name)
	}
}

// The sampler tells holes of its window, and not those before.
func TestSamplerTellsHoles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start, asleep := time.Now(), time.Duration(0)
		s := NewSampler(start, 1)
		s.stillness.cpuTime = func() time.Duration { return 0 } // the time of the bubble is another
		s.stillness.asleep = func() time.Duration {
			switch since := time.Since(start); {
			case since > 5*time.Second:
				asleep = 3 * time.Second
			case since > time.Second:
				asleep = time.Second
			}
			return asleep
		}
		time.Sleep(2 * time.Second) // virtual
		s.Begin()
		time.Sleep(5*time.Second - lookEvery/2)
		assert.Equal(t, []results.Hole{{At: 5 * time.Second, Length: 2*time.Second + lookEvery}}, s.End().Holes)
		s.Begin()
		assert.Empty(t, s.End().Holes)
	})
}
