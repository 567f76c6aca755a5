package machine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/base/machine"
)

func TestSleep(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		sleep, end time.Duration // for how long, and when ctx is done
		hasPassed  bool
		took       time.Duration
	}{
		{"all the time", time.Hour, 2 * time.Hour, true, time.Hour},
		{"ctx is done first", time.Hour, time.Minute, false, time.Minute},
		{"no time", 0, time.Hour, true, 0},
		{"no time, and ctx is done", 0, 0, false, 0},
		{"less than no time", -time.Second, time.Hour, true, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.end)
				defer cancel()
				began := time.Now()
				assert.Equal(t, test.hasPassed, machine.Sleep(ctx, test.sleep))
				assert.Equal(t, test.took, time.Since(began))
			})
		})
	}
}

func TestUntil(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		began := time.Now()
		assert.True(t, machine.Wait(done, time.Hour))
		assert.Equal(t, time.Hour, time.Since(began))
		close(done)
		assert.False(t, machine.Wait(done, time.Hour))
		assert.True(t, machine.Wait(done, 0), "no time has always passed")
		assert.Equal(t, time.Hour, time.Since(began))
	})
}
