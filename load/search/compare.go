package search

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/fwpsuite/fwp/load/results"
)

// The sides of a comparison, as a LoadBlock names them.
const (
	A = "A"
	B = "B"
)

// Block is a run that a comparison needs.
type Block struct {
	Side string
	// Pair is its pair, from 1; 0 for a block that is discarded.
	Pair int
	// Seed is that of its load, the same for both blocks of a pair.
	Seed uint64
}

// PlanBlocks returns the blocks of so many pairs in their order: one of each side that is discarded, because the first
// run meets caches, clocks and pages that no other does, and then the pairs. Which side of a pair comes first is
// random, because the first of two may have an advantage.
func PlanBlocks(pairs int, seed uint64) []Block {
	random := rand.New(rand.NewPCG(seed, 0x70616972))
	var all []Block
	for pair := range pairs + 1 {
		sides := [2]string{A, B}
		if random.IntN(2) == 1 {
			sides = [2]string{B, A}
		}
		for _, side := range sides {
			all = append(all, Block{Side: side, Pair: pair, Seed: seed + uint64(pair)})
		}
	}
	return all
}

// PairBlocks puts saved blocks into the order in which they were measured, and numbers their pairs: each block and the
// next one, if one of them is of A and the other of B. If all are in such pairs they interleave, and can be compared
// like those of one comparison. If not, reason says why, and they have no pairs.
func PairBlocks(blocks []results.LoadBlock) (sorted []results.LoadBlock, reason string) {
	sorted = slices.Clone(blocks)
	slices.SortStableFunc(sorted, func(a, b results.LoadBlock) int { return a.Started.Compare(b.Started) })
	count := map[string]int{}
	for i := range sorted {
		sorted[i].Pair = i/2 + 1
		count[sorted[i].Side]++
	}
	switch reason = pairingProblem(sorted); {
	case min(count[A], count[B]) < MinPairs:
		reason = fmt.Sprintf("there are %d results of A and %d of B; %d of each are needed to distinguish a change from "+
			"noise",
			count[A], count[B], MinPairs)
	case count[A] != count[B]:
		reason = fmt.Sprintf("there are %d results of A and %d of B, which do not form pairs", count[A], count[B])
	case reason != "":
	default:
		return sorted, ""
	}
	for i := range sorted {
		sorted[i].Pair = 0
	}
	return sorted, reason
}

// pairingProblem says which blocks were not measured in turns, empty if all were.
func pairingProblem(sorted []results.LoadBlock) string {
	for i := 0; i+1 < len(sorted); i += 2 {
		switch first, second := sorted[i], sorted[i+1]; {
		case first.Side == second.Side:
			return fmt.Sprintf("%s and %s, both of %s, were measured in a row: drift of the machine cannot be "+
				"distinguished from a change; measure A and B in turns", first.File, second.File, first.Side)
		case first.Started.Equal(second.Started):
			return fmt.Sprintf("%s and %s began at the same time", first.File, second.File)
		}
	}
	return ""
}
