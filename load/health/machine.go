package health

import (
	"runtime"

	"github.com/fwpsuite/fwp/load/results"
)

// ThisMachine returns the machine of this process.
func ThisMachine() results.Machine {
	m := results.Machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0),
		Go: runtime.Version(),
	}
	describe(&m)
	return m
}
