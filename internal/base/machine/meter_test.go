package machine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRoundTripIsTheMedian(t *testing.T) {
	t.Parallel()
	m := new(Meter)
	assert.Zero(t, m.RoundTrip(), "nothing measured excuses nothing")
	for i := range 101 {
		m.NoteTrip(time.Duration(i) * time.Millisecond)
	}
	assert.Equal(t, 50*time.Millisecond, m.RoundTrip())
	m.NoteTrip(time.Hour)
	assert.Less(t, m.Excuse(time.Now()), time.Second, "one stall does not excuse all that follows")
	m.Note(time.Now(), time.Hour)
	assert.Greater(t, m.Excuse(time.Now()), time.Hour, "lag does")
}

func TestLagCountsSinceAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := new(Meter)
		m.Note(time.Now(), 70*time.Millisecond)
		time.Sleep(time.Second) // virtual
		later := time.Now()
		m.Note(later, 20*time.Millisecond)
		assert.Equal(t, 70*time.Millisecond, m.Lag(later.Add(-2*time.Second)))
		assert.Equal(t, 20*time.Millisecond, m.Lag(later))
	})
}

func TestTheMeterForgets(t *testing.T) {
	t.Parallel()
	m := new(Meter)
	for i := range 10 * keepLate {
		m.Note(time.Now(), time.Hour-time.Duration(i)*time.Second)
		m.NoteTrip(time.Second)
	}
	assert.Len(t, m.lateTimers, keepLate)
	assert.Len(t, m.trip, keepTrips)
}

// A timer that has not fired yet counts too: the goroutine of the meter may get its turn last.
func TestATimerThatIsOverdueCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := new(Meter)
		m.expect(time.Now().Add(-300 * time.Millisecond))
		assert.Equal(t, 300*time.Millisecond, m.Lag(time.Now()))
		m.expect(time.Time{})
		assert.Zero(t, m.Lag(time.Now()))
	})
}

func TestAMeterThatRunsFindsVirtualTimePunctual(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, start := new(Meter), time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		m.Run(ctx)
		assert.Zero(t, m.Lag(start))
	})
}

// The clock of a machine that sleeps stands still, and its timers are punctual: only the clock that goes on shows it.
func TestSleepOfTheMachineIsLag(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		m := &Meter{slept: func() time.Duration {
			if time.Since(start) < time.Minute {
				return 5 * time.Second // before
			}
			return 8 * time.Second
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		m.Run(ctx)
		assert.Equal(t, 3*time.Second, m.Lag(start))
		assert.Zero(t, m.Lag(start.Add(90*time.Second)))
	})
}

func TestAsleepGrowsOnlyWithSleep(t *testing.T) {
	t.Parallel()
	before := Asleep()
	assert.Less(t, (Asleep() - before).Abs(), time.Minute, "the test does not let the machine sleep")
}
