package play

import (
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
		m.noteTrip(time.Duration(i) * time.Millisecond)
	}
	typical, spread = m.RoundTrip()
	assert.Equal(t, 50*time.Millisecond, typical)
	assert.Equal(t, 80*time.Millisecond, spread)
	assert.Equal(t, 210*time.Millisecond, m.excuse(time.Now()))
	m.noteTrip(time.Hour)
	assert.Less(t, m.excuse(time.Now()), time.Second, "one stall does not excuse all that follows")
}

func TestLagCountsSinceAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := new(Meter)
		m.noteLate(time.Now(), 70*time.Millisecond)
		time.Sleep(time.Second) // virtual
		later := time.Now()
		m.noteLate(later, 20*time.Millisecond)
		assert.Equal(t, 70*time.Millisecond, m.Lag(later.Add(-2*time.Second)))
		assert.Equal(t, 20*time.Millisecond, m.Lag(later))
	})
}

func TestTheMeterForgets(t *testing.T) {
	t.Parallel()
	m := new(Meter)
	for i := range 10 * keepLate {
		m.noteLate(time.Now(), time.Hour-time.Duration(i)*time.Second)
		m.noteTrip(time.Second)
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
		m.noteTrip(trip)
		slack, doubt := m.slack(time.Now())
		assert.Equal(t, want, [2]time.Duration{slack, doubt}, trip)
	}
}
