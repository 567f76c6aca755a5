package explore

import (
	"context"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
)

// Activity is what a run is doing.
type Activity uint8

// The activities of a run.
const (
	Exploring  Activity = iota // plays commands that it makes up
	Measuring                  // reads the memory of the server's process
	Shrinking                  // looks for a shorter conversation that shows a finding
	Confirming                 // plays the shrunk conversation again
	Loading                    // puts a load of many clients on the server
	CleaningUp                 // removes what it left on the server
)

// Progress is how far a run is.
type Progress struct {
	Activity Activity
	Commands int    // that were sent, without those that shrank findings
	Outcomes int    // different ones that were seen
	Finding  string // that is shrunk or confirmed: its clause, or its rule if it has none
	Done, Of int    // shrinking: steps that remain, of those that there were; confirming: plays
}

// Name returns what a finding is called: its clause, or its rule if it has none.
func (f *Finding) Name() string {
	if f.Clause == "" {
		return f.Rule
	}
	return f.Clause
}

// progress reports what an exploration is doing.
func (x *exploration) progress(a Activity) { x.report(Progress{Activity: a}) }

// report fills in what is counted over the whole exploration, and reports progress.
func (x *exploration) report(p Progress) {
	if x.Progress == nil {
		return
	}
	p.Commands, p.Outcomes = x.play.commands, len(x.result.Coverage.Outcomes)
	x.Progress(p)
}

// Coverage counts what an exploration has seen.
type Coverage struct {
	States      map[string]int // of connections, by role: how often a command was answered there
	Transitions map[string]int // "not identified > identified"
	Outcomes    map[string]int // "fetch identified worker: null", verb x state x outcome
	Situations  map[string]int // of the subject, zero for those that were never reached
}

func newCoverage(s *Subject) *Coverage {
	c := &Coverage{
		States: map[string]int{}, Transitions: map[string]int{}, Outcomes: map[string]int{}, Situations: map[string]int{},
	}
	for _, name := range s.Situations {
		c.Situations[name] = 0
	}
	return c
}

// note counts one answered command.
func (c *Coverage) note(a law.Answer) {
	if c == nil {
		return
	}
	c.States[a.State]++
	c.Outcomes[a.Outcome]++
	if a.Situation != "" {
		c.Situations[a.Situation]++
	}
	if a.Moved != "" {
		c.Transitions[a.Moved]++
	}
}

// Budget divides the time of a run: commands are made up until Explore, findings are shrunk and confirmed until
// Shrink, and what was left on the server is removed until End. A zero time is no limit.
type Budget struct{ Explore, Shrink, End time.Time }

// The shares of a budget that are kept for its end.
const (
	cleanupShare = 8 // one such part for the clean-up
	shrinkShare  = 4 // one such part for shrinking what is found last
	cleanupMost  = 10 * time.Second
)

// Divide returns the budget of a run that begins now and lasts no longer than total: an eighth of it, at most ten
// seconds, is kept for the clean-up, and a quarter, at most what one finding may take, for shrinking. There are no
// limits if total is zero.
func Divide(total, shrinking time.Duration) Budget {
	if total == 0 {
		return Budget{}
	}
	end := time.Now().Add(total)
	shrink := end.Add(-min(total/cleanupShare, cleanupMost))
	return Budget{Explore: shrink.Add(-min(total/shrinkShare, shrinking)), Shrink: shrink, End: end}
}

// Share returns how long one of n findings may be shrunk: most, or its part of the time that is left. Zero is no limit.
func (b Budget) Share(n int, most time.Duration) time.Duration {
	if b.Shrink.IsZero() {
		return most
	}
	part := max(time.Until(b.Shrink)/time.Duration(n), 1)
	if most == 0 {
		return part
	}
	return min(part, most)
}

// Until returns a copy of ctx that ends at t, if that is not zero.
func Until(ctx context.Context, t time.Time) (context.Context, context.CancelFunc) {
	if t.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, t)
}

// within is ctx with a limit, unless that is zero.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return Until(ctx, time.Time{})
	}
	return Until(ctx, time.Now().Add(limit))
}
