package play

import (
	"sync"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

const (
	hastyRounds = 30 * time.Second // that the repetitions of a hasty play may take, for each number of them
	leastRounds = 5
)

// rounds limits the repetitions of a hasty play: a slow server has fewer of them to deal with. Blocks with the same
// number of repetitions belong together, since one of them may fetch what another one has pushed: none plays more than
// the one before. It is safe for concurrent use.
type rounds struct {
	share map[int]time.Duration // of the first block, by number of repetitions

	mu    sync.Mutex
	limit map[int]int              // set when the first block is over, or its time
	begun map[*scenarios.Block]int // rounds; all before the last of them are played, too
}

// newRounds returns the limits for a script. Each round of a block counts by its lines.
func newRounds(s *scenarios.Script) *rounds {
	first, all := map[int]int{}, map[int]int{}
	for _, step := range s.Steps {
		b, is := step.(*scenarios.Block)
		if !is || b.Kind != scenarios.Repeat {
			continue
		}
		cost := b.Count * len(b.Steps) / max(b.By, 1)
		if all[b.Count] == 0 {
			first[b.Count] = cost
		}
		all[b.Count] += cost
	}
	r := &rounds{share: map[int]time.Duration{}, limit: map[int]int{}, begun: map[*scenarios.Block]int{}}
	for count, cost := range all {
		r.share[count] = hastyRounds * time.Duration(first[count]) / time.Duration(max(cost, 1))
	}
	return r
}

// more reports whether a round of a block that began at a moment is to be played.
func (r *rounds) more(b *scenarios.Block, round int, began time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	limit, known := r.limit[b.Count]
	share := hastyRounds
	if !known {
		share = r.share[b.Count]
	}
	if round >= leastRounds && time.Since(began) > share && (!known || round < limit) {
		limit, known = max(round, r.begun[b]), true
		r.limit[b.Count] = limit
	}
	if round >= b.Count || known && round >= limit {
		return false
	}
	r.begun[b] = max(r.begun[b], round+1)
	return true
}

// over records that a block has been played.
func (r *rounds) over(b *scenarios.Block) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.begun, b)
	if _, known := r.limit[b.Count]; !known {
		r.limit[b.Count] = b.Count
	}
}
