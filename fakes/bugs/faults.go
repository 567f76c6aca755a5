package bugs

import (
	_ "embed"
	"slices"
	"sync"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// All returns the catalogue, sorted by name. Rare faults are counted, not random, so that every run shows them. The
// slice is the caller's, the lists of clauses in it are shared.
func All() []fakes.Fault { return slices.Clone(allFaults()) }

// Named returns the fault with a name, and whether there is one. It knows those of Faktory, too.
func Named(name string) (fakes.Fault, bool) {
	all := slices.Concat(allFaults(), allOfFaktory())
	i := slices.IndexFunc(all, func(f fakes.Fault) bool { return f.Name == name })
	if i < 0 {
		return fakes.Fault{}, false
	}
	return all[i], true
}

// allFaults is the catalogue; listing the clauses asks for it hundreds of times.
var allFaults = sync.OnceValue(func() []fakes.Fault {
	return catalogue.SortFaults(
		authFaults, failFaults, fetchFaults, fewFaults, jobFaults, lineFaults, queueFaults, replyFaults, reserveFaults,
		restartFaults, retryFaults, workerFaults, catalogue.Ruled(faultsTable(), fakes.Rules()),
	)
})

//go:embed faults.txt
var faultsText string

var faultsTable = catalogue.Reader("fakes/bugs/faults.txt", faultsText)

// fault returns the fault of a row of faults.txt.
func fault[H catalogue.Hook[event]](name string, hook H) fakes.Fault {
	return catalogue.FaultOf[event](faultsTable(), name, hook)
}
