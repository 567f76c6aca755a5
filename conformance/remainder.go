package conformance

import (
	"context"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// Remainder is a script that was played and whose queues can be asked once more, in the conversation that the law
// judges.
type Remainder struct {
	play  *play.Remainder
	watch *law.Watch
}

// Sweep asks the queues of scripts once more, which were played on one server. It blocks until nothing comes.
func Sweep(ctx context.Context, all []*Remainder) {
	plays := make([]*play.Remainder, len(all))
	for i, r := range all {
		plays[i] = r.play
	}
	play.Sweep(ctx, plays)
}

// Follow adds what a [Sweep] has brought, and returns what the law has found there.
func (e *Evidence) Follow() []law.Occurrence {
	r, before := e.Remainder, len(e.Law)
	e.Law, e.Tally, e.Conversation = r.watch.Occurrences(), r.watch.Tally(), r.play.Conversation()
	return e.Law[before:]
}
