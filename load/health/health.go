// Package health watches the generator itself while it loads a target: its processor time, the machine's, steal time,
// cgroup throttling, descriptors, memory, the collector of garbage and jumps of the clock. What comes of it is the error
// bar of every result (reports.Health), and decides whether a run is a number at all (reports.Load.Judge).
//
// Linux tells all of it. Elsewhere parts are missing; they are named in reports.Health.Unknown and are 0.
package health

import (
	"runtime"
	"time"

	"github.com/fwpsuite/fwp/reports"
)

// Sampler watches the process and its machine. Call Sample about once a second, from the start of a run until its end,
// and Begin and End around the window that is measured. It reads a few small files each time (about 0.1 ms), keeps
// nothing but sums, and starts no goroutine. It is not safe for concurrent use.
type Sampler struct {
	start time.Time
	take  func() snapshot
	last  snapshot
	begun bool
	first snapshot
	sum   sums
}

// Sample is what the process and the machine were busy with since the sample before.
type Sample struct {
	Over time.Duration
	// CPU is the processor time of the process divided by Over: 1.5 is one and a half processors.
	CPU float64
	// Share is that of what the process may use: GOMAXPROCS, or the quota of its cgroup if that is less.
	Share float64
	// MachineBusy and Steal are shares of the processor time of the whole machine.
	MachineBusy float64
	Steal       float64
	// Memory is what the process has resident now, in bytes; 0 if unknown.
	Memory int64
	// Jump is how far the time of day moved away from the clock that counts, if that was 10 ms or more.
	Jump time.Duration
}

// sums is what a window came to.
type sums struct {
	cpuPeak, machinePeak float64
	memory, heap, files  int64
	gcPauseMax           time.Duration
	jumps                []reports.ClockJump
}

// NewSampler returns a sampler for a run that began at start, which must come from time.Now. It takes a first look.
func NewSampler(start time.Time) *Sampler {
	s := &Sampler{start: start, take: newReader().take}
	s.last = s.take()
	return s
}

// Sample looks again.
func (s *Sampler) Sample() Sample {
	now := s.take()
	since := between(s.last, now)
	if s.begun {
		s.sum.add(since, now, now.when.Sub(s.start))
	}
	s.last = now
	return since
}

// Begin begins the window that End tells of.
func (s *Sampler) Begin() {
	s.Sample()
	s.begun, s.first, s.sum = true, s.last, sums{}
	s.sum.hold(s.last)
}

// End ends the window and tells of it. Without Begin it tells of nothing. Loops, NoFiles, NoPorts and NoMemory are for
// whoever runs the loops and opens the connections to fill in.
func (s *Sampler) End() reports.Health {
	if !s.begun {
		return reports.Health{Unknown: s.last.unknown()}
	}
	s.Sample()
	s.begun = false
	whole := between(s.first, s.last)
	return reports.Health{
		Over:             whole.Over,
		CPUUser:          s.last.user - s.first.user,
		CPUSystem:        s.last.system - s.first.system,
		CPUShare:         whole.Share,
		CPUPeak:          max(s.sum.cpuPeak, whole.Share),
		MachineBusy:      whole.MachineBusy,
		MachinePeak:      max(s.sum.machinePeak, whole.MachineBusy),
		Steal:            whole.Steal,
		Throttled:        s.last.cgroup.throttled - s.first.cgroup.throttled,
		ThrottledPeriods: s.last.cgroup.periods - s.first.cgroup.periods,
		GCPauses:         s.last.gc.count - s.first.gc.count,
		GCPause:          s.last.gc.total - s.first.gc.total,
		GCPauseMax:       s.sum.gcPauseMax,
		MemoryPeak:       s.sum.memory,
		HeapPeak:         s.sum.heap,
		Files:            reports.Files{Peak: s.sum.files, Soft: s.last.softFiles, Hard: s.last.hardFiles},
		ClockJumps:       s.sum.jumps,
		Unknown:          s.last.unknown(),
	}
}

// The limits of what is kept.
const (
	peakOver  = 500 * time.Millisecond // a shorter sample makes no peak: it may be all one burst
	jumpFrom  = 10 * time.Millisecond  // a clock that is slewed moves by half a millisecond a second
	jumpsKept = 100
)

func (s *sums) add(since Sample, now snapshot, at time.Duration) {
	s.hold(now)
	if since.Over >= peakOver {
		s.cpuPeak = max(s.cpuPeak, since.Share)
		s.machinePeak = max(s.machinePeak, since.MachineBusy)
	}
	s.gcPauseMax = max(s.gcPauseMax, now.gc.longest)
	if since.Jump != 0 && len(s.jumps) < jumpsKept {
		s.jumps = append(s.jumps, reports.ClockJump{At: at, By: since.Jump})
	}
}

func (s *sums) hold(now snapshot) {
	s.memory = max(s.memory, now.memory)
	s.heap = max(s.heap, now.heap)
	s.files = max(s.files, now.files)
}

// snapshot is what the operating system and the runtime told at one moment. All but memory, heap, files and the limits
// only ever grow.
type snapshot struct {
	when         time.Time // with its monotonic part
	clock        time.Time // without it
	cpuKnown     bool
	user, system time.Duration
	processors   float64 // that the process may use
	machine      machineTime
	cgroup       throttling
	gc           pauses
	memory, heap int64
	files        int64
	softFiles    int64
	hardFiles    int64
}

// unknown names what the operating system did not tell.
func (s *snapshot) unknown() []string {
	var names []string
	for _, part := range []struct {
		name  string
		known bool
	}{
		{"cpu", s.cpuKnown}, {"machine", s.machine.total > 0}, {"files", s.files > 0}, {"cgroup", s.cgroup.known}, {"memory", s.memory > 0},
	} {
		if !part.known {
			names = append(names, part.name)
		}
	}
	return names
}

// between tells what happened from a to b.
func between(a, b snapshot) Sample {
	over := b.when.Sub(a.when)
	if over <= 0 {
		return Sample{Memory: b.memory}
	}
	cpu := float64(b.user+b.system-a.user-a.system) / float64(over)
	s := Sample{Over: over, CPU: cpu, Share: cpu / max(b.processors, 0.001), Memory: b.memory}
	if total := b.machine.total - a.machine.total; b.machine.total > a.machine.total {
		s.Steal = share(b.machine.steal, a.machine.steal, total)
		s.MachineBusy = max(0, 1-share(b.machine.idle, a.machine.idle, total)-s.Steal)
	}
	if jump := b.clock.Sub(a.clock) - over; jump.Abs() >= jumpFrom {
		s.Jump = jump
	}
	return s
}

// share is the part of total by which a counter grew. Counters of idle time may step back a little.
func share(now, before, total uint64) float64 {
	if now <= before {
		return 0
	}
	return min(1, float64(now-before)/float64(total))
}

// processorsFor returns how many processors a process may use: quota is that of its cgroup, 0 if there is none.
func processorsFor(quota float64) float64 {
	procs := float64(runtime.GOMAXPROCS(0))
	if quota > 0 && quota < procs {
		return quota
	}
	return procs
}
