package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fwpsuite/fwp/load/engine"
)

// ticker is a timer: woken at a fixed rate, it writes down how late that is.
type ticker struct {
	engine.Link
	every, next time.Duration
	lateness    []time.Duration
	done        chan struct{}
}

func (s *ticker) Step(now time.Duration, _ engine.Event, out []byte) ([]byte, engine.Next) {
	if s.next == 0 {
		s.next = now
	}
	for s.next <= now {
		if len(s.lateness) == cap(s.lateness) {
			close(s.done)
			return out, engine.Next{Close: true}
		}
		s.lateness = append(s.lateness, now-s.next)
		s.next += s.every
	}
	return out, engine.Next{Wake: s.next}
}

// tick wakes a session as many times as asked for, 5,000 times a second, and returns the median and
// the 99th percentile of the lateness.
func tick(e engine.Engine, ticks int) (p50, p99 time.Duration) {
	s := &ticker{every: time.Second / ticksPerSecond, lateness: make([]time.Duration, 0, ticks), done: make(chan struct{})}
	e.Do(0, func(time.Duration) { e.Loops()[0].Poke(s) })
	<-s.done
	slices.Sort(s.lateness)
	return s.lateness[len(s.lateness)/2], s.lateness[len(s.lateness)*99/100]
}

const ticksPerSecond = 5000

// BenchmarkLateness tells how late a session is woken, in a process that has nothing else
// to do, by each way of sleeping, and what share of a processor each takes.
func BenchmarkLateness(b *testing.B) {
	ways := map[string]order{"portable": {}, "coarse": {CoarseTimers: true}}
	if _, ok := builders(b)["epoll"]; ok {
		ways["epoll"] = order{Epoll: true}
	}
	for name, way := range ways {
		b.Run(name, func(b *testing.B) {
			figures := figures{}
			way.Ticks = 2 * ticksPerSecond
			for b.Loop() {
				cpu, m := generator(b, way)
				figures.add("us-late-p50", float64(m.LatenessP50)/1e3)
				figures.add("us-late-p99", float64(m.LatenessP99)/1e3)
				figures.add("%-cpu", cpu.Seconds()/m.Elapsed.Seconds()*100)
			}
			figures.report(b)
		})
	}
}
