package suite

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// "Multiple job names can be specified and they will be processed uniformly by random selection." One lease shows
// nothing of that; many that follow a simple rule too often, or too seldom, do.

// choice is what a server may go by when it chooses among the names of a lease, which all have a job for certain.
type choice struct {
	names       []string // as the lease has them
	oldestName  string   // the name of the job that was added first
	fullestName string   // the one that has the most jobs; empty if several have as many
}

// habits are rules by which a server may choose among names instead, or which it may avoid.
var habits = map[string]func(choice) string{
	"first":                  func(t choice) string { return t.names[0] },
	"last":                   func(t choice) string { return t.names[len(t.names)-1] },
	"first in the alphabet":  func(t choice) string { return slices.Min(t.names) },
	"last in the alphabet":   func(t choice) string { return slices.Max(t.names) },
	"one of the oldest job":  func(t choice) string { return t.oldestName },
	"one with the most jobs": func(t choice) string { return t.fullestName },
}

// choice returns what a server may go by at a lease. It is asked for before the law follows the reply.
func (l *workqLaw) choice(k *call) choice {
	t, jobs, maximum := choice{names: k.Names}, map[string]int{}, 0
	for _, id := range l.order {
		if j := l.jobs[id]; j != nil && slices.Contains(k.Names, j.Name()) && j.isReadyFor(k) {
			t.oldestName = cmp.Or(t.oldestName, j.Name())
			jobs[j.Name()]++
			switch n := jobs[j.Name()]; {
			case n > maximum:
				t.fullestName, maximum = j.Name(), n
			case n == maximum:
				t.fullestName = ""
			}
		}
	}
	return t
}

// maxLogChance is the chance, as a natural logarithm, below which it is no chance that a habit was followed so often,
// or so seldom.
const maxLogChance = -21

// tally counts how often a habit was followed, of how many leases, and how often that is to be expected.
type tally struct{ matches, leases, expected float64 }

// chance bounds the probability, as a natural logarithm, that a count is as far from what is expected (Chernoff).
func (t tally) chance() float64 {
	p, q := t.matches/t.leases, t.expected/t.leases
	term := func(a, b float64) float64 {
		if a == 0 {
			return 0
		}
		return a * math.Log(a/b)
	}
	return -t.leases * (term(p, q) + term(1-p, 1-q))
}

// judgeChoice judges that a name is chosen at random among those that all had a job.
func (l *workqLaw) judgeChoice(c choice, name string) ruling {
	names := slices.Compact(slices.Sorted(slices.Values(c.names)))
	if len(names) < 2 || len(names) < len(c.names) {
		return ruling{}
	}
	var found ruling
	for _, habit := range slices.Sorted(maps.Keys(habits)) {
		pick := habits[habit](c)
		if pick == "" {
			continue
		}
		t := l.tallies[habit]
		t.leases, t.expected = t.leases+1, t.expected+1/float64(len(names))
		if pick == name {
			t.matches++
		}
		if l.tallies[habit] = t; t.chance() > maxLogChance || l.isBiased {
			continue
		}
		found = ruling{
			clause: "LEASE-03", rule: "chance", expected: "+OK 1 ...",
			detail: fmt.Sprintf("%.0f of %.0f leases returned a job of the name that is the %s", t.matches, t.leases, habit),
		}
	}
	l.isBiased = l.isBiased || found.expected != ""
	return found
}

// haveReadyJobs reports whether each name had a job before a lease was sent. It is asked before the law follows the
// reply.
func (l *workqLaw) haveReadyJobs(k *call) bool {
	return len(k.Names) > 1 && !slices.ContainsFunc(k.Names, func(name string) bool {
		for _, j := range l.jobs {
			if j.Name() == name && j.isReadyFor(k) {
				return false
			}
		}
		return true
	})
}
