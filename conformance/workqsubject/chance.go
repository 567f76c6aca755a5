package workqsubject

import (
	"fmt"
	"math"
	"slices"
)

// "Multiple job names can be specified and they will be processed uniformly by random selection." One lease shows
// nothing of that; many that all follow a simple rule do.

// habits are rules by which a server may choose among names instead.
var habits = map[string]func(names []string) string{
	"first":                 func(names []string) string { return names[0] },
	"last":                  func(names []string) string { return names[len(names)-1] },
	"first in the alphabet": slices.Min[[]string],
	"last in the alphabet":  slices.Max[[]string],
}

// unlikely is the chance, as a decimal logarithm, below which it is no chance that all leases have followed a habit.
const unlikely = -9

// chosen judges that a name is chosen at random among those that all had a job.
func (l *workqLaw) chosen(k *call, name string) ruling {
	names := slices.Compact(slices.Sorted(slices.Values(k.Names)))
	if len(names) < 2 || len(names) < len(k.Names) || !l.allReady(k, name) {
		return ruling{}
	}
	for habit, of := range habits {
		if of(k.Names) != name {
			l.odds[habit] = math.Inf(1)
		} else if l.odds[habit] -= math.Log10(float64(len(names))); l.odds[habit] < unlikely {
			for habit := range habits {
				l.odds[habit] = math.Inf(1)
			}
			return ruling{
				clause: "LEASE-03", rule: "chance", expected: "+OK 1 ...",
				what: fmt.Sprintf("all leases have brought a job of the name that is the %s one", habit),
			}
		}
	}
	return ruling{}
}

// allReady reports whether each name but the chosen one had a job before the lease was sent.
func (l *workqLaw) allReady(k *call, chosen string) bool {
	return !slices.ContainsFunc(k.Names, func(name string) bool {
		if name == chosen {
			return false
		}
		for _, j := range l.jobs {
			if j.Name() == name && j.waitsFor(k) {
				return false
			}
		}
		return true
	})
}
