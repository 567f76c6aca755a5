package machine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestALateMachineGivesMoreTime(t *testing.T) {
	t.Parallel()
	for lateness, want := range map[time.Duration]time.Duration{
		0:                      0,
		100 * time.Millisecond: 2100 * time.Millisecond,
		10 * time.Second:       30 * time.Second,
		time.Hour:              time.Hour + 20*time.Second,
	} {
		assert.Equal(t, want, Grace(lateness, 10*time.Second), lateness)
	}
}
