package stress

import (
	"context"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/history"
)

// Campaign is an exploration, and then a load on the same server: what `fwpcheck explore`
// does. It is used once.
type Campaign struct {
	// Explorer says where, and for how long: its Steps, its Time and its Findings are
	// those of both parts together. Its Progress goes on counting after the load, and is
	// called with no Coverage then.
	Explorer explore.Explorer
	Workers  int // of the load; there is none if zero

	// Explored is called with the result of the first part before the second begins; may be nil.
	Explored func(*explore.Result)
	// Recorded is that of the load.
	Recorded func(*history.History, []history.Finding)
}

// Run blocks until both are over. There is no second Result if there was no load: none
// was wanted, the server is dead, enough was found, or ctx is done.
func (c *Campaign) Run(ctx context.Context) (*explore.Result, *Result) {
	first, second := c.divided()
	r := first.Run(ctx)
	if c.Explored != nil {
		c.Explored(r)
	}
	second.Explorer.Findings = max(1, c.Explorer.Findings) - len(r.Findings)
	if c.Workers == 0 || ctx.Err() != nil || r.Dead || second.Explorer.Findings < 1 {
		return r, nil
	}
	for _, f := range r.Findings {
		second.Known = append(second.Known, f.Clause)
	}
	if c.Explorer.Progress != nil {
		c.Explorer.Progress(r.Commands, nil)
	}
	done := second.Run(ctx)
	for i := range done.Findings {
		done.Findings[i].Number += len(r.Findings)
		done.Findings[i].Commands += r.Commands
	}
	if c.Explorer.Progress != nil {
		c.Explorer.Progress(r.Commands+done.Commands, nil)
	}
	return r, done
}

// divided gives the load half of what there is: a fault that comes with one job in
// thousands shows only there, where every third command pushes a job. An exploration that
// waits has more to see, reservations and retries, and keeps three quarters.
func (c *Campaign) divided() (explore.Explorer, *Load) {
	first := c.Explorer
	if c.Workers == 0 {
		return first, &Load{}
	}
	part := 2
	if first.Longest > 0 {
		part = 4
	}
	second := &Load{Explorer: first, Workers: c.Workers, Observers: 1, Recorded: c.Recorded}
	second.Explorer.Watch, second.Explorer.Found = nil, nil
	second.Explorer.Steps, second.Explorer.Time = first.Steps/part, first.Time/time.Duration(part)
	first.Steps -= second.Explorer.Steps
	first.Time -= second.Explorer.Time
	return first, second
}
