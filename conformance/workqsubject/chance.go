package workqsubject

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// "Multiple job names can be specified and they will be processed uniformly by random selection." One lease shows
// nothing of that; many that follow a simple rule too often, or too seldom, do.

// habits are rules by which a server may choose among names instead, or which it may avoid.
var habits = map[string]func(names []string, oldest string) string{
	"first":                 func(names []string, _ string) string { return names[0] },
	"last":                  func(names []string, _ string) string { return names[len(names)-1] },
	"first in the alphabet": func(names []string, _ string) string { return slices.Min(names) },
	"last in the alphabet":  func(names []string, _ string) string { return slices.Max(names) },
	"one of the oldest job": func(_ []string, oldest string) string { return oldest },
}

// oldest returns the name of that job which was added first of those that a lease may bring for certain.
func (l *workqLaw) oldest(k *call) string {
	for _, id := range l.order {
		if j := l.jobs[id]; j != nil && slices.Contains(k.Names, j.Name()) && j.waitsFor(k) {
			return j.Name()
		}
	}
	return ""
}

// unlikely is the chance, as a natural logarithm, below which it is no chance that a habit was followed so often, or so
// seldom.
const unlikely = -21

// tally counts how often a habit was followed, of how many leases, and how often that is to be expected.
type tally struct{ followed, of, expected float64 }

// chance bounds the probability, as a natural logarithm, that a count is as far from what is expected (Chernoff).
func (t tally) chance() float64 {
	p, q := t.followed/t.of, t.expected/t.of
	term := func(a, b float64) float64 {
		if a == 0 {
			return 0
		}
		return a * math.Log(a/b)
	}
	return -t.of * (term(p, q) + term(1-p, 1-q))
}

// chosen judges that a name is chosen at random among those that all had a job. oldest is the one of the oldest of
// them.
func (l *workqLaw) chosen(k *call, name, oldest string) ruling {
	names := slices.Compact(slices.Sorted(slices.Values(k.Names)))
	if len(names) < 2 || len(names) < len(k.Names) {
		return ruling{}
	}
	var found ruling
	for _, habit := range slices.Sorted(maps.Keys(habits)) {
		of := habits[habit](k.Names, oldest)
		if of == "" {
			continue
		}
		t := l.tallies[habit]
		t.of, t.expected = t.of+1, t.expected+1/float64(len(names))
		if of == name {
			t.followed++
		}
		if l.tallies[habit] = t; t.chance() > unlikely || l.biased {
			continue
		}
		found = ruling{
			clause: "LEASE-03", rule: "chance", expected: "+OK 1 ...",
			what: fmt.Sprintf("%.0f of %.0f leases have brought a job of the name that is the %s", t.followed, t.of, habit),
		}
	}
	l.biased = l.biased || found.expected != ""
	return found
}

// allReady reports whether each name had a job before a lease was sent. It is asked before the law follows the reply.
func (l *workqLaw) allReady(k *call) bool {
	return len(k.Names) > 1 && !slices.ContainsFunc(k.Names, func(name string) bool {
		for _, j := range l.jobs {
			if j.Name() == name && j.waitsFor(k) {
				return false
			}
		}
		return true
	})
}
