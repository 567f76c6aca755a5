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

	tasks     []*task // the checks that may have ended it, the last one first
	playCount int     // of them, again
}

// wreckDelay is how long behind a check its server may end because of it.
const wreckDelay = time.Second

// newWreck returns that of a server which a check had last, with those that had it just before.
func newWreck(server *host, last *task, e conformance.Evidence) *wreck {
	w := &wreck{Evidence: e, tasks: []*task{last}}
	for _, other := range slices.Backward(server.hostileTasks) {
		if end := other.evidence.Began.Add(other.evidence.Took); other != last && e.Began.Sub(end) <= wreckDelay {
			w.tasks = append(w.tasks, other)
		}
	}
	return w
}

// queueWrecks queues the last checks of servers again that have ended since, and that no check found dead.
func (s *runState) queueWrecks() {
	for _, h := range s.hosts {
		h.idleHosts = slices.DeleteFunc(h.idleHosts, func(other *host) bool {
			ending, died := other.ending()
			if ending == "" {
				return false
			}
			last := other.hostileTasks[len(other.hostileTasks)-1]
			e := *last.evidence
			e.DeadReason, e.Ending, e.ShortEnding = "the server ended when no check was played on it", ending, died
			last.wreck = newWreck(other, last, e)
			if !slices.Contains(s.retryQueue, last) {
				s.retryQueue = append(s.retryQueue, last)
			}
			other.end()
			return true
		})
	}
}

// searchWreck reports whether it is still open if a check on a server of its own has ended that: it is played again
// then.
func (s *runState) searchWreck(t *task) bool {
	w := t.wreck
	if w == nil && t.evidence.DeadReason != "" {
		if w = newWreck(t.server, t, *t.evidence); len(w.tasks) == 1 {
			return false
		}
		t.wreck = w
		s.pending = slices.Insert(s.pending, 0, t)
		return true
	}
	if t.wreck = nil; w == nil || t.evidence.DeadReason != "" {
		return false
	}
	if w.playCount++; w.playCount < len(w.tasks) {
		next := w.tasks[w.playCount]
		next.wreck = w
		s.pending = slices.Insert(s.pending, 0, next)
		return false
	}
	s.addCrash(w.crash())
	return false
}

// crash returns the crash that none of the checks repeated which were played again.
func (w *wreck) crash() crash {
	return crash{Evidence: w.Evidence, checks: idsOf(w.tasks), remaining: len(w.tasks) - w.playCount}
}
