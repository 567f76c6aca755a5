package validity

import (
	"syscall"
	"time"
)

// processTimes returns the CPU time of this process.
func processTimes() (user, system time.Duration, ok bool) {
	var created, exited, inKernel, inUser syscall.Filetime
	process, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0, 0, false
	}
	if syscall.GetProcessTimes(process, &created, &exited, &inKernel, &inUser) != nil {
		return 0, 0, false
	}
	return ticks(inUser), ticks(inKernel), true
}

// ticks converts a length of time in units of 100 ns.
func ticks(f syscall.Filetime) time.Duration {
	return time.Duration(uint64(f.HighDateTime)<<32|uint64(f.LowDateTime)) * 100
}
