package validity

import (
	"runtime"
	"time"

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

// Sampler watches the process and its machine. Call Sample about once a second, from the start of a run until its end,
// and Begin and End around the window that is measured; between them it has a goroutine that looks whether the process
// stands still. It reads a few small files each time (about 0.1 ms), and keeps only sums. It is not safe for concurrent
// use.
type Sampler struct {
	start       time.Time
	take        func() snapshot
	last        snapshot
	isMeasuring bool
	first       snapshot
	maxima      maxima
	stillness   *stillness
}

// Sample is what the process and the machine used since the sample before.
type Sample struct {
	Length time.Duration
	// CPU is the CPU time of the process divided by Length: 1.5 is one and a half CPUs.
	CPU float64
	// Share is CPU divided by what the process may use: its processors, or the quota of its cgroup if that is less.
	Share float64
	// MachineBusy and Steal are shares of the CPU time of the whole machine.
	MachineBusy float64
	Steal       float64
	// Memory is the resident memory of the process now, in bytes; 0 if unknown.
	Memory int64
	// Jump is how far the time of day moved against the monotonic clock, if by 10 ms or more.
	Jump time.Duration
}

// maxima are the maxima of a window.
type maxima struct {
	cpuPeak, machinePeak float64
	memory, heap, files  int64
	gcPauseMax           time.Duration
	jumps                []results.ClockJump
}

// NewSampler returns a sampler for a run that began at start, which must come from time.Now, and that is to use so many
// processors.
func NewSampler(start time.Time, processors int) *Sampler {
	r := &reader{system: newSystem(), processors: processors}
	s := &Sampler{start: start, stillness: newStillness(start), take: r.take}
	s.last = s.take()
	return s
}

// Sample returns what was used since the sample before.
func (s *Sampler) Sample() Sample {
	now := s.take()
	since := difference(s.last, now)
	if s.isMeasuring {
		s.maxima.add(since, now, now.instant.Sub(s.start))
	}
	s.last = now
	return since
}

// Begin begins the window.
func (s *Sampler) Begin() {
	s.Sample()
	s.isMeasuring, s.first, s.maxima = true, s.last, maxima{}
	s.maxima.update(s.last)
	s.stillness.begin()
}

// End ends the window and returns what was used in it: Health but for Loops, connections and ServerCPU. Without Begin
// only Unknown is set.
func (s *Sampler) End() results.Health {
	if !s.isMeasuring {
		return results.Health{Unknown: s.last.unknown()}
	}
	holes := s.stillness.end()
	s.Sample()
	s.isMeasuring = false
	total := difference(s.first, s.last)
	return results.Health{
		Length:           total.Length,
		CPUUser:          s.last.user - s.first.user,
		CPUSystem:        s.last.system - s.first.system,
		CPUShare:         total.Share,
		CPUPeak:          max(s.maxima.cpuPeak, total.Share),
		MachineBusy:      total.MachineBusy,
		MachinePeak:      max(s.maxima.machinePeak, total.MachineBusy),
		Steal:            total.Steal,
		Pressure:         min(1, float64(s.last.pressure-s.first.pressure)/float64(max(1, total.Length))),
		Throttled:        s.last.cgroup.throttled - s.first.cgroup.throttled,
		ThrottledPeriods: s.last.cgroup.periods - s.first.cgroup.periods,
		GCPauses:         s.last.gc.count - s.first.gc.count,
		GCPause:          s.last.gc.total - s.first.gc.total,
		GCPauseMax:       s.maxima.gcPauseMax,
		MemoryPeak:       s.maxima.memory,
		HeapPeak:         s.maxima.heap,
		Files:            results.Files{Peak: s.maxima.files, Soft: s.last.softFiles, Hard: s.last.hardFiles},
		Holes:            holes,
		ClockJumps:       s.maxima.jumps,
		Unknown:          s.last.unknown(),
	}
}

// The limits of what is recorded.
const (
	peakOver = 500 * time.Millisecond // shorter samples do not count for peaks: they may be one burst
	jumpFrom = 10 * time.Millisecond  // a clock that is slewed moves by half a millisecond a second
	maxJumps = 100
)

func (s *maxima) add(since Sample, now snapshot, at time.Duration) {
	s.update(now)
	if since.Length >= peakOver {
		s.cpuPeak = max(s.cpuPeak, since.Share)
		s.machinePeak = max(s.machinePeak, since.MachineBusy)
	}
	s.gcPauseMax = max(s.gcPauseMax, now.gc.longest)
	if since.Jump != 0 && len(s.jumps) < maxJumps {
		s.jumps = append(s.jumps, results.ClockJump{At: at, By: since.Jump})
	}
}

func (s *maxima) update(now snapshot) {
	s.memory = max(s.memory, now.memory)
	s.heap = max(s.heap, now.heap)
	s.files = max(s.files, now.files)
}
