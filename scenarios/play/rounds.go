package play

import (
	"cmp"
	"math"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

const (
	quickRounds = 30 * time.Second // that the repetitions of a quick play may take, all together
	minRounds   = 5
)

// rounds limits the repetitions of blocks that have a limit, in a quick play of all: a slow server has fewer of them to
// deal with. Since one block may fetch what another one has pushed, all play the same part of their rounds as the first
// one with a limit had time for. It is safe for concurrent use.
type rounds struct {
	share map[*scenarios.Block]time.Duration // of the blocks with a limit

	mu           sync.Mutex
	count, total int                      // the part: so many rounds of so many
	isFixed      bool                     // the first block with a limit is over, or its time
	starts       map[*scenarios.Block]int // rounds; all before the last of them are played, too
}

// newRounds returns the limits for a script. Each round of a block counts by its lines.
func newRounds(s *scenarios.Script, quick bool) *rounds {
	r := &rounds{share: map[*scenarios.Block]time.Duration{}, count: 1, total: 1, starts: map[*scenarios.Block]int{}}
	all := 0
	cost := func(b *scenarios.Block) int { return b.Count * len(b.Steps) / max(b.By, 1) }
	for _, step := range s.Steps {
		if b, ok := step.(*scenarios.Block); ok && b.Kind == scenarios.Repeat && (quick || b.Limit > 0) {
			r.share[b] = cmp.Or(b.Limit, math.MaxInt64)
			all += cost(b)
		}
	}
	if quick {
		for b, limit := range r.share {
			r.share[b] = min(limit, quickRounds*time.Duration(cost(b))/time.Duration(max(all, 1)))
		}
	}
	return r
}

// hasNext reports whether a round of a block that began at a moment is to be played.
func (r *rounds) hasNext(b *scenarios.Block, round int, began time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	limit := max(b.Count*r.count/r.total, min(b.Count, minRounds))
	share, limited := r.share[b]
	if limited && !r.isFixed && round >= minRounds && round < limit && time.Since(began) > share {
		limit = max(round, r.starts[b])
		r.count, r.total, r.isFixed = limit, b.Count, true
	}
	if round >= limit {
		return false
	}
	r.starts[b] = max(r.starts[b], round+1)
	return true
}

// end records that a block has been played.
func (r *rounds) end(b *scenarios.Block) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.starts, b)
	if _, limited := r.share[b]; limited {
		r.isFixed = true
	}
}
