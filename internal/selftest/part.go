package selftest

import (
	"cmp"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/peer"
)

// Part is what is played on the servers of a protocol, or on one of its clients. Checks must be set. The names of
// faults and variations are those of one part only.
type Part struct {
	Fixture    Fixture
	Checks     []conformance.Check
	Skipped    []conformance.Check // of the suite, and not played
	Faults     []peer.Fault
	Variations []peer.Variation
}

// apart reports whether each check has servers of its own: those of the default protocol have faults of every fiftieth
// job.
func (p *Part) apart() bool { return p.Fixture.Client == nil && p.Fixture.peer().IsDefault() }

// deciding returns the checks that decide one of the clauses of a fault: first those that decide the one that it breaks
// whenever a check looks at it, and of these the ones that wait least.
func (p *Part) deciding(fault peer.Fault) []conformance.Check {
	rank := func(c conformance.Check) time.Duration {
		if !slices.Contains(clauses(c), fault.Clauses[0]) {
			return time.Hour
		}
		return c.Describe().Wait
	}
	all := slices.DeleteFunc(slices.Clone(p.Checks), func(c conformance.Check) bool { return !names(fault, c) })
	slices.SortStableFunc(all, func(a, b conformance.Check) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}
