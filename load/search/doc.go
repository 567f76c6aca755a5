// Package search says what load to try next, and what came of it: the rates on the way to the highest that a server
// sustains (capacity.go), and two loads that are compared by blocks in pairs: in which order they are measured, which
// blocks belong together (compare.go), and what their ratios come to (judge.go). It runs nothing.
//
// The statistics of pairs (paired.go, rank.go) are how much greater the second one is, how sure that is, and whether it
// is beyond a margin that was declared beforehand. All of it is exact, assumes no distribution but that the logarithms
// of the ratios lie symmetrically around their centre, and knows nothing of loads.
package search
