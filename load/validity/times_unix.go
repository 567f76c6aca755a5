//go:build unix

package validity

import (
	"syscall"
	"time"
)

// processTimes returns the CPU time of this process.
func processTimes() (user, system time.Duration, ok bool) {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0, 0, false
	}
	return time.Duration(usage.Utime.Nano()), time.Duration(usage.Stime.Nano()), true
}
