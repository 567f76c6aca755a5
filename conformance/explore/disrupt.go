package explore

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// The disruptions beside [scenarios.NeedRestart] and [scenarios.NeedKill]; scripts have no statements for them.
const (
	KillServer scenarios.Need = "kill-server" // the server alone is killed: what it started may end in order
	Pause      scenarios.Need = "pause"       // the server stands still
	Partition  scenarios.Need = "partition"   // no bytes pass between it and its clients
)

// Disrupter is a target that can be disrupted.
type Disrupter interface {
	// Disrupt begins a disruption, blocks until it has, and returns what ends it: a server that was stopped is started
	// then, which blocks until it is ready, and may be given up.
	Disrupt(ctx context.Context, action scenarios.Need) (end func(context.Context) error, err error)
}

// disruption is one that has begun and not ended. It lasts until something is awaited.
type disruption struct {
	action scenarios.Need
	stops  bool
	end    func() error // blocks until it has ended
	giveUp context.CancelFunc
}

// operate does what no client can, if the target offers it.
func (p *playing) operate(ctx context.Context, s *Step, do *scenarios.Operate) {
	is, stops := s.disrupts()
	if !is {
		client := p.expand(do.Worker, noConn)
		if t, can := p.target.(play.Signaller); can && t.Signal(ctx, client, do.State) == nil {
			p.law.Operated(do.Action, client, do.State)
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
	if unseen(err) { // nothing may be concluded from what follows: see resume
		p.dead, p.unseen = true, append(p.unseen, err)
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
	p.law.Operated(do.Action, "", "")
	if !s.Ahead {
		p.settle(ctx)
		return
	}
	started := make(chan error, 1)
	go func() { started <- end(ending) }()
	p.disrupted.end = func() error { return <-started }
}

// begin begins a disruption.
func (p *playing) begin(ctx context.Context, action scenarios.Need) (end func(context.Context) error, err error) {
	if t, can := p.target.(Disrupter); can {
		return t.Disrupt(ctx, action)
	}
	if t, can := p.target.(play.Restarter); can && action == scenarios.NeedRestart {
		return func(context.Context) error { return nil }, t.Restart(ctx)
	}
	return nil, errNotOffered
}

// unseen reports whether an error says that something was not seen to take effect.
func unseen(err error) bool {
	e, is := errors.AsType[interface {
		error
		Unseen() bool
	}](err)
	return is && e.Unseen()
}

// hangUp takes in what the connections have brought before the server ended, and ends them. What a server answers that
// ends in order is not judged.
func (p *playing) hangUp(ctx context.Context, action scenarios.Need) {
	before := len(p.found)
	for _, n := range slices.Sorted(maps.Keys(p.conns)) {
		for c := p.conns[n]; c != nil && p.conns[n] == c; {
			a, came := c.within(ctx, firstReplyWait)
			if !came || !a.Whole() {
				p.drop(c, scenarios.Closed)
				break
			}
			p.arrived(ctx, c, a)
		}
	}
	if action == scenarios.NeedRestart {
		p.found = p.found[:before]
	}
}

// settle ends the disruption that lasts, if there is one: whatever is awaited from now on may come.
func (p *playing) settle(ctx context.Context) {
	d := p.disrupted
	if d == nil {
		return
	}
	p.disrupted = nil
	err := d.end()
	d.giveUp()
	if !d.stops {
		p.law.Operated(d.action, "", "")
		return
	}
	p.ends = false
	if err != nil { // fwpcheck stopped it: that is no crash
		p.dead, p.notStarted = true, cmp.Or(p.notStarted, err)
	} else if !p.serves(ctx) {
		p.crashed(ctx, &conn{number: noConn, clause: p.law.Clause(RuleRestart)}, false)
	}
	p.outage = nil // that of the stop
}

// unwritable reports whether scripts have no statement for a step: for a disruption that lasts while clients go on.
func unwritable(s Step) bool {
	is, stops := s.disrupts()
	return is && (!stops || s.Ahead)
}

// stops writes the answers that came before the server was stopped, which ends all connections.
func (w *writer) stops() {
	for conn, step := range w.awaits {
		if _, came := w.answered(step, conn); !came {
			delete(w.awaits, conn)
		}
	}
	w.answers()
	clear(w.opened)
}
