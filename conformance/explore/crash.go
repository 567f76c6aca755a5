package explore

import (
	"context"
	"slices"

	"github.com/fwpsuite/fwp/scenarios"
)

// Shorten looks for a short conversation that shows what was found otherwise than by
// exploring, and fills it in if there is one. rule is that of the law that it would break
// there; start is a conversation that may show it, nil if there is none. If it breaks another
// of these clauses, which are reported already, only the clause is filled in. It blocks, no
// longer than Shrinking or until ctx is done.
func (e *Explorer) Shorten(ctx context.Context, f *Finding, rule string, start []Step, reported ...string) {
	f.Unscripted = ""
	if ctx.Err() != nil {
		f.Unscripted = noTime
		return
	}
	s := &shrinker{config: e.config(), fresh: e.Fresh, limit: e.Shrinking, progress: e.Progress, target: found{
		Violation: &Violation{Clause: f.Clause, Rule: rule, JID: "-" + e.Subject.Jobs + "1"}, step: max(len(start)-1, 0),
	}}
	s.reported = slices.DeleteFunc(slices.Clone(reported), func(clause string) bool { return clause == f.Clause })
	f.Whole.Steps = start
	s.shrink(ctx, f)
	f.Whole = Trace{} // what many clients did is no conversation
}

// ShortenCrash is Shorten for a server that died while many clients were at work. What
// they did is no conversation: only the seeds in which several clients do the same again
// and again are tried. Each time the server is started again.
func (e *Explorer) ShortenCrash(ctx context.Context, f *Finding) {
	s := &shrinker{config: e.config(), fresh: e.Fresh, limit: e.Shrinking, progress: e.Progress}
	s.doing = Progress{Activity: Shrinking, Finding: f.Name()}
	s.target = found{Violation: &Violation{Rule: f.Rule}, crash: true}
	if e.Fresh == nil {
		s.revive = e.Revive
		defer e.ensureServing(ctx)
	}
	limited, cancel := within(ctx, s.limit)
	defer cancel()
	f.Unscripted = "it did not die again of the conversations that were tried, " +
		"in which two or three clients do the same again and again"
	t, ok := s.first(limited, e.Subject.seeds(Concurrent), false)
	if !ok {
		return
	}
	f.Small, f.Unscripted = t, ""
	s.confirm(ctx, f)
	plain := *f // what the clients did is no title
	plain.What = ""
	if f.Script = script(f.Small, &plain, s.best); f.Script == "" {
		f.Unscripted = "no line of a script can say it"
	}
}

// Serves reports whether the target answers on new connections, and asks for as long as
// Timeout if it does not.
func (e *Explorer) Serves(ctx context.Context) bool {
	return newPlay(e.config(), freshPrefix()).serves(ctx)
}

// ensureServing restarts the server if the last try killed it.
func (e *Explorer) ensureServing(ctx context.Context) {
	if newPlay(e.config(), freshPrefix()).asks(ctx) != nil {
		e.Revive(ctx)
	}
}

// Revive restarts a server that is gone, if Restarts allows it and the target can, and
// reports whether it serves then.
func (e *Explorer) Revive(ctx context.Context) bool { return e.Restarts && e.config().restarts(ctx) }

// restarts has the server restarted, and reports whether that was done and whether it serves then.
func (c *config) restarts(ctx context.Context) bool {
	t, can := c.target.(scenarios.Restarter)
	return can && t.Restart(context.WithoutCancel(ctx)) == nil && newPlay(c, freshPrefix()).serves(ctx)
}
