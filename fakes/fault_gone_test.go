package fakes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes"
)

// END gives back only what is still held, and other consumers get it at once.
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
