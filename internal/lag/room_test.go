package lag

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRoomIsPartOfAWait(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]time.Duration{
		0:               100 * time.Millisecond,
		time.Second:     250 * time.Millisecond,
		2 * time.Second: Room,
		time.Minute:     Room,
	} {
		assert.Equal(t, want, RoomIn(wait), wait)
	}
}

func TestWhatAnAllowanceCovers(t *testing.T) {
	t.Parallel()
	assert.True(t, Covers(Allowance, 500*time.Millisecond))
	assert.False(t, Covers(Allowance, 501*time.Millisecond))
	assert.True(t, Covers(0, 0))
}

func TestALateMachineGivesMoreTime(t *testing.T) {
	t.Parallel()
	for late, want := range map[time.Duration]time.Duration{
		0:                      0,
		100 * time.Millisecond: 2100 * time.Millisecond,
		10 * time.Second:       30 * time.Second,
		time.Hour:              time.Hour + 20*time.Second,
	} {
		assert.Equal(t, want, Grace(late, 10*time.Second), late)
	}
}
