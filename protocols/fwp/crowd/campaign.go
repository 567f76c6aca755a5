package crowd

import (
	"context"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/history"
)

// Campaign is an exploration, and then a load on the same server, beside explorations of other servers: what `fwpcheck
// explore` does. It is used once.
type Campaign struct {
	// Explorer has the target and the limits: its Steps, its Time and its Findings are those of both parts together;
	// each shrinks what it has found behind its own. Its Progress counts the commands of both.
	Explorer explore.Explorer
	Workers  int // of the load; there is none if zero

	// Start starts the other servers, which are explored at the same time, within Explorer.Time; nil: there are none.
	// Protects says that they can have a password.
	Start        Start
	HasPasswords bool

	// OnExploration is called with the result of the first part before the second begins, and when both are over with that
	// of each other server, without what was found before; may be nil.
	OnExploration func(*explore.Result)
	// OnHistory is that of the load.
	OnHistory func(*history.History, []history.Finding)
}

// Run blocks until all are over. The second Result is nil if there was no load: Workers
// is zero, the server is dead, there are enough findings or no time is left, or ctx is done.
func (c *Campaign) Run(ctx context.Context) (*explore.Result, *Result) {
	others := c.exploreOthers(ctx)
	first, second := c.runBoth(ctx)
	findings := slices.Clone(first.Findings)
	if second != nil {
		findings = append(findings, second.Findings...)
	}
	for _, r := range others() {
		r.Findings = slices.DeleteFunc(r.Findings, func(f explore.Finding) bool {
			isSame := func(k explore.Finding) bool { return k.Rule == f.Rule && k.Clause == f.Clause }
			return slices.ContainsFunc(findings, isSame)
		})
		for i := range r.Findings {
			r.Findings[i].Number = len(findings) + 1
			findings = append(findings, r.Findings[i])
		}
		if c.OnExploration != nil {
			c.OnExploration(r)
		}
	}
	return first, second
}

// runBoth explores, and then puts the load on the server.
func (c *Campaign) runBoth(ctx context.Context) (*explore.Result, *Result) {
	begun := time.Now()
	first, second := c.divide()
	r := first.Run(ctx)
	if c.OnExploration != nil {
		c.OnExploration(r)
	}
	second.Explorer.Findings = max(1, c.Explorer.Findings) - len(r.Findings)
	if c.Explorer.Time > 0 { // what the exploration has not used is for the load
		second.Explorer.Time = c.Explorer.Time - time.Since(begun) + r.Shrunk
	}
	isTooLate := c.Explorer.Time > 0 && second.Explorer.Time < minLoadTime
	if c.Workers == 0 || ctx.Err() != nil || r.IsDead || second.Explorer.Findings < 1 || isTooLate {
		return r, nil
	}
	for _, f := range r.Findings {
		second.ReportedClauses = append(second.ReportedClauses, f.Clause)
		if f.Hits > 0 {
			second.ReproducedClauses = append(second.ReproducedClauses, f.Clause)
		}
	}
	second.Explorer.Shrinking = max(c.Explorer.Shrinking-r.Shrunk/explore.Shrinkings, c.Explorer.Shrinking/shrinkDivisor)
	second.Explorer.Progress = c.loadProgress(r)
	result := second.Run(ctx)
	for i := range result.Findings {
		result.Findings[i].Number += len(r.Findings)
		result.Findings[i].Commands += r.Commands
	}
	return r, result
}

// shrinkDivisor is the part of the time for shrinking that is left for the load, whatever the exploration has used of
// it.
const shrinkDivisor = 4

// minLoadTime is the time for which a load is worth its connections.
const minLoadTime = time.Second

// loadProgress returns what reports the progress of the load, which counts on from the exploration.
func (c *Campaign) loadProgress(r *explore.Result) func(explore.Progress) {
	if c.Explorer.Progress == nil {
		return nil
	}
	return func(p explore.Progress) {
		p.Commands += r.Commands
		p.Outcomes = len(r.Coverage.Outcomes)
		c.Explorer.Progress(p)
	}
}

// divide returns both parts. The load gets a quarter of the time and of the findings, and half of the steps: only
// there every third command pushes a job, which a bug of one job in thousands needs. An exploration that waits for
// reservations and retries keeps three quarters of those, too.
func (c *Campaign) divide() (explore.Explorer, *Crowd) {
	first := c.Explorer
	if c.Workers == 0 {
		return first, &Crowd{}
	}
	const part = 4
	steps := 2
	if first.LongestWait > 0 {
		steps = part
	}
	second := &Crowd{Explorer: first, Workers: c.Workers, Observers: 1, OnHistory: c.OnHistory}
	second.Explorer.WatchStep, second.Explorer.Found = nil, nil
	second.Explorer.Steps = first.Steps / steps
	first.Steps -= second.Explorer.Steps
	first.Findings -= first.Findings / 4
	first.Time -= first.Time / part
	return first, second
}
