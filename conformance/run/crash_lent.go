package run

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance"
)

// wreck is a server that hostile checks had one after the other, and that the last one found dead. It may have ended
// some time behind the check before: so each of the two is played again, on a new server that is asked a while later.
type wreck struct {
	conformance.Evidence // of the check that found it

	found, before *task
}

// afterwards is how long behind a check its server may end because of it.
const afterwards = time.Second

// searches reports whether it is still open if a check on a server of its own has ended that: it is played again then.
func (s *runState) searches(t *task) bool {
	w := t.wreck
	switch {
	case w == nil && t.evidence.Dead != "" && t.server.before != nil:
		t.wreck = &wreck{*t.evidence, t, t.server.before}
		s.pending = slices.Insert(s.pending, 0, t)
		return true
	case w == nil || t.evidence.Dead != "":
	case t == w.found:
		w.before.wreck = w
		s.pending = slices.Insert(s.pending, 0, w.before)
	default:
		s.crashes = append(s.crashes, w.crash(0))
	}
	t.wreck = nil
	return false
}

// crash returns the crash of which so many of the two checks were not played again.
func (w *wreck) crash(left int) crash {
	return crash{Evidence: w.Evidence, ran: idsOf([]*task{w.before, w.found}), left: left}
}
