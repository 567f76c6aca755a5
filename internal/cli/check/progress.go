package check

import (
	"fmt"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/reports"
)

// progress is how far a run of checks is. Several goroutines may use it.
type progress struct {
	start    time.Time
	parallel int // checks at a time; no limit if zero

	mu          sync.Mutex
	pending     map[string]pendingPlays // by check
	done, total int
	last        string // the check that ended last
}

// pendingPlays is the plays of a check that are still to end.
type pendingPlays struct {
	plays int
	wait  time.Duration // of one of them
}

// newProgress returns the progress of a run that begins now and plays every check so often.
func newProgress(checks []conformance.Check, repeat, parallel int) *progress {
	p := &progress{
		start: time.Now(), parallel: parallel, pending: map[string]pendingPlays{}, total: len(checks) * repeat,
	}
	for _, check := range checks {
		description := check.Describe()
		p.pending[description.ID] = pendingPlays{repeat, description.Wait}
	}
	return p
}

// finish records that one more play has ended.
func (p *progress) finish(done, total int, check string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total, p.last = done, total, check
	if rest, ok := p.pending[check]; ok {
		rest.plays--
		p.pending[check] = rest
	}
}

// state returns what a line of progress shows: "96 of 180 checks, about 1m 20s left, 12 s so far, ack/not-held". The
// first two fit into 40 columns.
func (p *progress) state() (share float64, parts []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	elapsed := time.Since(p.start)
	parts = []string{fmt.Sprintf("%d of %d checks", p.done, p.total)}
	spent := shared.Clock(elapsed) + " so far"
	if p.done == p.total {
		return 1, append(parts, spent, "finishing: retrying inconclusive checks")
	}
	remaining := p.remaining(elapsed).Round(time.Second)
	if remaining > 0 {
		parts = append(parts, "about "+shared.Clock(remaining)+" left")
	}
	parts = append(parts, spent)
	if p.last != "" {
		parts = append(parts, p.last)
	}
	return float64(p.done) / float64(p.total), parts
}

// remaining returns how long the rest of the run takes if the server answers at once: as long as the longest wait (all
// begin at the start, unless the number of checks at a time is limited), and as long as its share of what is done took,
// as soon as that is enough to go by.
func (p *progress) remaining(elapsed time.Duration) time.Duration {
	var longest, all time.Duration
	for _, play := range p.pending {
		if play.plays > 0 {
			longest = max(longest, play.wait)
		}
		all += play.wait * time.Duration(play.plays)
	}
	rest := longest - elapsed
	if p.parallel > 0 {
		rest = max(rest, all/time.Duration(p.parallel))
	}
	if 10*p.done >= p.total && p.done > 0 {
		rest = max(rest, elapsed/time.Duration(p.done)*time.Duration(p.total-p.done))
	}
	return rest
}

// printer returns a function that writes the lines of conversations to standard error, with the check that they belong
// to if that is named. Several goroutines may call it.
func (p process) printer(isNamed bool) func(check string, line reports.Line) {
	return func(check string, line reports.Line) {
		if isNamed {
			_, _ = fmt.Fprintf(p.Err, "%s  %s\n", check, p.Show(line.String()))
			return
		}
		_, _ = fmt.Fprintln(p.Err, p.Show(line.String()))
	}
}

// exploreProgress is how far an exploration is. Several goroutines may use it.
type exploreProgress struct {
	start  time.Time
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
	elapsed := time.Since(e.start)
	share = float64(elapsed) / float64(e.budget)
	if e.steps > 0 {
		share = max(share, float64(e.last.Commands)/float64(e.steps))
	}
	phrase, detail := activity(e.last)
	return share, append([]string{phrase, shared.Clock(max(0, e.budget-elapsed)) + " left"}, detail...)
}

// activity returns what an exploration is doing, in words that leave room for the time on a terminal of 40 columns; and
// more about it.
func activity(p explore.Progress) (phrase string, detail []string) {
	commands := text.Count(p.Commands, "command")
	switch p.Activity {
	case explore.Shrinking:
		return "shrinking " + p.Finding, []string{text.GroupDigits(p.Done) + " of " + text.Count(p.Total, "step")}
	case explore.Confirming:
		return "confirming " + p.Finding, []string{fmt.Sprintf("play %d of %d", p.Done+1, p.Total)}
	case explore.Loading:
		return "concurrent clients", []string{commands}
	case explore.CleaningUp:
		return "cleaning up", []string{commands}
	}
	return "exploring", []string{commands, text.Count(p.Outcomes, "outcome")}
}
