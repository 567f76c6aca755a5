// Package disrupt is what is done to a target on purpose while a load goes on: which disruptions there are, the
// schedule of a run, from a file or drawn from a seed, doing them one after the other, and how soon the target has
// recovered. It knows no server: a [Target] does what a disruption says.
package disrupt
