// Package search says what load to try next, and what came of it: the rates on the way to the highest that a server
// sustains, and two loads that are compared by blocks in pairs. It runs nothing and knows nothing of loads. The
// statistics of pairs are how much greater the second one is, how sure that is, and whether it is beyond a margin that
// was declared beforehand. All of it is exact, and assumes no distribution but that the logarithms of the ratios lie
// symmetrically around their centre.
package search
