//go:build !linux

package validity

import "github.com/fwpsuite/fwp/load/results"

// system provides nothing on this operating system.
type system struct{}

func newSystem() system { return system{} }

func (system) read(*snapshot) {}

func describe(*results.Machine) {}

// Tree returns what a process of this machine and all that it has started use. Only Linux provides it.
func Tree(int) (Usage, bool) { return Usage{}, false }

// TreeByShares is Tree, but what several processes have in common counts once.
func TreeByShares(int) (Usage, bool) { return Usage{}, false }
