package run

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance"
)

// wreck is a server that hostile checks had one after the other, and that the last one found dead. It may have ended
// some time behind one of those before: so each is played again, the last one first, on a new server that is asked a
// while later.
type wreck struct {
	conformance.Evidence // of the check that found it

	ran    []*task // the checks that may have ended it, the last one first
	played int     // of them, again
}

// afterwards is how long behind a check its server may end because of it.
const afterwards = time.Second

// newWreck returns that of a server which a check had last, with those that had it just before.
func newWreck(server *host, last *task, e conformance.Evidence) *wreck {
	w := &wreck{Evidence: e, ran: []*task{last}}
	for _, other := range slices.Backward(server.had) {
		if end := other.evidence.Began.Add(other.evidence.Took); other != last && e.Began.Sub(end) <= afterwards {
			w.ran = append(w.ran, other)
		}
	}
	return w
}

// wrecks queues the last checks of servers again that have ended since, and that no check found dead.
func (s *runState) wrecks() {
	for _, h := range s.hosts {
		h.idle = slices.DeleteFunc(h.idle, func(other *host) bool {
			how, died := other.ending()
			if how == "" {
				return false
			}
			last := other.had[len(other.had)-1]
			e := *last.evidence
			e.Dead, e.Ending, e.Died = "the server ended when no check was played on it", how, died
			last.wreck = newWreck(other, last, e)
			if !slices.Contains(s.again, last) {
				s.again = append(s.again, last)
			}
			other.end()
			return true
		})
	}
}

// searches reports whether it is still open if a check on a server of its own has ended that: it is played again then.
func (s *runState) searches(t *task) bool {
	w := t.wreck
	if w == nil && t.evidence.Dead != "" {
		if w = newWreck(t.server, t, *t.evidence); len(w.ran) == 1 {
			return false
		}
		t.wreck = w
		s.pending = slices.Insert(s.pending, 0, t)
		return true
	}
	if t.wreck = nil; w == nil || t.evidence.Dead != "" {
		return false
	}
	if w.played++; w.played < len(w.ran) {
		next := w.ran[w.played]
		next.wreck = w
		s.pending = slices.Insert(s.pending, 0, next)
		return false
	}
	s.addCrash(w.crash())
	return false
}

// crash returns the crash that none of the checks repeated which were played again.
func (w *wreck) crash() crash {
	return crash{Evidence: w.Evidence, ran: idsOf(w.ran), left: len(w.ran) - w.played}
}
