// Package moves is FWP as package conformance/explore explores it: a maker makes up steps and their values,
// protocols/fwp/law judges the replies by rules.txt, and guards keep all of that from touching what belongs to other
// clients. It also has what makes a finding plain, what makes replies of two servers comparable, and what removes the
// rest.
package moves
