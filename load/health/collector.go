package health

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// pauses is what the collector of garbage did since the process began; longest is the longest pause since the look
// before.
type pauses struct {
	count   int64
	total   time.Duration
	longest time.Duration
}

// collector reads what the runtime tells about memory. It does not stop the world.
type collector struct {
	stats debug.GCStats
	heap  [1]metrics.Sample
}

func newCollector() *collector {
	c := &collector{}
	c.heap[0].Name = "/memory/classes/heap/objects:bytes"
	return c
}

// read returns the pauses, and the bytes of the objects on the heap.
func (c *collector) read() (p pauses, heap int64) {
	before := c.stats.NumGC
	debug.ReadGCStats(&c.stats)
	p = pauses{count: c.stats.NumGC, total: c.stats.PauseTotal}
	fresh := min(c.stats.NumGC-before, int64(len(c.stats.Pause))) // the most recent first
	for _, pause := range c.stats.Pause[:fresh] {
		p.longest = max(p.longest, pause)
	}
	metrics.Read(c.heap[:])
	if c.heap[0].Value.Kind() == metrics.KindUint64 {
		heap = int64(c.heap[0].Value.Uint64())
	}
	return p, heap
}
