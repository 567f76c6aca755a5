package explore

import (
	"context"
	"slices"
)

// simplify makes the steps themselves simpler, as long as the finding shows: fewer
// connections, lines in one piece, nothing ahead, fewer fields, plainer values.
func (s *shrinker) simplify(ctx context.Context, t Trace) Trace {
	try := func(change func(steps []Step) bool) bool {
		next := t
		next.Steps = slices.Clone(t.Steps)
		accepted := !s.spent(ctx) && change(next.Steps) && s.still(ctx, next)
		if accepted {
			t = next
		}
		return accepted
	}
	for _, from := range connections(t.Steps) {
		for _, to := range connections(t.Steps) {
			if from > to {
				try(func(steps []Step) bool { return merge(steps, from, to) })
			}
		}
	}
	t = s.reduce(ctx, t) // a merged connection is opened once too often
	for i := range t.Steps {
		t = s.fewerBytes(ctx, t, i)
		try(func(steps []Step) bool { return whole(&steps[i]) })
		try(func(steps []Step) bool { return behind(&steps[i]) })
		if step := t.Steps[i]; s.config.subject.Simplify != nil && !step.Raw && len(step.Segments) == 1 {
			s.config.subject.Simplify(step.text(), func(plainer string) bool {
				return try(func(steps []Step) bool { steps[i].Segments = []string{plainer}; return true })
			})
		}
	}
	return t
}

func connections(steps []Step) []int {
	var all []int
	for _, step := range steps {
		if step.Kind == Open && !slices.Contains(all, step.Conn) {
			all = append(all, step.Conn)
		}
	}
	return all
}

// merge has one connection do what another did.
func merge(steps []Step, from, to int) bool {
	for i := range steps {
		if steps[i].Conn == from && steps[i].Kind == Open {
			steps[i] = Step{Kind: Await, Conn: to}
		}
		if steps[i].Conn == from && steps[i].Kind != Wait && steps[i].Kind != Operate {
			steps[i].Conn = to
		}
	}
	return true
}

// whole joins the segments of a line.
func whole(step *Step) bool {
	if step.Kind != Send || step.Raw || len(step.Segments) == 1 && !step.Bytewise {
		return false
	}
	step.Segments, step.Bytewise = []string{step.text()}, false
	return true
}
