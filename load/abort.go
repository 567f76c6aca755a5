package load

import (
	"time"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// deadAfter is how long nothing but refusals may come for what a load is about until it ends, unless Config.AbortOn says
// otherwise.
const deadAfter = 30 * time.Second

// abortIfDead ends the load after a second if the target is dead: by Config.AbortOn, or by what is usual.
func (r *run) abortIfDead(set *measure.Set, s *results.Second) {
	f, op := &r.figures, r.carried()
	if s.Phase != "measure" && s.Phase != "warm-up" || f.endedEarly != "" {
		return
	}
	for i := range r.config.AbortOn {
		if a := &r.config.AbortOn[i]; a.Due(f.series) {
			f.endedEarly = a.Source
			return
		}
	}
	switch {
	case answered(set, op) > 0 || set.Failed(op) > set.Errors(op, measure.Rejected):
		r.refusedSince = 0
	case set.Errors(op, measure.Rejected) > 0 && r.refusedSince == 0:
		r.refusedSince = s.At
	}
	over := s.At + s.Over - r.refusedSince
	if r.refusedSince > 0 && over >= deadAfter && r.config.AbortOn == nil && r.config.Schedule == nil {
		f.endedEarly = "nothing but refusals of " + string(op) + " for " + reports.Duration(over.Round(time.Second))
	}
}
