package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/results"
)

func TestLive(t *testing.T) {
	t.Parallel()
	l := &live{duration: 4 * time.Second}
	second := load.Progress{
		Second: results.Second{
			Phase: "measure", Target: 2000, Achieved: 1216.4, Backlog: 7804, Connections: 100, InFlight: 50,
			Ops:    []results.SecondOp{{Op: "push", ResponseP50: 52 * time.Microsecond, ResponseP99: 3 * time.Second}},
			Length: time.Second,
		},
		Remaining: 72*time.Second + time.Millisecond,
	}
	l.show(second)
	share, parts := l.state()
	assert.InDelta(t, 0.25, share, 1e-9)
	assert.Equal(t, "measure, 1m 12s left, 1,216 of 2,000 /s, no errors, 7,804 queued, push p50 52 us p99 3 s, "+
		"50 in flight, 100 connections", strings.Join(parts, ", "))
	second.Disruption = "kill for 1s"
	l.show(second)
	_, parts = l.state()
	assert.Contains(t, strings.Join(parts, ", "), "1m 12s left, kill for 1s, 1,216 of")
	second.Length = time.Millisecond
	l.show(second)
	_, parts = l.state()
	assert.Equal(t, []string{"measure"}, parts, "too short for rates")
}
