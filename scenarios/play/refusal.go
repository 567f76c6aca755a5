package play

import (
	"context"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// decide records by the first message of a connection whether it was let in.
func (pl *play) decide(admission *Admission, a session.Received) {
	if a.Bytes() {
		pl.Peers.seen.note(greets)
	}
	admission.Decide(a.Bytes() && (a.Broken != nil || !pl.grammar().Refused(a.Message)), a.String())
}

// recheckServing checks again whether a server serves that seemed not to, after the play
// has closed its connections: with them open it may have been at its limit.
func (pl *play) recheckServing(ctx context.Context, open int) {
	const patience = 2 * time.Second
	if pl.notServing == "" || open == 0 || ctx.Err() != nil {
		return
	}
	th := &thread{play: pl, scope: pl.scope.Child()}
	if _, _, err := th.awaitServing(ctx, min(pl.Timeout, patience), nil); err != nil {
		return
	}
	const again = "the server serves again, now that the connections of the script are closed"
	pl.rec.add(time.Now(), "", "--", again, scenarios.Pos{})
	pl.count.mu.Lock()
	defer pl.count.mu.Unlock()
	pl.count.keep(Refusal{Got: pl.notServing, Own: open, All: pl.Peers.Open() + open}) // as it was
	pl.notServing = ""
}

// served counts the connections of the play that the server has let in and not
// ended. It is for after the script.
func (pl *play) served() int {
	n := 0
	for _, c := range pl.open() {
		a, came := c.Waiting()
		if c.Status().Phase == session.Serving && c.Ended() == scenarios.Open && (!came || a.Ending == scenarios.Open) {
			n++
		}
	}
	return n
}
