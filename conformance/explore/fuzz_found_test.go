package explore_test

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
)

// poisoned is a server of which something becomes of the bytes that it is poisoned by.
func poisoned(poison func(all []byte) bool, then func(e *fakes.Event, since int64)) func() fakes.Config {
	return func() fakes.Config {
		var at atomic.Int64 // the connection that brought it
		return fakes.Config{Hook: func(e *fakes.Event) {
			if e.Point == fakes.Received && poison(e.Bytes) {
				at.CompareAndSwap(0, e.Conn.ID)
			}
			if since := at.Load(); since > 0 && e.Conn != nil {
				then(e, since)
			}
		}}
	}
}

// searching explores with one seed after the other until there is a finding. Some bytes
// are rare, so a seed may not make them; the first one that does is the same in every run.
// It begins with a seed that makes those of the tests early: others take up to ten times as many commands.
func searching(t *testing.T, config func() fakes.Config, look func(t *testing.T, r *explore.Result, fresh *stage)) {
	t.Helper()
	found := false
	for n := uint64(0); n < 20 && !found; n++ {
		e := explore.Explorer{Alphabet: moves.New(), Seed: *seed + 4 + n, Steps: 3000}
		exploring(t, config, e, func(t *testing.T, r *explore.Result, fresh *stage) {
			if found = len(r.Findings) > 0; found {
				look(t, r, fresh)
			}
		})
	}
	assert.True(t, found, "nothing found with 20 seeds")
}

func TestWhatBytesDoIsFound(t *testing.T) {
	t.Parallel()
	crs := func(all []byte) bool { return bytes.Contains(all, []byte("\r\r")) }
	nul := func(all []byte) bool { return bytes.Contains(all, []byte("\x00")) }
	tests := map[string]struct {
		config func() fakes.Config
		crash  bool
		longer int // no script needs more bytes than that
	}{
		"dies of a NUL": {poisoned(nul, func(e *fakes.Event, _ int64) {
			e.Skip = e.Skip || e.Point == fakes.Accepted
			e.Reply.Kind, e.Close = 0, e.Close || e.Point == fakes.Ran
		}), true, 60},
		"accepts and never answers after a lone CR": {poisoned(crs, func(e *fakes.Event, _ int64) {
			if e.Point == fakes.Accepted || e.Point == fakes.Ran {
				e.Delay = time.Hour
			}
		}), true, 60},
		"the next connection gets an answer that is not its own": {poisoned(nul, func(e *fakes.Event, since int64) {
			if e.Point == fakes.Writing && e.Conn.ID > since && e.Command.Verb == "HELLO" {
				e.Bytes = []byte("$-1\r\n")
			}
		}), false, 60},
		"the neighbour gets it": {poisoned(nul, func(e *fakes.Event, since int64) {
			if e.Point == fakes.Writing && e.Conn.ID != since && e.Command.Verb == "ACK" {
				e.Bytes = []byte("-ERR cannot read that\r\n")
			}
		}), false, 60},
		"more answers to what servers send": {func() fakes.Config {
			return fakes.Config{Hook: func(e *fakes.Event) {
				if e.Point == fakes.Writing && string(e.Line) == ":1" {
					e.Bytes = bytes.Repeat(e.Bytes, 40)
				}
			}}
		}, false, 60},
		"more answers than lines": {func() fakes.Config {
			return fakes.Config{Hook: func(e *fakes.Event) {
				if e.Point == fakes.Writing && e.Err != nil && bytes.IndexByte(e.Line, '\t') >= 0 {
					e.Bytes = bytes.Repeat(e.Bytes, 40)
				}
			}}
		}, false, 60},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "more answers to what servers send" {
				golden.OnlySlow(t) // it takes four seeds, as much as all others together
			}
			searching(t, test.config, func(t *testing.T, r *explore.Result, s *stage) {
				f := r.Findings[0]
				assert.Equal(t, test.crash, f.Crash, "%+v", f.Clause)
				assert.Positive(t, f.Hits)
				for line := range strings.Lines(f.Script) {
					if strings.Contains(line, " raw:") {
						assert.LessOrEqual(t, len(line), test.longer, f.Script)
					}
				}
				t.Logf("after %d commands, %d of %d: %s %s, got %s\n%s", f.Commands, f.Hits, f.Tries, f.Clause, f.Rule, f.Got,
					f.Script)
				if f.Script == "" {
					assert.NotEmpty(t, f.UnscriptedReason)
					return
				}
				reference := &stage{config: behaving("", "")}
				assert.Empty(t, replay(t, s, f.Script, f.Clause, true), f.Script)
				assert.Empty(t, replay(t, reference, f.Script, f.Clause, false), f.Script)
			})
		})
	}
}
