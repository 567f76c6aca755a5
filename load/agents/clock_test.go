package agents

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The quickest of the replies counts, whatever the agent's time of day is.
func TestMeasureClock(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{0, time.Hour, -time.Hour} {
		here := time.Now()
		began := here.Add(-10 * time.Second) // of the coordinator
		asked := 0
		ask := func() (moment, error) {
			trip := 40 * time.Millisecond
			if asked++; asked == 7 {
				trip = 2 * time.Millisecond
			}
			here = here.Add(trip / 2)
			m := moment{Since: here.Sub(began), Wall: here}
			here = here.Add(trip / 2)
			return m, nil
		}
		now := func() time.Time { return here }
		c, err := measureClock(ask, now, func() time.Time { return here.Add(ahead) })
		require.NoError(t, err)
		assert.Equal(t, questions, asked)
		assert.Equal(t, time.Millisecond, c.bound)
		assert.Equal(t, ahead, c.wall)
		assert.Equal(t, began.Add(time.Minute), c.local(time.Minute), "the offset changes nothing")
		assert.Equal(t, time.Minute, c.remote(began.Add(time.Minute)))
	}
	failure := errors.New("no")
	_, err := measureClock(func() (moment, error) { return moment{}, failure }, time.Now, time.Now)
	require.ErrorIs(t, err, failure)
}

// A clock that drifts makes the bound as wide as it has drifted.
func TestABoundForTheWholeLoad(t *testing.T) {
	t.Parallel()
	now := time.Now()
	at := func(since, drifted, bound time.Duration) clock {
		return clock{here: now.Add(since), there: since + drifted, bound: bound}
	}
	before := at(time.Second, 0, 3*time.Millisecond)
	assert.Equal(t, 3*time.Millisecond, before.boundUntil(at(time.Minute, time.Millisecond, time.Millisecond)))
	assert.Equal(t, 6*time.Millisecond, before.boundUntil(at(time.Minute, 5*time.Millisecond, time.Millisecond)))
	assert.Equal(t, 6*time.Millisecond, before.boundUntil(at(time.Minute, -5*time.Millisecond, time.Millisecond)))
}
