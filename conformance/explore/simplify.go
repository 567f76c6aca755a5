package explore

import (
	"context"
	"slices"

	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// simplify makes the steps themselves simpler, as long as the finding shows: fewer
// connections, lines in one piece, nothing ahead, fewer fields, plainer values.
func (s *shrinker) simplify(ctx context.Context, t Trace) Trace {
	try := func(change func(steps []Step) bool) { s.tryChange(ctx, &t, change) }
	for i := range t.Steps {
		for _, action := range []target.Action{target.Restart, target.Kill} {
			try(func(steps []Step) bool { return simplifyDisruption(&steps[i], action) })
		}
	}
	for _, from := range connections(t.Steps) {
		for _, to := range connections(t.Steps) {
			if from > to && s.isMergeable(t.Steps, from, to) {
				try(func(steps []Step) bool { return s.merge(steps, from, to) })
			}
		}
	}
	t = s.reduce(ctx, t) // a merged connection is opened once too often
	for i := range t.Steps {
		t = s.shrinkBytes(ctx, t, i)
		try(func(steps []Step) bool { return joinSegments(&steps[i]) })
		try(func(steps []Step) bool { return awaitAnswer(&steps[i]) })
		if do := t.Steps[i].Sends(); s.config.subject.Simplify != nil && do != nil && !do.Raw && len(do.Segments) == 1 {
			s.config.subject.Simplify(t.Steps[i].Text(), func(plainer string) bool { return s.tryText(ctx, &t, i, plainer) })
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

// isMergeable reports whether a connection may do what another one did. Where the server sends messages by itself, what
// it sends follows from how a connection was opened.
func (s *shrinker) isMergeable(steps []Step, from, to int) bool {
	if !s.config.grammar().Replies.Pushes {
		return true
	}
	var statements []string
	for _, step := range steps {
		if do, ok := step.Do.(*scenarios.Connect); ok && (step.Conn() == from || step.Conn() == to) {
			connect := *do
			connect.Conn = ""
			statements = append(statements, Step{Do: &connect}.String())
		}
	}
	slices.Sort(statements)
	return len(slices.Compact(statements)) == 1
}

// merge has one connection do what another did.
func (s *shrinker) merge(steps []Step, from, to int) bool {
	for i, step := range steps {
		if step.Conn() != from {
			continue
		}
		if steps[i] = step.onConn(to); step.opens() {
			steps[i] = Builder{s.config.subject.Dialect}.Await(to)
		}
	}
	return true
}

// joinSegments joins the segments of a line.
func joinSegments(step *Step) bool {
	do := step.Sends()
	if do == nil || do.Raw || len(do.Segments) == 1 && !do.Bytewise {
		return false
	}
	*step = step.withSegments([]scenarios.Template{slices.Concat(do.Segments...)}, false)
	return true
}

// shrinkBytes makes what a step sends shorter, as long as the finding shows: in one
// segment, and with pieces left out, at last single bytes. Lines are made simpler field by
// field.
func (s *shrinker) shrinkBytes(ctx context.Context, t Trace, at int) Trace {
	do := t.Steps[at].Sends()
	if do == nil || !do.Raw && (!s.isAboutBytes() || s.config.grammar().Framed()) {
		return t
	}
	if len(do.Segments) > 1 && !s.tryText(ctx, &t, at, t.Steps[at].Text()) {
		return t // how it is cut is what it is about
	}
	play.Shorten(ctx, tokens(t.Steps[at].segments()), func(ctx context.Context, less []string) bool {
		return s.tryText(ctx, &t, at, Tokens(less).String())
	})
	return t
}

// isAboutBytes reports whether the finding is not about the content of a line, so that less of it
// may show the same.
func (s *shrinker) isAboutBytes() bool {
	return s.target.crash || slices.Contains([]string{RuleExtra, RuleGrammar, RuleSilent}, s.target.Rule)
}

// awaitAnswer has the answer to a line awaited before the next step. Whether unbounded bytes are
// answered is not known.
func awaitAnswer(step *Step) bool {
	if !step.Ahead || step.isUnbounded() {
		return false
	}
	step.Ahead = false
	return true
}

// simplifyDisruption has a server that is stopped be stopped in a plainer way: first in order, then as scripts can say
// it.
func simplifyDisruption(step *Step, action target.Action) bool {
	do, _ := step.Do.(*scenarios.Operate)
	if _, stops := step.disrupts(); !stops || do.Action == target.Restart || do.Action == action {
		return false
	}
	*step = Step{Do: Disrupt(action).Do, Ahead: step.Ahead}
	return true
}

// reads reports whether an answer to a step is to be written: how often unbounded bytes are
// answered is not known, unless that is the finding.
func (w *writer) reads(i int, s *Step) bool {
	hit := w.r.hit
	if !s.isUnbounded() {
		return true
	}
	isAbout := hit.Violation != nil && hit.conn == s.Conn() && hit.step >= i && hit.step < len(w.t.Steps)
	return isAbout && !w.t.Steps[hit.step].opens()
}
