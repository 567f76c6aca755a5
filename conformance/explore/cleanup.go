package explore

import (
	"context"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

// The limit of a clean-up after an interruption or a try, and how much each job adds.
const (
	brief   = time.Second
	eachJob = 4 * time.Millisecond
)

// Cleaner is the first number of connections that clean up, and no others have.
const Cleaner = 1 << 20

// cleanup removes what an exploration left on the server, and judges what comes.
func (x *exploration) cleanup(ctx context.Context) {
	if x.play.dead {
		return
	}
	x.progress(CleaningUp)
	limit := max(20*x.config.timeout, time.Minute)
	switch {
	case ctx.Err() != nil: // it was interrupted
		limit = brief
	case !x.budget.End.IsZero():
		limit = time.Until(x.budget.End)
	}
	how := Fully
	if x.Fresh == nil {
		how = Patiently
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	for _, n := range x.gen.strangers() {
		x.play.drop(x.play.conns[n], scenarios.Closed)
	}
	for step := range x.play.law.Cleanup(how) {
		if x.steps(ctx, []Step{step}); x.play.dead || ctx.Err() != nil {
			break
		}
	}
	x.result.Left = append(x.result.Left, x.play.law.Leftover()...)
	slices.Sort(x.result.Left)
}

// cleanup removes what a play has left. What comes is no finding.
func (p *play) cleanup(ctx context.Context, how Cleaning) {
	found, came := p.found, p.seen
	limit := brief + eachJob*time.Duration(len(p.law.Leftover()))
	if how != Quickly {
		limit += time.Minute
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	p.round = 0
	for step := range p.law.Cleanup(how) {
		if p.do(ctx, &step); p.dead || ctx.Err() != nil {
			break
		}
	}
	p.found, p.seen = found, came
}
