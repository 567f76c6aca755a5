//go:build !unix

package health

import (
	"time"

	"github.com/fwpsuite/fwp/reports"
)

// reader takes snapshots.
type reader struct{ collector *collector }

func newReader() *reader { return &reader{collector: newCollector()} }

func (r *reader) take() snapshot {
	now := time.Now()
	s := snapshot{when: now, clock: now.Round(0), processors: processorsFor(0)}
	s.user, s.system, s.cpuKnown = processTimes()
	s.gc, s.heap = r.collector.read()
	return s
}

// describe fills in what only this operating system tells.
func describe(*reports.Machine) {}
