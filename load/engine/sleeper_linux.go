package engine

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// preciseSleeper sleeps by a timer of the kernel, which the runtime awaits together with
// the connections. Package time would do so too, but asks the kernel for whole
// milliseconds; and a thread that sleeps in a system call would hold, for as much as ten
// milliseconds, one of the few processors that the runtime gives to goroutines.
type preciseSleeper struct {
	fd     int
	file   *os.File // of fd, for waiting
	start  int64    // on the kernel's clock, in nanoseconds
	expiry [8]byte  // how often the timer has expired; not used
}

// newPreciseSleeper returns nil if the kernel has no timer for it.
func newPreciseSleeper(start time.Time) sleeper {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return nil
	}
	since := time.Since(start) // of the same clock
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil
	}
	return &preciseSleeper{fd: fd, file: os.NewFile(uintptr(fd), "timer"), start: now.Nano() - int64(since)}
}

func (s *preciseSleeper) set(at time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(s.start + int64(at))}
	_ = unix.TimerfdSettime(s.fd, unix.TFD_TIMER_ABSTIME, &spec, nil) // fails only for a wrong argument
}

func (s *preciseSleeper) wait() bool {
	_, err := s.file.Read(s.expiry[:])
	return err == nil
}

func (s *preciseSleeper) close() { _ = s.file.Close() }
