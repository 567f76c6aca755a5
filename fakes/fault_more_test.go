package fakes_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
)

// A hook sees a restart, and may have it lose everything.
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

// Whatever an END gives back is there for others at once, and only what is still held.
func TestEndReturnsJobs(t *testing.T) {
	t.Parallel()
	for _, f := range fakes.Faults() {
		if f.Name != "end-returns-jobs" {
			continue
		}
		inMemory(t, fakes.Config{Hook: f.Hook()}, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
			w, other := dial().greet(producer), dial().greet(producer)
			w.do(job("done", ""))
			w.do(job("held", ""))
			assert.Contains(t, w.do("FETCH"), `"done"`)
			assert.Contains(t, w.do("FETCH"), `"held"`)
			assert.Equal(t, "+OK", w.do(`ACK {"jid":"done"}`))
			assert.Equal(t, "+OK", w.do("END"))
			assert.Contains(t, other.do("FETCH"), `"held"`)
			assert.Equal(t, "$-1", other.do("FETCH"))
		})
	}
}
