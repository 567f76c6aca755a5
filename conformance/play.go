package conformance

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// play plays a check once. It is the only part of a session that runs beside its
// loop.
func (s *session) play(ctx context.Context, t *task) {
	defer func() { // a fault of ours must not cost what others have found out
		if p := recover(); p != nil {
			t.err = fmt.Errorf("check %s: %v\n%s", t.script.Name, p, debug.Stack())
		}
	}()
	if t.server = t.host; t.server == nil {
		server, release, err := t.own()
		if err != nil {
			t.err = fmt.Errorf("check %s: %w", t.script.Name, err)
			return
		}
		defer release()
		t.server = newHost(server)
	}
	if t.property != nil {
		s.try(ctx, t)
		return
	}
	ctx, cancel := s.quickly(ctx)
	defer cancel()
	patience, hasty := s.patience()
	player := &scenarios.Player{
		Target: t.server.Target, Password: t.server.Password, Timeout: s.Timeout, Patience: patience, Hasty: hasty,
		Meter: s.meter, Crowd: &t.server.crowd,
	}
	if s.Watch != nil {
		player.Watch = func(l scenarios.Line) { s.Watch(t.script.Name, l) }
	}
	t.run = player.Play(ctx, t.script, t.names)
}

// judge says what a play means; again means that another try may decide what lag
// kept this one from deciding.
func (s *session) judge(t *task) (check reports.Check, again bool) {
	defer func() {
		if p := recover(); p != nil {
			s.fault(fmt.Errorf("check %s: %v\n%s", t.script.Name, p, debug.Stack()))
			check, again = s.unanswered(t.script, reports.Inconclusive, "the suite itself failed", ""), false
		}
	}()
	if t.property != nil {
		return s.seen(t)
	}
	return s.verdicts(t.run, t.server)
}
