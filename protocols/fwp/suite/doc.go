// Package suite is the Faktory Work Protocol as a protocol of the suite: its catalogue of clauses, what some
// servers add, what a pass of each clause takes, which clause a breach breaks, how its servers are recognized, and the
// check that explores.
package suite
