package workqsubject

import (
	"iter"
	"maps"
	"slices"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/workqdialect"
	"github.com/fwpsuite/fwp/workq"
)

// Leftover names the jobs that may still be on the server.
func (l *workqLaw) Leftover() (all []string) {
	for _, id := range slices.Sorted(maps.Keys(l.jobs)) {
		if l.known(id) {
			all = append(all, "job "+id)
		}
	}
	return all
}

// known reports whether a job may be there.
func (l *workqLaw) known(id string) bool {
	gone := func(c config) bool { return c.state == deleted || c.state == absent }
	return l.jobs[id] != nil && !l.jobs[id].all(gone)
}

// Cleanup deletes the jobs.
func (l *workqLaw) Cleanup(explore.Cleaning) iter.Seq[explore.Step] {
	return func(play func(explore.Step) bool) {
		b := explore.Builder{Dialect: workqdialect.Dialect{}}
		if len(l.Leftover()) == 0 || !play(b.Open(explore.Cleaner, scenarios.Producer, "")) {
			return
		}
		for _, id := range slices.Sorted(maps.Keys(l.jobs)) {
			if !l.known(id) {
				continue
			}
			if !play(b.Line(explore.Cleaner, "%s %s", workq.Delete, id)) || l.conns[explore.Cleaner] == nil {
				return
			}
			l.jobs[id].configs = []config{{state: deleted}}
		}
		play(explore.End(explore.Cleaner, scenarios.Closed))
	}
}
