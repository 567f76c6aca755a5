package machine

import (
	"time"

	"golang.org/x/sys/unix"
)

// Asleep is for how long this machine has slept since it was started: its time with and without that. A delay between
// the two looks makes it less, never more.
func Asleep() time.Duration { return clock(unix.CLOCK_BOOTTIME) - clock(unix.CLOCK_MONOTONIC) }

// clock returns what a clock of the kernel shows.
func clock(id int32) time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(id, &t) != nil {
		return 0 // every kernel since 2.6.39 has both
	}
	return time.Duration(t.Nano())
}
