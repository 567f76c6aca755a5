package explore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/wait"
	"github.com/fwpsuite/fwp/scenarios"
)

// Memory that grows without bound. The same input, which leaves nothing behind on a right
// server, is played round by round, and the memory of the server's process is read after
// each. Right servers grow too: their heaps double, wait for a collector, and are never
// given back; so growth counts only if nothing but keeping explains it. See [growth] for
// the rule.
const (
	memoryWarmUp   = 4                // rounds of everything that do not count
	memoryRounds   = 24               // of one kind of input
	memoryAgain    = 12               // rounds after the pause
	memoryPause    = 65 * time.Second // after which whatever may be kept for a minute is gone
	memorySettling = 10 * time.Millisecond
	memoryLasts    = time.Minute // at most, without the pause; what takes longer is not judged
)

// MemoryTime is how long looking at the memory of the server's process takes at most.
const MemoryTime = memoryLasts + memoryPause + memoryLasts

// watch looks whether the memory of the server grows, and makes it a finding.
func (x *exploration) watch(ctx context.Context) {
	over := x.play.dead || ctx.Err() != nil || x.clear() >= x.enough()
	if over || x.Memory == nil || len(x.Subject.Leaks) == 0 {
		return
	}
	x.progress(Measuring)
	limited, cancel := context.WithTimeout(ctx, memoryLasts)
	defer cancel()
	r := &rss{memory: x.Memory, play: newPlay(x.config, freshPrefix())}
	defer r.play.close()
	control, leaks := x.Subject.Leaks[0], x.Subject.Leaks[1:]
	for _, l := range append(leaks, control) {
		r.levels(limited, l, memoryWarmUp)
	}
	before := r.levels(limited, control, memoryRounds)
	for _, l := range leaks {
		levels := r.levels(limited, l, memoryRounds/2)
		if rise(levels) < risesAtLeast {
			continue
		}
		levels = append(levels, r.levels(limited, l, memoryRounds/2)...)
		if r.failed || limited.Err() != nil || !growth(levels, before) {
			continue
		}
		if again := r.afterPause(ctx, l); stillGrows(levels, again) {
			x.leak(l, levels, again)
		}
		return // it takes too long for another one
	}
}

// rss plays rounds of an input and reads the memory of the server's process.
type rss struct {
	memory func() (int64, error)
	play   *playing
	failed bool // the server, or the process, could not be reached
}

// levels plays rounds of one kind of input, and returns the memory after each.
func (r *rss) levels(ctx context.Context, l Leak, rounds int) []int64 {
	var all []int64
	for range rounds {
		if r.failed = r.failed || !r.round(ctx, l) || !wait.Sleep(ctx, memorySettling); r.failed {
			return nil
		}
		level, err := r.memory()
		if r.failed = err != nil; r.failed {
			return nil
		}
		all = append(all, level)
	}
	return all
}

// round plays a round, and reports whether the server serves.
func (r *rss) round(ctx context.Context, l Leak) bool {
	for _, i := range l.Trace.played() {
		r.play.do(ctx, &l.Trace.Steps[i])
		if r.play.found, r.play.seen = nil, nil; r.play.dead || ctx.Err() != nil {
			return false
		}
	}
	return true
}

// afterPause plays some more rounds when what is kept for a while is gone.
func (r *rss) afterPause(ctx context.Context, l Leak) []int64 {
	if !wait.Sleep(ctx, memoryPause) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, memoryLasts)
	defer cancel()
	return r.levels(ctx, l, memoryAgain)
}

// leak makes growth a finding. No clause forbids it.
func (x *exploration) leak(l Leak, levels, again []int64) {
	whole := l.Trace
	whole.N *= memoryRounds
	x.number++
	f := Finding{
		Number: x.number, Rule: RuleMemory, Commands: x.play.commands, Shown: 1, Tried: 1,
		Expected: fmt.Sprintf("memory that does not grow for good with %s", l.Name),
		Got: fmt.Sprintf("from %d to %d MiB in %d rounds, and %d MiB after a pause of %s and %d more",
			levels[0]>>20, levels[len(levels)-1]>>20, len(levels), again[len(again)-1]>>20, memoryPause, len(again)),
		What: "the process grew all the time, and not with the input of a right client; " +
			"no line of the script fails: watch the process while it is played",
		Whole:  whole,
		Script: watchScript(x.config.subject, "memory grows with "+l.Name, whole),
	}
	if x.Found != nil {
		x.Found(f)
	}
	x.result.Findings = append(x.result.Findings, f)
}

// watchScript writes a conversation as a script of which no line can fail: the server's
// memory has to be watched while it is played.
func watchScript(s *Subject, title string, t Trace) string {
	w := newWriter(s, Trace{Steps: t.Steps})
	w.r.hit.step = -1
	w.Script.Title = title
	for i := range t.Steps {
		if i == t.From {
			w.Begin(&scenarios.Block{Kind: scenarios.Repeat, Count: t.N})
		}
		w.step(i, &t.Steps[i])
		if i == t.To-1 {
			w.End()
		}
	}
	return w.text()
}

// RuleMemory is the Rule of a finding about memory that grows; it has no clause.
const RuleMemory = "memory"

// What makes growth a finding. Levels are looked at as the means of quarters of the
// rounds: a single level depends on when a collector ran last.
const (
	quarters     = 4
	risesAtLeast = 1 << 20  // from each quarter to the next
	growsAtLeast = 12 << 20 // from the first quarter to the last
	steadiness   = 2        // from the second to the last by at least such a part of that from the first to the third
	controlShare = 4        // a right client's input has it grow by at most one such part of it
	stillShare   = 8        // after the pause it rises above all levels before by at least such a part
)

// growth reports whether the level of memory rose with some input as it does only where
// that is kept: from quarter to quarter by something, from first to last by a lot, to the
// end as much as in the beginning, and not with the input of a right client before.
//
//   - A heap that waits for its collector falls now and then, so that quarters are alike,
//     or rises with the right client too.
//   - A heap that is doubled, or a cache that is filled, rises once and is flat then.
//   - What is kept for reuse (buffers, threads, pages) rises less and less.
//
// Steps do not hide a leak: where what is kept first fills what a collector has freed,
// the means of the quarters still rise.
func growth(fed, control []int64) bool {
	if len(fed) < quarters {
		return false
	}
	q := means(fed)
	for i := range quarters - 1 {
		if q[i+1]-q[i] < risesAtLeast {
			return false
		}
	}
	total := q[3] - q[0]
	return total >= growsAtLeast && (q[3]-q[1])*steadiness >= q[2]-q[0] && rise(control)*controlShare <= total
}

// stillGrows reports whether memory goes on to rise after a pause. What was kept for a
// while only is free by then, and more input finds room in it.
func stillGrows(fed, again []int64) bool {
	if len(fed) < quarters || len(again) < quarters {
		return false
	}
	return means(again)[3]-slices.Max(fed) >= rise(fed)/stillShare
}

// rise is by how much the mean of the last quarter is above that of the first.
func rise(levels []int64) int64 {
	if len(levels) < quarters {
		return 0
	}
	q := means(levels)
	return max(0, q[3]-q[0])
}

// means are those of the quarters.
func means(levels []int64) (q [quarters]int64) {
	n := len(levels) / quarters
	for i := range q {
		for _, level := range levels[i*n : (i+1)*n] {
			q[i] += level / int64(n)
		}
	}
	return q
}
