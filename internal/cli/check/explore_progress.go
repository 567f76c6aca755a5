package check

import (
	"fmt"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/text"
)

// exploreProgress is how far an exploration is. Several goroutines may use it.
type exploreProgress struct {
	begun  time.Time
	budget time.Duration
	steps  int // commands at most; no limit if zero

	mu   sync.Mutex
	last explore.Progress
}

// record records what the exploration is doing.
func (e *exploreProgress) record(p explore.Progress) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last = p
}

// state returns what a line of progress shows. The share is what is used up of the time or of the commands, whichever
// is more.
func (e *exploreProgress) state() (share float64, parts []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	elapsed := time.Since(e.begun)
	share = float64(elapsed) / float64(e.budget)
	if e.steps > 0 {
		share = max(share, float64(e.last.Commands)/float64(e.steps))
	}
	doing, detail := activity(e.last)
	return share, append([]string{doing, program.Clock(max(0, e.budget-elapsed)) + " left"}, detail...)
}

// activity returns what an exploration is doing, in words that leave room for the time on a terminal of 40 columns; and
// more about it.
func activity(p explore.Progress) (doing string, detail []string) {
	commands := text.Count(p.Commands, "command")
	switch p.Activity {
	case explore.Measuring:
		return "measuring memory", []string{commands}
	case explore.Shrinking:
		return "shrinking " + p.Finding, []string{text.Grouped(p.Done) + " of " + text.Count(p.Of, "step")}
	case explore.Confirming:
		return "confirming " + p.Finding, []string{fmt.Sprintf("play %d of %d", p.Done+1, p.Of)}
	case explore.Loading:
		return "concurrent clients", []string{commands}
	case explore.CleaningUp:
		return "cleaning up", []string{commands}
	}
	return "exploring", []string{commands, text.Count(p.Outcomes, "outcome")}
}
