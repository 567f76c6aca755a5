package monitor

import "github.com/fwpsuite/fwp/fwp"

// stateRules are about quiet and terminate.
func stateRules() []Rule {
	return []Rule{
		{
			Breach: FetchAfterQuiet, Goal: "a consumer was told to be quiet",
			on: append(on(Line, fwp.FETCH), on(worker)...), check: func(l *look) judgement {
				if l.worker == nil || l.worker.terminate != nil {
					return aside
				}
				return afterTold(l, l.worker.quiet, "quiet")
			},
		},
		{
			Breach: FetchAfterTerminate, Goal: "a consumer was told to terminate",
			on: append(on(Line, fwp.FETCH), on(worker)...), check: func(l *look) judgement {
				if l.worker == nil {
					return aside
				}
				return afterTold(l, l.worker.terminate, "terminate")
			},
		},
	}
}

// afterTold judges a FETCH after a state reply. A FETCH on another connection may have been under way, so what is sent
// within the time to act is let pass. The goal is reached when that time is over.
func afterTold(l *look, told *Moment, state string) judgement {
	if told == nil || l.At <= told.At+l.world.cfg.Grace {
		return aside
	}
	if l.Kind == worker {
		return right
	}
	return wrong([]Moment{*told}, "FETCH %.3f s after the reply to BEAT said %s", (l.At - told.At).Seconds(), state)
}
