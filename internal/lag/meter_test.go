package lag

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRoundTripIsMedianAndSpread(t *testing.T) {
	t.Parallel()
	m := new(Meter)
	typical, spread := m.RoundTrip()
	assert.Zero(t, typical+spread, "nothing measured excuses nothing")
	for i := range 101 {
		m.NoteTrip(time.Duration(i) * time.Millisecond)
	}
	typical, spread = m.RoundTrip()
	assert.Equal(t, 50*time.Millisecond, typical)
	assert.Equal(t, 80*time.Millisecond, spread)
	assert.Equal(t, 210*time.Millisecond, m.Excuse(time.Now()))
	m.NoteTrip(time.Hour)
	assert.Less(t, m.Excuse(time.Now()), time.Second, "one stall does not excuse all that follows")
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
	assert.Len(t, m.late, keepLate)
	assert.Len(t, m.trip, keepTrips)
}

func TestSlackIsBounded(t *testing.T) {
	t.Parallel()
	for trip, want := range map[time.Duration][2]time.Duration{
		0:                      {0, 0},
		300 * time.Millisecond: {300 * time.Millisecond, 0},
		5 * time.Second:        {500 * time.Millisecond, 4500 * time.Millisecond},
	} {
		m := new(Meter)
		m.NoteTrip(trip)
		slack, doubt := m.Slack(time.Now())
		assert.Equal(t, want, [2]time.Duration{slack, doubt}, trip)
	}
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

// What was received when a timer was late, or soon after it, may have been there as long as the timer was late.
func TestWhenAPeerCanHaveSentWhatWasReceived(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, test := range map[string]struct{ after, want time.Duration }{
		"long before":       {-1300 * ms, 0},
		"while it was late": {-300 * ms, 600 * ms},
		"soon after":        {500 * ms, 600 * ms},
		"longer after it":   {700 * ms, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m, fired := new(Meter), time.Now()
				m.Note(fired, 600*ms)
				at := fired.Add(test.after)
				assert.Equal(t, Interval{at.Add(-test.want), at}, m.Received(at))
			})
		})
	}
}
