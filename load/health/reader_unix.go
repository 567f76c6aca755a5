//go:build unix && !linux

package health

import (
	"syscall"
	"time"

	"github.com/fwpsuite/fwp/reports"
)

// reader takes snapshots.
type reader struct{ collector *collector }

func newReader() *reader { return &reader{collector: newCollector()} }

func (r *reader) take() snapshot {
	now := time.Now()
	s := snapshot{when: now, clock: now.Round(0), processors: processorsFor(0)}
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) == nil {
		s.cpuKnown = true
		s.user, s.system = time.Duration(usage.Utime.Nano()), time.Duration(usage.Stime.Nano())
	}
	s.gc, s.heap = r.collector.read()
	s.softFiles, s.hardFiles = fileLimits()
	return s
}

// describe fills in what only this operating system tells.
func describe(*reports.Machine) {}
