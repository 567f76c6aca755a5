package explore

import (
	"context"
	"fmt"
	"time"
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

// watch looks whether the memory of the server grows, and makes it a finding.
func (x *exploration) watch(ctx context.Context) {
	if x.Memory == nil || x.play.dead || ctx.Err() != nil || len(x.result.Findings) >= x.enough() {
		return
	}
	begin := time.Now()
	defer func() { x.spent += time.Since(begin) }()
	limited, cancel := context.WithTimeout(ctx, memoryLasts)
	defer cancel()
	s := &scale{memory: x.Memory, play: x.play}
	for _, d := range append(diets(), rightDiet()) {
		s.levels(limited, d, memoryWarmUp)
	}
	control := s.levels(limited, rightDiet(), memoryRounds)
	for _, d := range diets() {
		fed := s.levels(limited, d, memoryRounds/2)
		if rise(fed) < risesAtLeast {
			continue
		}
		fed = append(fed, s.levels(limited, d, memoryRounds/2)...)
		if s.failed || limited.Err() != nil || !growth(fed, control) {
			continue
		}
		if again := s.afterPause(ctx, d); stillGrows(fed, again) {
			x.fat(d, fed, again)
		}
		return // it takes too long for another one
	}
}

// scale plays rounds and weighs the server.
type scale struct {
	memory func() (int64, error)
	play   *play
	failed bool // the server, or the process, could not be reached
}

// levels plays rounds of one kind of input, and gives the memory after each.
func (s *scale) levels(ctx context.Context, d diet, rounds int) []int64 {
	var all []int64
	for range rounds {
		if s.failed = s.failed || d.feed(ctx, s.play) != nil || !sleep(ctx, memorySettling); s.failed {
			return nil
		}
		level, err := s.memory()
		if s.failed = err != nil; s.failed {
			return nil
		}
		all = append(all, level)
	}
	return all
}

// afterPause plays some more rounds when what is kept for a while is gone.
func (s *scale) afterPause(ctx context.Context, d diet) []int64 {
	if !sleep(ctx, memoryPause) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, memoryLasts)
	defer cancel()
	return s.levels(ctx, d, memoryAgain)
}

// fat makes growth a finding. No clause forbids it.
func (x *exploration) fat(d diet, fed, again []int64) {
	x.number++
	f := Finding{
		Number: x.number, Rule: RuleMemory, Commands: x.play.commands, Shown: 1, Tried: 1,
		Expected: fmt.Sprintf("memory that does not grow for good with %s", d.name),
		Got: fmt.Sprintf("from %d to %d MiB in %d rounds, and %d MiB after a pause of %s and %d more",
			fed[0]>>20, fed[len(fed)-1]>>20, len(fed), again[len(again)-1]>>20, memoryPause, len(again)),
		What: "the process grew all the time, and not with the input of a right client; " +
			"no line of the script fails: watch the process while it is played",
		Whole:  Trace{Steps: d.once, To: len(d.once), N: d.n * memoryRounds},
		Script: d.script(),
	}
	if x.Found != nil {
		x.Found(f)
	}
	x.result.Findings = append(x.result.Findings, f)
}
