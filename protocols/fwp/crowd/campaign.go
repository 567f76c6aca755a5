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
	Start    Start
	Protects bool

	// Explored is called with the result of the first part before the second begins, and when both are over with that of
	// each other server, without what was found before; may be nil.
	Explored func(*explore.Result)
	// Recorded is that of the load.
	Recorded func(*history.History, []history.Finding)
}

// Run blocks until all are over. The second Result is nil if there was no load: Workers
// is zero, the server is dead, there are enough findings or no time is left, or ctx is done.
func (c *Campaign) Run(ctx context.Context) (*explore.Result, *Result) {
	others := c.exploreOthers(ctx)
	first, second := c.both(ctx)
	known := slices.Clone(first.Findings)
	if second != nil {
		known = append(known, second.Findings...)
	}
	for _, r := range others() {
		r.Findings = slices.DeleteFunc(r.Findings, func(f explore.Finding) bool {
			same := func(k explore.Finding) bool { return k.Rule == f.Rule && k.Clause == f.Clause }
			return slices.ContainsFunc(known, same)
		})
		for i := range r.Findings {
			r.Findings[i].Number = len(known) + 1
			known = append(known, r.Findings[i])
		}
		if c.Explored != nil {
			c.Explored(r)
		}
	}
	return first, second
}

// both explores, and then puts the load on the server.
func (c *Campaign) both(ctx context.Context) (*explore.Result, *Result) {
	begun := time.Now()
	first, second := c.divided()
	r := first.Run(ctx)
	if c.Explored != nil {
		c.Explored(r)
	}
	second.Explorer.Findings = max(1, c.Explorer.Findings) - len(r.Findings)
	if c.Explorer.Time > 0 { // what the exploration has not used is for the load
		second.Explorer.Time = c.Explorer.Time - time.Since(begun) + r.Shrunk
	}
	late := c.Explorer.Time > 0 && second.Explorer.Time < shortest
	if c.Workers == 0 || ctx.Err() != nil || r.Dead || second.Explorer.Findings < 1 || late {
		return r, nil
	}
	for _, f := range r.Findings {
		second.Known = append(second.Known, f.Clause)
		if f.Shown > 0 {
			second.Shown = append(second.Shown, f.Clause)
		}
	}
	second.Explorer.Shrinking = max(c.Explorer.Shrinking-r.Shrunk/explore.Shrinkings, c.Explorer.Shrinking/least)
	second.Explorer.Progress = c.progressAfter(r)
	done := second.Run(ctx)
	for i := range done.Findings {
		done.Findings[i].Number += len(r.Findings)
		done.Findings[i].Commands += r.Commands
	}
	return r, done
}

// least is the part of the time for shrinking that is left for the load, whatever the exploration has used of it.
const least = 4

// shortest is the time for which a load is worth its connections.
const shortest = time.Second

// progressAfter returns what reports the progress of the load, which counts on from the exploration.
func (c *Campaign) progressAfter(r *explore.Result) func(explore.Progress) {
	if c.Explorer.Progress == nil {
		return nil
	}
	return func(p explore.Progress) {
		p.Commands += r.Commands
		p.Outcomes = len(r.Coverage.Outcomes)
		c.Explorer.Progress(p)
	}
}

// divided returns both parts. The load gets a quarter of the time and of the findings, and half of the steps: only
// there every third command pushes a job, which a bug of one job in thousands needs. An exploration that waits for
// reservations and retries keeps three quarters of those, too.
func (c *Campaign) divided() (explore.Explorer, *Load) {
	first := c.Explorer
	if c.Workers == 0 {
		return first, &Load{}
	}
	const part = 4
	steps := 2
	if first.Longest > 0 {
		steps = part
	}
	second := &Load{Explorer: first, Workers: c.Workers, Observers: 1, Recorded: c.Recorded}
	second.Explorer.Watch, second.Explorer.Found = nil, nil
	second.Explorer.Steps = first.Steps / steps
	first.Steps -= second.Explorer.Steps
	first.Findings -= first.Findings / 4
	first.Time -= first.Time / part
	return first, second
}
