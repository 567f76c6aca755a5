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

// turn is what a server may go by when it chooses among the names of a lease, which all have a job for certain.
type turn struct {
	names   []string // as the lease has them
	oldest  string   // the name of the job that was added first
	fullest string   // the one that has the most jobs; empty if several have as many
}

// habits are rules by which a server may choose among names instead, or which it may avoid.
var habits = map[string]func(turn) string{
	"first":                  func(t turn) string { return t.names[0] },
	"last":                   func(t turn) string { return t.names[len(t.names)-1] },
	"first in the alphabet":  func(t turn) string { return slices.Min(t.names) },
	"last in the alphabet":   func(t turn) string { return slices.Max(t.names) },
	"one of the oldest job":  func(t turn) string { return t.oldest },
	"one with the most jobs": func(t turn) string { return t.fullest },
}

// turn returns the turn of a lease. It is asked for before the law follows the reply.
func (l *workqLaw) turn(k *call) turn {
	t, jobs, most := turn{names: k.Names}, map[string]int{}, 0
	for _, id := range l.order {
		if j := l.jobs[id]; j != nil && slices.Contains(k.Names, j.Name()) && j.waitsFor(k) {
			t.oldest = cmp.Or(t.oldest, j.Name())
			jobs[j.Name()]++
			switch n := jobs[j.Name()]; {
			case n > most:
				t.fullest, most = j.Name(), n
			case n == most:
				t.fullest = ""
			}
		}
	}
	return t
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

// chosen judges that a name is chosen at random among those that all had a job.
func (l *workqLaw) chosen(in turn, name string) ruling {
	names := slices.Compact(slices.Sorted(slices.Values(in.names)))
	if len(names) < 2 || len(names) < len(in.names) {
		return ruling{}
	}
	var found ruling
	for _, habit := range slices.Sorted(maps.Keys(habits)) {
		of := habits[habit](in)
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
			what: fmt.Sprintf("%.0f of %.0f leases returned a job of the name that is the %s", t.followed, t.of, habit),
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
