package explore

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/fwpsuite/fwp/internal/standstill"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// Listener is a target that knows the process which listens there.
type Listener interface {
	play.Target
	ListenerPID() int // 0: it is not known
}

// lookAtOld looks at the connections of the play, of which one that is served is enough, or one that is silent. Where
// workers have a port of their own nothing can be told: one port may serve and another not.
func (p *playthrough) lookAtOld(ctx context.Context) (look standstill.Look) {
	if _, opens := p.subject.Dialect.(scenarios.Opener); opens {
		return standstill.Unseen
	}
	for _, n := range slices.Sorted(maps.Keys(p.conns)) {
		if c := p.conns[n]; look < standstill.Silent && !c.isHalfClosed && !c.isUnbounded {
			look = max(look, play.LookAtOld(ctx, c.Conn, p.line(p.subject.ProbeCommand), p.timeout))
		}
	}
	return look
}

// lookAtNew adds to what was seen what the process and new connections show. Those of the play must have ended.
func (p *playthrough) lookAtNew(ctx context.Context) {
	if p.hasEnded() {
		p.looks.Process = standstill.Gone
		return
	}
	if t, ok := p.target.(Listener); ok && t.ListenerPID() > 0 {
		p.looks.PID, p.looks.Process = t.ListenerPID(), standstill.Live
	}
	peers := new(play.PeerStats)
	peers.NoteService()
	player := &play.Player{Target: p.target, Password: p.terms.Password, Timeout: p.timeout, Peers: peers}
	p.looks = player.Look(ctx, p.subject.Dialect, p.looks)
}

// unservedWords says that the server serves no new connection, and which way that is, if it is known.
func (p *playthrough) unservedWords() string {
	words := "no new connection is served"
	if p.unserved == scenarios.Consumer {
		words += " at the port for workers"
	}
	return cmp.Or(p.looks.String(), words)
}

// confirmUnserved asks a target that did not serve when the exploration was over: it may be slow. That it does not
// answer then either is a finding.
func (x *exploration) confirmUnserved(ctx context.Context) {
	if !x.play.isRefusing || ctx.Err() != nil {
		return
	}
	if x.play.hasEnded() || !x.play.isSlow(ctx) && ctx.Err() == nil {
		x.play.lookAtNew(ctx)
		x.result.UnservedWords = x.play.unservedWords()
	}
}

// restart has a server that serves no more restarted, and reports whether that was done and whether it serves then. One
// that is known to live is killed: it may hang, and an order to stop would be waited for.
func (c *config) restart(ctx context.Context) bool {
	t, ok := c.target.(play.Restarter)
	if !ok {
		return false
	}
	start := t.Restart
	_, isMortal := c.target.(Mortal)
	if k, ok := c.target.(play.Killer); ok && isMortal && !c.hasEnded() {
		start = k.Kill
	}
	return start(context.WithoutCancel(ctx)) == nil && newPlay(c, newPrefix()).serves(ctx)
}
