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

// state returns what a line of progress shows. The share is what is used up of the time or of the commands, whichever is
// more.
func (e *exploreProgress) state() (share float64, parts []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	elapsed := time.Since(e.begun)
	share = float64(elapsed) / float64(e.budget)
	if e.steps > 0 {
		share = max(share, float64(e.last.Commands)/float64(e.steps))
	}
	parts = []string{activity(e.last), program.Clock(max(0, e.budget-elapsed)) + " left"}
	if e.last.Activity == explore.Exploring {
		parts = append(parts, text.Count(e.last.Outcomes, "outcome"))
	}
	return share, parts
}

// activity returns what an exploration is doing, in one short line.
func activity(p explore.Progress) string {
	commands := text.Count(p.Commands, "command")
	switch p.Activity {
	case explore.Measuring:
		return "measuring the memory of the server"
	case explore.Shrinking:
		return fmt.Sprintf("shrinking %s: %s of %s", p.Finding, text.Grouped(p.Done), text.Count(p.Of, "step"))
	case explore.Confirming:
		return fmt.Sprintf("confirming %s: play %d of %d", p.Finding, p.Done+1, p.Of)
	case explore.Loading:
		return "concurrent clients: " + commands
	case explore.CleaningUp:
		return "cleaning up after " + commands
	}
	return "exploring: " + commands
}
