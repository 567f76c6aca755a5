// Package arrivals computes when the operations of an open loop are due. A [Plan] is a
// pure function of its fields: the instant of arrival k is computed from k, without
// the arrivals before it, so that each loop computes its own share and all shares
// together are the plan.
//
// Even plans put arrival k where the integral of the rate reaches k. Poisson plans
// map a Poisson process of rate one through the same integral; the process is drawn
// block by block from a counter-based generator (the seed and the block's number).
// Recorded plans have the instants of their arrivals.
//
// The arithmetic uses only operations that IEEE 754 rounds exactly, and no fused
// ones, so that every machine computes the same nanoseconds.
//
// Files: plan.go, stage.go, poisson.go and mix.go (its random numbers), cursor.go (a share of a plan, in order).
package arrivals
