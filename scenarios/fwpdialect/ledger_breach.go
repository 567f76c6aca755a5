package fwpdialect

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/jsonnum"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/session/fwpsession"
	"github.com/fwpsuite/fwp/scenarios"
)

// Breach returns a job of a queue that the FETCH does not name, and an order to a worker
// that no operator has signalled. (FETCH Command; BEAT Command)
func (g *ledger) Breach(command []byte, m session.Message) scenarios.Breach {
	cmd, r := fwp.SplitCommand(bytes.TrimRight(command, "\r\n")), fwpsession.Reply(m)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case cmd.Verb == fwp.FETCH && r.Kind == fwp.BulkString:
		return g.misplaced(string(cmd.Args), r.Text)
	case cmd.Verb == fwp.BEAT && isState(r):
		return g.unordered(cmd.Args)
	}
	return scenarios.Breach{}
}

// misplaced returns a job of another queue. The job's own field counts, and the queue to
// which it was pushed if that is known: the one may be left out, and the other may have
// been pushed twice.
func (g *ledger) misplaced(asked string, text []byte) scenarios.Breach {
	jid, _ := jobOf(text)
	fields := jsonnum.Object(text)
	shown, has := fields["queue"].(string)
	e, pushed := g.jobs[jid]
	pushed = pushed && !e.foreign
	kind := scenarios.WrongQueue
	if asked == "" {
		kind, asked = scenarios.WrongDefaultQueue, "default"
	}
	names := func(queue string) bool { return strings.Contains(" "+asked+" ", " "+queue+" ") }
	if !has && !pushed || has && names(shown) || pushed && names(e.queue) {
		return scenarios.Breach{}
	}
	if !has {
		shown = e.queue
	}
	return scenarios.Breach{
		Kind: kind, Expected: "no job of another queue than " + strings.ReplaceAll(asked, " ", ", "),
		Got: fmt.Sprintf("the job %s of the queue %s", jid, shown),
	}
}

// unordered returns an order to a worker that nothing should have brought about.
func (g *ledger) unordered(args []byte) scenarios.Breach {
	if wid, reported := reportOf(args); reported || g.told[wid] {
		return scenarios.Breach{}
	}
	return scenarios.Breach{
		Kind: scenarios.StateUnordered, Expected: "no order to enter a state, since no operator has signalled this worker",
	}
}

// reportOf returns the worker id of a BEAT, and whether the worker reports that it has
// left the state in which it began.
func reportOf(args []byte) (wid string, reported bool) {
	fields := jsonnum.Object(args)
	wid, _ = fields["wid"].(string)
	state, _ := fields["current_state"].(string)
	return wid, state != ""
}

// MayEnd implements [scenarios.Ledger]: the server must not close the connection to a consumer before it has answered a
// BEAT of it with quiet or terminate. (End State)
func (g *ledger) MayEnd(s session.State) bool {
	of, is := s.(*fwpsession.State)
	g.mu.Lock()
	defer g.mu.Unlock()
	return is && g.over[of.Worker()]
}

// Signalled implements [scenarios.Ledger].
func (g *ledger) Signalled(wid string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.told[wid] = true
}
