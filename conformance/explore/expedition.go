package explore

import (
	"context"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
)

// Expedition is an exploration, and then a crowd on the same server: what `fwpcheck
// explore` does. It is used once.
type Expedition struct {
	// Explorer says where, and for how long: its Steps, its Time and its Findings are
	// those of both parts together. Its Progress goes on counting in the second part, and
	// is told no Coverage there.
	Explorer
	Workers int // of the crowd; there is no crowd if zero

	// Explored is told the result of the first part before the second begins; may be nil.
	Explored func(*Result)
	// Recorded is that of the crowd.
	Recorded func(*history.History, []history.Finding)
}

// Run blocks until both are over. There is no History if there was no crowd: none was
// wanted, the server is dead, enough was found, or ctx is done.
func (e *Expedition) Run(ctx context.Context) (*Result, *History) {
	first, second := e.divided()
	r := first.Run(ctx)
	if e.Explored != nil {
		e.Explored(r)
	}
	second.Findings = e.enough() - len(r.Findings)
	if e.Workers == 0 || ctx.Err() != nil || r.Dead || second.Findings < 1 {
		return r, nil
	}
	for _, f := range r.Findings {
		second.Known = append(second.Known, f.Clause)
	}
	if e.Steps > 0 { // cleaning up has taken some of them
		second.Steps = max(e.Steps-r.Commands, 1)
	}
	if e.Progress != nil {
		second.Progress = func(commands int, _ *Coverage) { e.Progress(r.Commands+commands, nil) }
	}
	h := second.Run(ctx)
	for i := range h.Findings {
		h.Findings[i].Number += len(r.Findings)
		h.Findings[i].Commands += r.Commands
	}
	return r, h
}

// divided gives the crowd half of what there is: a fault that comes with one job in
// thousands shows only there, where every third command pushes a job. An exploration that
// waits has more to see, reservations and retries, and keeps three quarters.
func (e *Expedition) divided() (Explorer, *Crowd) {
	first := e.Explorer
	if e.Workers == 0 {
		return first, &Crowd{}
	}
	part := 2
	if e.Longest > 0 {
		part = 4
	}
	second := &Crowd{Explorer: first, Recorded: e.Recorded, Reckless: true}
	second.Connections, second.Watch, second.Found = e.Workers, nil, nil
	second.Steps, second.Time = first.Steps/part, first.Time/time.Duration(part)
	first.Steps -= second.Steps
	first.Time -= second.Time
	return first, second
}
