package bugs

import (
	_ "embed"
	"slices"
	"sync"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// All returns the catalogue, sorted by name. Rare bugs are counted, not random, so that every run shows them. The
// slice is the caller's, the lists of clauses in it are shared.
func All() []fakes.Bug { return slices.Clone(allBugs()) }

// Lookup returns the bug with a name, and whether there is one. It knows those of Faktory, too.
func Lookup(name string) (fakes.Bug, bool) {
	all := slices.Concat(allBugs(), faktoryRows())
	i := slices.IndexFunc(all, func(f fakes.Bug) bool { return f.Name == name })
	if i < 0 {
		return fakes.Bug{}, false
	}
	return all[i], true
}

// allBugs is the catalogue; listing the clauses asks for it hundreds of times.
var allBugs = sync.OnceValue(func() []fakes.Bug {
	return catalogue.SortBugs(
		authBugs, failBugs, fetchBugs, mixedBugs, jobBugs, lineBugs, queueBugs, replyBugs, reserveBugs,
		restartBugs, retryBugs, wakeBugs, workerBugs, catalogue.RuledBugs(bugsTable(), fakes.Rules()),
	)
})

//go:embed bugs.txt
var bugsText string

var bugsTable = catalogue.LazyTable("fakes/bugs/bugs.txt", bugsText)

// bug returns the bug of a row of bugs.txt.
func bug[H catalogue.Hook[event]](name string, hook H) fakes.Bug {
	return catalogue.BugOf[event](bugsTable(), name, hook)
}
