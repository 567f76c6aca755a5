package validity

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// snapshot holds the counters of the operating system and the runtime at one moment. All but memory, heap, files and
// the limits only grow.
type snapshot struct {
	instant      time.Time // with its monotonic part
	clock        time.Time // without it
	isCPUKnown   bool
	user, system time.Duration
	processors   float64 // that the process may use
	machine      machineTime
	cgroup       throttling
	pressure     time.Duration // for which a process waited for a CPU
	gc           pauses
	memory, heap int64
	files        int64
	softFiles    int64
	hardFiles    int64
}

// reader takes snapshots.
type reader struct {
	system     system // what only this operating system provides
	collected  debug.GCStats
	processors int
}

func (r *reader) take() snapshot {
	now := time.Now()
	s := snapshot{instant: now, clock: now.Round(0), processors: float64(r.processors)}
	s.user, s.system, s.isCPUKnown = processTimes()
	s.gc, s.heap = r.pauses(), heapObjects()
	s.softFiles, s.hardFiles = fileLimits()
	r.system.read(&s)
	return s
}

// unknown names what the operating system does not provide.
func (s *snapshot) unknown() []string {
	var names []string
	for _, part := range []struct {
		name    string
		isKnown bool
	}{
		{"cpu", s.isCPUKnown}, {"machine", s.machine.total > 0}, {"files", s.files > 0},
		{"cgroup", s.cgroup.isKnown}, {"memory", s.memory > 0},
	} {
		if !part.isKnown {
			names = append(names, part.name)
		}
	}
	return names
}

// difference returns what was used from a to b.
func difference(a, b snapshot) Sample {
	length := b.instant.Sub(a.instant)
	if length <= 0 {
		return Sample{Memory: b.memory}
	}
	cpu := float64(b.user+b.system-a.user-a.system) / float64(length)
	s := Sample{Length: length, CPU: cpu, Share: cpu / max(b.processors, 0.001), Memory: b.memory}
	if total := b.machine.total - a.machine.total; b.machine.total > a.machine.total {
		s.Steal = share(b.machine.steal, a.machine.steal, total)
		s.MachineBusy = max(0, 1-share(b.machine.idle, a.machine.idle, total)-s.Steal)
	}
	if jump := b.clock.Sub(a.clock) - length; jump.Abs() >= jumpFrom {
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

// pauses are those of the garbage collector since the process began; longest is the longest since the read before.
type pauses struct {
	count   int64
	total   time.Duration
	longest time.Duration
}

// pauses reads the runtime's statistics of memory. It does not stop the world.
func (r *reader) pauses() pauses {
	stats := &r.collected
	before := stats.NumGC
	debug.ReadGCStats(stats)
	p := pauses{count: stats.NumGC, total: stats.PauseTotal}
	fresh := min(stats.NumGC-before, int64(len(stats.Pause))) // the most recent first
	for _, pause := range stats.Pause[:fresh] {
		p.longest = max(p.longest, pause)
	}
	return p
}

// heapObjects returns the bytes of the objects on the heap. It does not stop the world.
func heapObjects() int64 {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	if heap[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(heap[0].Value.Uint64())
}
