package run_test

import (
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

const (
	holding  = beating + "silence 3s\n"
	refusing = beating
	ending   = beating + "C: BEAT {\"wid\":\"$wid\",\"rss_kb\":7}\nS: +OK\nsilence 1ms\n"
)

// runEnding runs scripts on a server that lets no connection in after the first BEAT with rss_kb, and ends the others a
// second later.
func runEnding(t *testing.T, isKnown bool, sources map[string]string, look func(*reports.Report)) {
	t.Helper()
	all := scripts(t, sources)
	synctest.Test(t, func(t *testing.T) {
		m := &mortalTarget{memoryTarget: *newTarget()}
		m.isDown = m.isDead.Load
		var hasEnded atomic.Bool
		var server *fakes.Server
		server = fakes.NewUnstarted(fakes.Config{Listen: m.Listen, Hook: func(e *fakes.Event) {
			if e.Point != fakes.Parsed || !strings.Contains(string(e.Line), "rss_kb") || !hasEnded.CompareAndSwap(false, true) {
				return
			}
			m.isDead.Store(true)
			go func() {
				time.Sleep(time.Second)
				_ = server.Kill()
			}()
		}})
		server.Start()
		defer server.Close()
		subject := run.Server{Target: m, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedRestart}}
		if isKnown {
			subject.Ended = m.ended
		}
		look(runnerOn(subject, all).Run(t.Context()))
	})
}

// Connections that are refused because the server has ended are no reason to blame a check, or to leave it undecided.
func TestTheEndOfAServerIsNoLimitOfConnections(t *testing.T) {
	t.Parallel()
	for _, isKnown := range []bool{true, false} {
		t.Run(fmt.Sprint(isKnown), func(t *testing.T) {
			t.Parallel()
			sources := copies(3, "holds", holding)
			maps.Copy(sources, copies(10, "late", refusing))
			sources["ends"] = ending
			runEnding(t, isKnown, sources, func(r *reports.Report) {
				for _, c := range r.Checks {
					want := reports.Pass
					if c.ID == run.CrashCheck {
						want = reports.Crash
					}
					assert.Equal(t, want, c.Verdict, "%s: %s", c.ID, c.Cause)
				}
				assert.Len(t, r.Checks, len(sources)+1)
			})
		})
	}
}
