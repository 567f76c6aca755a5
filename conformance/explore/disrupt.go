package explore

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// Disrupter is a target that can be disrupted.
type Disrupter interface {
	// Disrupt begins a disruption, blocks until it has, and returns what ends it: a server that was stopped is started
	// then, which blocks until it is ready, and may be given up.
	Disrupt(ctx context.Context, action target.Action) (end func(context.Context) error, err error)
}

// disruption is one that has begun and not ended. It lasts until something is awaited.
type disruption struct {
	action target.Action
	stops  bool
	end    func() error // blocks until it has ended
	giveUp context.CancelFunc
}

// operate does what no client can, if the target offers it.
func (p *playthrough) operate(ctx context.Context, s *Step, do *scenarios.Operate) {
	ok, stops := s.disrupts()
	if !ok {
		client := p.expand(do.Worker, noConn)
		if t, ok := p.target.(play.Signaller); ok && t.Signal(ctx, client, string(do.Action)) == nil {
			p.law.Operated(do.Action, client)
		}
		return
	}
	if d := p.disrupted; d != nil && d.stops && stops { // it is stopped while it starts
		d.giveUp()
		_ = d.end()
		p.disrupted = nil
	}
	p.settle(ctx)
	ctx = context.WithoutCancel(ctx) // half a restart would leave no server
	end, err := p.begin(ctx, do.Action)
	if isUnseen(err) { // nothing may be concluded from what follows: see resume
		p.isDead, p.unseenErrs = true, append(p.unseenErrs, err)
		if end != nil {
			p.notStarted = cmp.Or(p.notStarted, end(ctx))
		}
	}
	if err != nil {
		return
	}
	if p.cover != nil {
		p.cover.Transitions["server: "+string(do.Action)]++
	}
	ending, giveUp := context.WithCancel(ctx)
	p.disrupted = &disruption{do.Action, stops, func() error { return end(ending) }, giveUp}
	if !stops {
		return
	}
	p.hangUp(ctx, do.Action)
	p.law.Operated(do.Action, "")
	if !s.Ahead {
		p.settle(ctx)
		return
	}
	done := make(chan error, 1)
	go func() { done <- end(ending) }()
	p.disrupted.end = func() error { return <-done }
}

// begin begins a disruption.
func (p *playthrough) begin(ctx context.Context, action target.Action) (end func(context.Context) error, err error) {
	if t, ok := p.target.(Disrupter); ok {
		return t.Disrupt(ctx, action)
	}
	if t, ok := p.target.(play.Restarter); ok && action == target.Restart {
		return func(context.Context) error { return nil }, t.Restart(ctx)
	}
	return nil, errNotOffered
}

// isUnseen reports whether an error says that something was not seen to take effect.
func isUnseen(err error) bool {
	e, ok := errors.AsType[interface {
		error
		Unseen() bool
	}](err)
	return ok && e.Unseen()
}

// hangUp takes in what the connections have brought before the server ended, and ends them. What a server answers that
// ends in order is not judged.
func (p *playthrough) hangUp(ctx context.Context, action target.Action) {
	before := len(p.sightings)
	for _, n := range slices.Sorted(maps.Keys(p.conns)) {
		for c := p.conns[n]; c != nil && p.conns[n] == c; {
			a, ok := c.takeWithin(ctx, firstReplyWait)
			if !ok || !a.IsComplete() {
				p.drop(c, scenarios.Closed)
				break
			}
			p.takeArrival(ctx, c, a)
		}
	}
	if action == target.Restart {
		p.sightings = p.sightings[:before]
	}
}

// settle ends the disruption that lasts, if there is one: whatever is awaited from now on may come.
func (p *playthrough) settle(ctx context.Context) {
	d := p.disrupted
	if d == nil {
		return
	}
	p.disrupted = nil
	err := d.end()
	d.giveUp()
	if !d.stops {
		p.law.Operated(d.action, "")
		return
	}
	p.mayEnd = false
	if err != nil { // fwpcheck stopped it: that is no crash
		p.isDead, p.notStarted = true, cmp.Or(p.notStarted, err)
	} else if !p.serves(ctx) {
		p.noteCrash(ctx, &conn{number: noConn, clause: p.law.Clause(RuleRestart)}, false)
	}
	p.outage = nil // that of the stop
}

// isUnwritable reports whether scripts have no statement for a step: for a disruption that lasts while clients go on.
func isUnwritable(s Step) bool {
	ok, stops := s.disrupts()
	return ok && (!stops || s.Ahead)
}

// stops writes the answers that came before the server was stopped, which ends all connections.
func (w *writer) stops() {
	for conn, step := range w.awaits {
		if _, ok := w.firstReply(step, conn); !ok {
			delete(w.awaits, conn)
		}
	}
	w.answers()
	clear(w.opened)
}
