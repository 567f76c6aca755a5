package health

import (
	"errors"
	"syscall"

	"github.com/fwpsuite/fwp/reports"
)

// Shortage is what this machine lacks for one more connection.
type Shortage uint8

const (
	// NoShortage: the reason is another, most likely the target.
	NoShortage Shortage = iota
	// NoFiles: this process, or the machine, has no descriptor left.
	NoFiles
	// NoPorts: there is no local port left for this target.
	NoPorts
	// NoMemory: the kernel has no memory left for sockets.
	NoMemory
)

// What Windows calls the same; other systems do not have numbers that high.
const (
	wsaManyFiles   = syscall.Errno(10024)
	wsaInUse       = syscall.Errno(10048) // connect says so when no local port is left
	wsaUnavailable = syscall.Errno(10049)
	wsaNoBuffers   = syscall.Errno(10055)
)

// ShortageOf says which shortage made a connection fail with err.
func ShortageOf(err error) Shortage {
	is := func(numbers ...syscall.Errno) bool {
		for _, number := range numbers {
			if errors.Is(err, number) {
				return true
			}
		}
		return false
	}
	switch {
	case is(syscall.EMFILE, syscall.ENFILE, wsaManyFiles):
		return NoFiles
	case is(syscall.EADDRNOTAVAIL, wsaInUse, wsaUnavailable):
		return NoPorts
	case is(syscall.ENOBUFS, syscall.ENOMEM, wsaNoBuffers):
		return NoMemory
	default:
		return NoShortage
	}
}

// Count adds one connection that failed for want of s to h.
func (s Shortage) Count(h *reports.Health) {
	switch s {
	case NoFiles:
		h.NoFiles++
	case NoPorts:
		h.NoPorts++
	case NoMemory:
		h.NoMemory++
	}
}
