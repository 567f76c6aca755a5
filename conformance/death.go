package conformance

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// recordDeath files the checks after which a server was dead, once no more are played on
// it: first the one that probably caused the crash.
func (s *runState) recordDeath(ctx context.Context, h *host) {
	for _, t := range s.pending { // they are not tried again
		if t.host == h && t.death != nil {
			t.evidence = t.death
			h.dying = append(h.dying, t)
			h.probation--
		}
	}
	s.pending = slices.DeleteFunc(s.pending, func(t *task) bool { return slices.Contains(h.dying, t) })
	first := endedServer(h.dying)
	h.dying[0], h.dying[first] = h.dying[first], h.dying[0]
	for _, t := range h.dying {
		if h.crashed == "" {
			s.record(t)
		} else {
			s.skip(ctx, t)
		}
	}
	h.dying = nil
}

// unanswered is a command that got no reply.
type unanswered struct {
	task  int
	fetch bool // which may wait
	sent  time.Time
	ended time.Time // when its connection ended; zero if it did not
}

// endedServer returns the index of the check that probably crashed the server: the one that sent the last
// command before the first connection ended, since the others were waiting or later.
// If no connection ended, it is the one with the first command without a reply; a FETCH,
// which may wait, comes after others.
func endedServer(dying []*task) int {
	var all []unanswered
	for i, t := range dying {
		if t.evidence.Dead == "" { // it was only affected
			continue
		}
		for _, u := range unansweredIn(t.evidence) {
			u.task = i
			all = append(all, u)
		}
	}
	if len(all) == 0 {
		return max(0, slices.IndexFunc(dying, func(t *task) bool { return t.evidence.Dead != "" }))
	}
	var death time.Time
	for _, u := range all {
		if !u.ended.IsZero() && (death.IsZero() || u.ended.Before(death)) {
			death = u.ended
		}
	}
	if death.IsZero() {
		return slices.MinFunc(all, func(a, b unanswered) int {
			return cmp.Or(cmp.Compare(bit(a.fetch), bit(b.fetch)), a.sent.Compare(b.sent))
		}).task
	}
	early := slices.DeleteFunc(all, func(u unanswered) bool { return u.sent.After(death) })
	return slices.MaxFunc(early, func(a, b unanswered) int { return a.sent.Compare(b.sent) }).task
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// unansweredIn lists the commands of a play that were followed by the end of their
// connection, or by nothing.
func unansweredIn(e *Evidence) []unanswered {
	waiting := map[string]unanswered{} // by connection
	ended := map[string]bool{}
	var all []unanswered
	for _, l := range e.Conversation {
		at := e.Began.Add(l.At)
		u, waits := waiting[l.Conn]
		switch {
		case l.Ended:
			if waits && l.From == "S" {
				u.ended = at
				all = append(all, u)
			}
			ended[l.Conn] = true
			delete(waiting, l.Conn)
		case l.From == "S":
			delete(waiting, l.Conn)
		case l.From == "C" && !ended[l.Conn]:
			waiting[l.Conn] = unanswered{fetch: strings.HasPrefix(l.Text, fwp.FETCH), sent: at}
		}
	}
	for _, u := range waiting {
		all = append(all, u)
	}
	return all
}
