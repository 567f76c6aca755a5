// Package registry has one value and one file for each protocol that the programs test: its suite, how it is explored
// and loaded, its embedded server with faults and variations, and what does not work with it, with the reasons. The
// command lines, internal/proof/selftest and internal/proof/suitetest loop over All or ask such a value, and know no
// protocol by name.
//
// Files: registry.go (the list), peer.go (what a protocol is), start.go (how its embedded server is started),
// fault.go (faults and variations whatever the protocol), double.go (test doubles), client.go (the worker and the
// producer of the suite), refusal.go (what does not work with it); fwp.go with fwp_client.go, workq.go and emqp.go.
package registry
