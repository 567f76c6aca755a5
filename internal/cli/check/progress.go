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
	begun    time.Time
	parallel int // checks at a time; no limit if zero

	mu          sync.Mutex
	pending     map[string]pending // by check; nil: nothing is known of their waits
	done, total int
	last        string // the check that ended last
}

// pending is the plays of a check that are still to end.
type pending struct {
	plays int
	wait  time.Duration // of one of them
}

// newProgress returns the progress of a run that begins now and plays every check so often.
func newProgress(checks []conformance.Check, repeat, parallel int) *progress {
	p := &progress{
		begun: time.Now(), parallel: parallel, pending: map[string]pending{}, total: len(checks) * repeat,
	}
	for _, check := range checks {
		about := check.Describe()
		p.pending[about.ID] = pending{repeat, about.Wait}
	}
	return p
}

// over records that one more play has ended.
func (p *progress) over(done, total int, check string) {
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
	elapsed := time.Since(p.begun)
	parts = []string{fmt.Sprintf("%d of %d checks", p.done, p.total)}
	soFar := shared.Clock(elapsed) + " so far"
	if p.done == p.total {
		return 1, append(parts, soFar, "finishing: retrying inconclusive checks")
	}
	left := p.left(elapsed).Round(time.Second)
	if left > 0 {
		parts = append(parts, "about "+shared.Clock(left)+" left")
	}
	parts = append(parts, soFar)
	if p.last != "" {
		parts = append(parts, p.last)
	}
	return float64(p.done) / float64(p.total), parts
}

// left returns how long the rest of the run takes if the server answers at once: as long as the longest wait (all begin
// at the start, unless the number of checks at a time is limited), and as long as its share of what is done took, as
// soon as that is enough to go by.
func (p *progress) left(elapsed time.Duration) time.Duration {
	var longest, all time.Duration
	for _, rest := range p.pending {
		if rest.plays > 0 {
			longest = max(longest, rest.wait)
		}
		all += rest.wait * time.Duration(rest.plays)
	}
	left := longest - elapsed
	if p.parallel > 0 {
		left = max(left, all/time.Duration(p.parallel))
	}
	if 10*p.done >= p.total && p.done > 0 {
		left = max(left, elapsed/time.Duration(p.done)*time.Duration(p.total-p.done))
	}
	return left
}

// printer returns a function that writes the lines of conversations to standard error, with the check that they belong
// to if that is named. Several goroutines may call it.
func (p process) printer(named bool) func(check string, line reports.Line) {
	return func(check string, line reports.Line) {
		if named {
			_, _ = fmt.Fprintf(p.Err, "%s  %s\n", check, p.Show(line.String()))
			return
		}
		_, _ = fmt.Fprintln(p.Err, p.Show(line.String()))
	}
}

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
	return share, append([]string{doing, shared.Clock(max(0, e.budget-elapsed)) + " left"}, detail...)
}

// activity returns what an exploration is doing, in words that leave room for the time on a terminal of 40 columns; and
// more about it.
func activity(p explore.Progress) (doing string, detail []string) {
	commands := text.Count(p.Commands, "command")
	switch p.Activity {
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
