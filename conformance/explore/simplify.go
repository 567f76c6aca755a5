package explore

import (
	"context"
	"slices"

	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// simplify makes the steps themselves simpler, as long as the finding shows: fewer
// connections, lines in one piece, nothing ahead, fewer fields, plainer values.
func (s *shrinker) simplify(ctx context.Context, t Trace) Trace {
	try := func(change func(steps []Step) bool) { s.changes(ctx, &t, change) }
	for i := range t.Steps {
		for _, plain := range []scenarios.Need{scenarios.NeedRestart, scenarios.NeedKill} {
			try(func(steps []Step) bool { return plainer(&steps[i], plain) })
		}
	}
	for _, from := range connections(t.Steps) {
		for _, to := range connections(t.Steps) {
			if from > to && s.mergeable(t.Steps, from, to) {
				try(func(steps []Step) bool { return s.merge(steps, from, to) })
			}
		}
	}
	t = s.reduce(ctx, t) // a merged connection is opened once too often
	for i := range t.Steps {
		t = s.fewerBytes(ctx, t, i)
		try(func(steps []Step) bool { return whole(&steps[i]) })
		try(func(steps []Step) bool { return behind(&steps[i]) })
		if do := t.Steps[i].Sends(); s.config.subject.Simplify != nil && do != nil && !do.Raw && len(do.Segments) == 1 {
			s.config.subject.Simplify(t.Steps[i].Text(), func(plainer string) bool { return s.sends(ctx, &t, i, plainer) })
		}
	}
	return t
}

// connections lists those that steps open.
func connections(steps []Step) []int {
	var all []int
	for _, step := range steps {
		if step.opens() && !slices.Contains(all, step.Conn()) {
			all = append(all, step.Conn())
		}
	}
	return all
}

// mergeable reports whether a connection may do what another one did. Where the server sends messages by itself, what
// it sends follows from how a connection was opened.
func (s *shrinker) mergeable(steps []Step, from, to int) bool {
	if !s.config.grammar().Replies.Pushes {
		return true
	}
	var opened []string
	for _, step := range steps {
		if do, is := step.Do.(*scenarios.Connect); is && (step.Conn() == from || step.Conn() == to) {
			plain := *do
			plain.Conn = ""
			opened = append(opened, Step{Do: &plain}.String())
		}
	}
	slices.Sort(opened)
	return len(slices.Compact(opened)) == 1
}

// merge has one connection do what another did.
func (s *shrinker) merge(steps []Step, from, to int) bool {
	for i, step := range steps {
		if step.Conn() != from {
			continue
		}
		if steps[i] = step.on(to); step.opens() {
			steps[i] = Builder{s.config.subject.Dialect}.Await(to)
		}
	}
	return true
}

// whole joins the segments of a line.
func whole(step *Step) bool {
	do := step.Sends()
	if do == nil || do.Raw || len(do.Segments) == 1 && !do.Bytewise {
		return false
	}
	*step = step.sending([]scenarios.Template{slices.Concat(do.Segments...)}, false)
	return true
}

// fewerBytes makes what a step sends shorter, as long as the finding shows: in one
// segment, and with pieces left out, at last single bytes. Lines are made simpler field by
// field.
func (s *shrinker) fewerBytes(ctx context.Context, t Trace, at int) Trace {
	do := t.Steps[at].Sends()
	if do == nil || !do.Raw && (!s.aboutBytes() || s.config.grammar().Framed()) {
		return t
	}
	if len(do.Segments) > 1 && !s.sends(ctx, &t, at, t.Steps[at].Text()) {
		return t // how it is cut is what it is about
	}
	play.Shorten(ctx, tokens(t.Steps[at].segments()), func(ctx context.Context, less []string) bool {
		return s.sends(ctx, &t, at, Tokens(less).String())
	})
	return t
}

// aboutBytes reports whether the finding is not about the content of a line, so that less of it
// may show the same.
func (s *shrinker) aboutBytes() bool {
	return s.target.crash || slices.Contains([]string{RuleExtra, RuleGrammar, RuleSilent}, s.target.Rule)
}

// behind has the answer to a line awaited before the next step. Whether unbounded bytes are
// answered is not known.
func behind(step *Step) bool {
	if !step.Ahead || step.unbounded() {
		return false
	}
	step.Ahead = false
	return true
}

// plainer has a server that is stopped be stopped in a plainer way: first in order, then as scripts can say it.
func plainer(step *Step, action scenarios.Need) bool {
	do, _ := step.Do.(*scenarios.Operate)
	if _, stops := step.disrupts(); !stops || do.Action == scenarios.NeedRestart || do.Action == action {
		return false
	}
	*step = Step{Do: Disrupt(action).Do, Ahead: step.Ahead}
	return true
}

// reads reports whether an answer to a step is to be written: how often unbounded bytes are
// answered is not known, unless that is the finding.
func (w *writer) reads(i int, s *Step) bool {
	hit := w.r.hit
	if !s.unbounded() {
		return true
	}
	about := hit.Violation != nil && hit.conn == s.Conn() && hit.step >= i && hit.step < len(w.t.Steps)
	return about && !w.t.Steps[hit.step].opens()
}
