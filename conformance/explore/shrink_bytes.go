package explore

import (
	"context"
	"slices"
)

// fewerBytes makes what a step sends shorter, as long as the finding shows: in one
// segment, and with pieces left out, at last single bytes. Lines are made simpler field by
// field.
func (s *shrinker) fewerBytes(ctx context.Context, t Trace, at int) Trace {
	do := t.Steps[at].Sends()
	if do == nil || !do.Raw && (!s.aboutBytes() || s.config.grammar().Coding != nil) {
		return t
	}
	if len(do.Segments) > 1 && !s.sends(ctx, &t, at, t.Steps[at].Text()) {
		return t // how it is cut is what it is about
	}
	text := tokens(t.Steps[at].segments())
	for n := max(1, len(text)/2); n > 0 && len(text) > 1; n /= 2 {
		for from := 0; from < len(text) && len(text) > 1 && !s.spent(ctx); {
			less := text.Put(from, min(len(text), from+n))
			if len(less) == 0 || !s.sends(ctx, &t, at, less.String()) {
				from += n
				continue
			}
			text = less
		}
	}
	return t
}

// aboutBytes reports whether the finding is not about the content of a line, so that less of it
// may show the same.
func (s *shrinker) aboutBytes() bool {
	return s.target.crash || slices.Contains([]string{"extra", "grammar", "silent"}, s.target.Rule)
}

// behind has the answer to a line awaited before the next step. Whether wild bytes are
// answered is not known.
func behind(step *Step) bool {
	if !step.Ahead || step.wild() {
		return false
	}
	step.Ahead = false
	return true
}

// reads reports whether an answer to a step is to be written: how often wild bytes are
// answered is not known, unless that is the finding.
func (w *writer) reads(i int, s *Step) bool {
	hit := w.r.hit
	if !s.wild() {
		return true
	}
	about := hit.Violation != nil && hit.conn == s.Conn() && hit.step >= i && hit.step < len(w.t.Steps)
	return about && !w.t.Steps[hit.step].opens()
}
