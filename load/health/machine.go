package health

import (
	"runtime"

	"github.com/fwpsuite/fwp/reports"
)

// Machine says what this process runs on.
func Machine() reports.Machine {
	m := reports.Machine{
		OS:         runtime.GOOS,
		Arch:       runtime.GOARCH,
		Cores:      runtime.NumCPU(),
		GOMAXPROCS: runtime.GOMAXPROCS(0),
		Go:         runtime.Version(),
	}
	describe(&m)
	return m
}
