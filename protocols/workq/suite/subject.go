package suite

import (
	"iter"
	"maps"
	"slices"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/workq"
	workqscript "github.com/fwpsuite/fwp/protocols/workq/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// Alphabet returns Workq as a subject of exploring.
func Alphabet() *explore.Alphabet {
	return &explore.Alphabet{
		Dialect:      workqscript.Dialect{},
		Start:        func(t law.Terms) explore.Law { return newLaw(t) },
		Generate:     alphabet,
		Jobs:         "id",
		Accepted:     "+OK",
		ProbeCommand: workq.InspectQueues + " 0 1",
		Rules:        rules(),
		Seeds:        seeds,
	}
}

// seeds are the lives of a job: leased and completed, failed until it is not tried again, and deleted. A server may
// choose among several jobs by chance, and these have one.
func seeds(string) (all []explore.Trace) {
	b := explore.Builder{Dialect: workqscript.Dialect{}}
	for _, lines := range [][]string{
		{"add $id1 $name1 600000 3600000 * <- x", "lease $name1 20", "complete $id1 * <- pong", "result $id1 0",
			"inspect job $id1", "lease $name1 20"},
		{"add $id1 $name1 600000 3600000 * -max-fails=2 <- x", "lease $name1 20", "fail $id1 * <- bad", "inspect job $id1",
			"lease $name1 20", "fail $id1 * <- worse", "inspect job $id1", "result $id1 0", "lease $name1 20"},
		{"add $id1 $name1 600000 3600000 * <- x", "inspect queue $name1", "delete $id1",
			"inspect job $id1", "lease $name1 20"},
	} {
		steps := []explore.Step{b.Open(2, scenarios.Producer, "")}
		for _, line := range lines {
			steps = append(steps, b.Line(2, "%s", line))
		}
		all = append(all, explore.Trace{Steps: steps})
	}
	return all
}

// Leftover names the jobs that may still be on the server.
func (l *workqLaw) Leftover() (all []string) {
	for _, id := range slices.Sorted(maps.Keys(l.jobs)) {
		if l.mayExist(id) {
			all = append(all, "job "+id)
		}
	}
	return all
}

// mayExist reports whether a job may be there.
func (l *workqLaw) mayExist(id string) bool {
	isGone := func(c possibleState) bool { return c.state == deleted || c.state == absent }
	return l.jobs[id] != nil && !l.jobs[id].isCleaned && !l.jobs[id].isAlways(isGone)
}

// Cleanup deletes the jobs.
func (l *workqLaw) Cleanup(explore.Cleaning) iter.Seq[explore.Step] {
	return func(play func(explore.Step) bool) {
		b := explore.Builder{Dialect: workqscript.Dialect{}}
		if len(l.Leftover()) == 0 || !play(b.Open(explore.Cleaner, scenarios.Producer, "")) {
			return
		}
		for _, id := range slices.Sorted(maps.Keys(l.jobs)) {
			if !l.mayExist(id) {
				continue
			}
			if !play(b.Line(explore.Cleaner, "%s %s", workq.Delete, id)) || l.conns[explore.Cleaner] == nil {
				return
			}
			l.jobs[id].isCleaned = true
			l.jobs[id].unjudge() // commands that are under way may still be answered
		}
		play(explore.End(explore.Cleaner, scenarios.Closed))
	}
}
