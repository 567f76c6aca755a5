//go:build linux || darwin

package validity

import (
	"math"
	"syscall"
)

// fileLimits returns the limits of open files.
func fileLimits() (soft, hard int64) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0, 0
	}
	return toInt64(limit.Cur), toInt64(limit.Max)
}

// toInt64 returns n as an int64, at most the greatest one.
func toInt64(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

func setFileLimits(soft, hard int64) error {
	limit := syscall.Rlimit{Cur: uint64(soft), Max: uint64(hard)}
	if hard == math.MaxInt64 { // capped: the limit itself may be greater
		var now syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now); err != nil {
			return err
		}
		limit.Max = now.Max
	}
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}
