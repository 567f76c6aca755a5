// Package compare compares two loads by blocks that are measured in pairs: it says in which order, which blocks belong
// together, and what their ratios come to. It runs nothing; the statistics are those of load/paired.
//
// Files, in the order in which they can be read: compare.go (the order of blocks), pairs.go (saved blocks), judge.go
// (the ratios).
package compare

import "math/rand/v2"

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

// Plan returns the blocks of so many pairs in their order: one of each side that is discarded, because the first run
// meets caches, clocks and pages that no other does, and then the pairs. Which side of a pair comes first is random,
// because the first of two may have an advantage.
func Plan(pairs int, seed uint64) []Block {
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
