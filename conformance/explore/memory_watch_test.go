package explore_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/fwpsubject"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// hoard is what a server in a test keeps of what it is sent.
type hoard struct {
	kept atomic.Int64
	keep func(e *fakes.Event, kept *atomic.Int64)
}

func (h *hoard) hook(e *fakes.Event) { h.keep(e, &h.kept) }

// weighing explores little and then watches the memory of a server.
func weighing(t *testing.T, h *hoard, memory func(kept int64) (int64, error)) *explore.Result {
	t.Helper()
	slow.NotRacing(t)
	var r *explore.Result
	synctest.Test(t, func(t *testing.T) {
		s := &stage{config: func() fakes.Config { return fakes.Config{Hook: h.hook} }}
		target, end, err := s.start()
		require.NoError(t, err)
		defer end()
		e := explore.Explorer{Subject: fwpsubject.New(), Target: target, Steps: 20, Alone: true,
			Memory: func() (int64, error) { return memory(h.kept.Load()) }}
		r = e.Run(t.Context())
	})
	return r
}

func TestMemoryThatIsKeptIsFound(t *testing.T) {
	t.Parallel()
	slow.Only(t)
	const refused, connection = "4000 commands that are refused", "300 connections that are opened and closed"
	tests := map[string]struct {
		keep func(e *fakes.Event, kept *atomic.Int64)
		what string
	}{
		"refused commands": {func(e *fakes.Event, kept *atomic.Int64) {
			if e.Point == fakes.Ran && e.Err != nil {
				kept.Add(int64(min(len(e.Line), 512) + 400))
			}
		}, refused},
		"long lines": {func(e *fakes.Event, kept *atomic.Int64) {
			if e.Point == fakes.Ran && e.Err != nil {
				kept.Add(int64(len(e.Line)))
			}
		}, "64 commands of 64 KiB that are refused"},
		"connections": {func(e *fakes.Event, kept *atomic.Int64) {
			if e.Point == fakes.Accepted {
				kept.Add(16 << 10)
			}
		}, connection},
		"what came of lines without end": {func(e *fakes.Event, kept *atomic.Int64) {
			if e.Point == fakes.Received && string(e.Bytes[:min(4, len(e.Bytes))]) == "PUSH" {
				kept.Add(64 << 10)
			}
		}, "64 lines of 64 KiB that end with their connection"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := weighing(t, &hoard{keep: test.keep}, func(kept int64) (int64, error) { return 50<<20 + kept, nil })
			require.Len(t, r.Findings, 1)
			f := r.Findings[0]
			assert.Equal(t, explore.RuleMemory, f.Rule)
			assert.Contains(t, f.Expected, test.what)
			assert.Contains(t, f.Script, "repeat ")
			script, err := scenarios.Parse(fwpdialect.Dialect{}, "memory.fwp", []byte(f.Script))
			require.NoError(t, err, f.Script)
			for _, p := range scenarios.Lint(script) {
				assert.True(t, p.Advice, "%s\n%s", p.Error(), f.Script)
			}
			assert.NotEmpty(t, f.Whole.Steps)
		})
	}
}

func TestMemoryThatComesBackIsNotBlamed(t *testing.T) {
	t.Parallel()
	slow.Only(t)
	all := func(e *fakes.Event, kept *atomic.Int64) { // garbage of everything that is sent
		if e.Point == fakes.Received {
			kept.Add(int64(3 * len(e.Bytes)))
		}
	}
	for name, memory := range map[string]func(kept int64) (int64, error){
		"collected":      func(kept int64) (int64, error) { return kept % (60 << 20), nil },
		"bounded":        func(kept int64) (int64, error) { return min(kept, 90<<20), nil },
		"cannot be read": func(int64) (int64, error) { return 0, errors.New("no such process") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Empty(t, weighing(t, &hoard{keep: all}, memory).Findings)
		})
	}
}

func TestMemoryThatIsKeptForAWhileIsNotBlamed(t *testing.T) {
	t.Parallel()
	slow.Only(t)
	var last atomic.Int64 // when a connection came last; after a minute what was kept of the others is free
	h := &hoard{}
	var top atomic.Int64
	h.keep = func(e *fakes.Event, kept *atomic.Int64) {
		if e.Point != fakes.Accepted {
			return
		}
		now := time.Now().UnixNano()
		if before := last.Swap(now); now-before > int64(time.Minute) {
			kept.Store(0)
		}
		if n := kept.Add(16 << 10); n > top.Load() { // what was given back once is used again
			top.Store(n)
		}
	}
	r := weighing(t, h, func(int64) (int64, error) { return 20<<20 + top.Load(), nil })
	assert.Empty(t, r.Findings)
	assert.Greater(t, top.Load(), int64(20<<20), "it would have been blamed without the pause")
}
