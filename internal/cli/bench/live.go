package bench

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/reports"
)

// live shows a run while it goes: on the line of progress, or with --verbose a line for every second.
type live struct {
	lines    io.Writer // nil: none
	duration time.Duration

	mu      sync.Mutex
	elapsed time.Duration // of duration: the warm-up and the measurement so far
	parts   []string
}

// newLive returns what shows a run that is about to begin: with verbose, in lines that it writes to out.
func newLive(verbose bool, w *plan.Workload, out io.Writer) *live {
	_, end := w.Window()
	l := &live{duration: max(end, 1), parts: []string{"connecting"}}
	if verbose {
		l.lines = out
	}
	return l
}

// state returns what a line of progress shows.
func (l *live) state() (share float64, parts []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return float64(l.elapsed) / float64(l.duration), l.parts
}

// show shows the figures of the last second.
func (l *live) show(m load.Progress) {
	parts := figures(m)
	if l.lines != nil {
		_, _ = fmt.Fprintf(l.lines, "%7s  %s\n", shared.Clock(m.At), strings.Join(parts, ", "))
		return
	}
	if m.Length < 100*time.Millisecond {
		parts = []string{m.Phase} // too short to compute rates from
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parts = parts
	if m.Phase == "measure" || m.Phase == "warm-up" {
		l.elapsed += m.Length
	}
}

// figures returns the figures of the last second, the most important first: a narrow terminal has room for the first
// ones only.
func figures(m load.Progress) []string {
	parts := []string{m.Phase}
	if m.Phase == "connect" {
		return append(parts, text.Count(m.Connections, "connection"), errorCount(m))
	}
	if m.Remaining > 0 && m.Phase == "measure" {
		parts = append(parts, shared.Clock(m.Remaining)+" left")
	}
	if m.Disruption != "" {
		parts = append(parts, m.Disruption)
	}
	rate := reports.Rate(m.Achieved)
	if m.Target > 0 {
		rate = strings.TrimSuffix(rate, " /s") + " of " + reports.Rate(m.Target)
	}
	parts = append(parts, rate, errorCount(m))
	if m.Backlog > 0 {
		parts = append(parts, text.GroupDigits(m.Backlog)+" queued")
	}
	for _, op := range m.Ops {
		isShown := op.Op == "push" || op.Op == "fetch.found" || op.Op == "beat" || op.Op == "connect" && m.Phase == "measure"
		if isShown && op.ResponseP50 > 0 { // else none of them counts
			parts = append(parts,
				fmt.Sprintf("%s p50 %s p99 %s", op.Op, reports.Time(op.ResponseP50), reports.Time(op.ResponseP99)))
		}
	}
	return append(parts, text.GroupDigits(m.InFlight)+" in flight", text.Count(m.Connections, "connection"))
}

// errorCount returns how many errors there were so far.
func errorCount(m load.Progress) string {
	if m.Errors == 0 {
		return "no errors"
	}
	return text.Count(m.Errors, "error")
}
