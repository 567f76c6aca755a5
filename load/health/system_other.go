//go:build !linux

package health

import (
	"errors"

	"github.com/fwpsuite/fwp/load/results"
)

// system provides nothing on this operating system.
type system struct{}

func newSystem() system { return system{} }

func (system) read(*snapshot) {}

func describe(*results.Machine) {}

// Resident returns the resident memory of a process of this machine, in bytes. Only Linux provides it.
func Resident(int) (int64, error) {
	return 0, errors.New("the memory of another process can be read on Linux only")
}

// Tree returns what a process of this machine and all that it has started use. Only Linux provides it.
func Tree(int) (Usage, bool) { return Usage{}, false }
