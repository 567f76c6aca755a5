// Command proof plays everything that the project has to prove itself with, and says what a change misses, or what two
// states of the project have found and cost. It is for contributors; docs/proofs.md says how to use it.
package main
