package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/scenarios"
)

// lastWords is what a client has sent last.
type lastWords struct {
	conn     int
	text     string
	answered bool
}

// in writes it without what all names of a run have in common.
func (w lastWords) in(prefix string) string {
	const most = 120 // bytes, which hold a PUSH of a crowd
	text := strings.ReplaceAll(w.text, prefix+"-", "$")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return fmt.Sprintf("c%d: %s", w.conn, text)
}

// crash is the finding that the server died while many clients were at work. Which of
// them it died of nobody can say; so it breaks no clause, and tells of all of them.
func (m *crowd) crash(h *History) Finding {
	var open, answered []string
	slices.SortFunc(m.last, func(a, b lastWords) int { return a.conn - b.conn })
	for _, w := range m.last {
		switch {
		case w.text == "":
		case w.answered:
			answered = append(answered, w.in(m.prefix))
		default:
			open = append(open, w.in(m.prefix))
		}
	}
	what := fmt.Sprintf("the server died while %d clients were at work side by side", len(m.last))
	if len(open)+len(answered) == 0 {
		what = "the server served nobody any more when many clients came side by side"
	}
	if len(open) > 0 {
		what += "; what had no answer yet: " + strings.Join(open, "; ")
	}
	if len(answered) > 0 {
		what += "; what was answered last: " + strings.Join(answered, "; ")
	}
	return Finding{Rule: "crash", Crash: true, Expected: "a server that serves", Got: "no new connection is served", What: what, Commands: h.Commands}
}

// outlive looks for a conversation of which a server dies that died in a crowd, and fills
// it in. What many clients did is none: there are only those of which servers are known to
// die. Each time the server is started again.
func (e *Explorer) outlive(ctx context.Context, f *Finding) {
	s := &shrinker{config: e.config(), fresh: e.Fresh, limit: e.Shrinking, target: found{Violation: &Violation{Rule: f.Rule}, crash: true}}
	if e.Fresh == nil {
		s.revive = e.awaken
		defer e.leaveServing(ctx)
	}
	limited, cancel := within(ctx, s.limit)
	defer cancel()
	f.Unscripted = "it did not die again of the conversations that were tried, in which two or three clients do the same again and again"
	for _, t := range e.Subject.seeds(Concurrent) {
		if !s.first(limited, t) {
			continue
		}
		f.Small, f.Unscripted = t, ""
		s.confirm(ctx, f)
		plain := *f // what the crowd did is no title
		plain.What = ""
		if f.Script = script(f.Small, &plain, s.best); f.Script == "" {
			f.Unscripted = "no line of a script can say it"
		}
		return
	}
}

// sweep removes what the crowd has left on a server that was started again: what workers
// held, and what is in the queues. What failed may come back later.
func (m *crowd) sweep(ctx context.Context, h *History) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	l := m.newLane(0)
	defer l.p.close()
	if !l.enter(ctx, Cleaner) {
		return
	}
	for _, jid := range h.Left {
		if _, ok := l.asks(ctx, reporting(history.Ack, jid)); !ok {
			return
		}
	}
	for queues := range slices.Chunk(m.tally.all(len(h.Left)), mostRare) {
		for jid := "."; jid != ""; {
			r, ok := l.asks(ctx, fwp.FETCH+" "+strings.Join(l.names(queues), " "))
			if !ok {
				return
			}
			if jid = broughtBy(r).jid; jid != "" {
				l.asks(ctx, reporting(history.Ack, jid))
			}
		}
	}
	failed := map[string]bool{}
	for _, e := range h.Events {
		failed[e.JID] = failed[e.JID] || e.Op == history.Fail
	}
	h.Left = slices.DeleteFunc(h.Left, func(jid string) bool { return !failed[jid] })
}

// leaveServing starts a server again of which nobody has noticed, for want of time, that it
// died once more.
func (e *Explorer) leaveServing(ctx context.Context) {
	if newPlay(e.config(), freshPrefix()).asks(ctx) != nil {
		e.awaken(ctx)
	}
}

// awaken starts a server again that is gone, if an operator can be asked for that, and
// says whether it serves.
func (e *Explorer) awaken(ctx context.Context) bool {
	t, can := e.Target.(scenarios.Restarter)
	return e.Restarts && can && t.Restart(context.WithoutCancel(ctx)) == nil && newPlay(e.config(), freshPrefix()).alive(ctx)
}
