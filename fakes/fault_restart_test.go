package fakes_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
)

// A hook is called at a restart, and may let it lose everything.
func TestTheHookSeesRestarts(t *testing.T) {
	t.Parallel()
	var seen []bool
	inMemory(t, fakes.Config{Hook: func(e *fakes.Event) {
		if e.Point == fakes.Restarted {
			seen = append(seen, e.Reset)
			e.Skip = e.Reset
		}
	}}, func(t *testing.T, s *fakes.Server, dial func() *wire) {
		w := dial().greet(producer)
		require.Equal(t, "+OK", w.do(job("now", "")))
		require.Equal(t, "+OK", w.do(job("later", `"at":"`+time.Now().Add(time.Minute).Format(time.RFC3339)+`"`)))
		require.NoError(t, s.Restart())
		assert.Contains(t, dial().greet(producer).do("INFO"), `"scheduled":1`)
		require.NoError(t, s.Kill())
		w = dial().greet(producer)
		assert.Contains(t, w.do("INFO"), `"scheduled":0`)
		assert.Equal(t, "$-1", w.do("FETCH"))
		assert.Equal(t, []bool{false, true}, seen)
	})
}
